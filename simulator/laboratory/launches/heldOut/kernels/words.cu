// Strings, bits, integers.
#define AT int i = blockIdx.x * blockDim.x + threadIdx.x
#define FULL 0xffffffffu
__constant__ unsigned char pattern[16];
// Where a pattern stands in a text: each thread compares from its place.
extern "C" __global__ void find_pattern(const unsigned char* text, unsigned* count, int n, int length) {
  AT;
  bool found = i + length <= n;
  for (int k = 0; found && k < length; k++) found = text[i + k] == pattern[k];
  unsigned votes = __ballot_sync(FULL, found);
  if ((threadIdx.x & 31) == 0 && votes) atomicAdd(count, __popc(votes));
}
// Starts of words, sixteen bytes a thread, the byte before from the neighbour.
extern "C" __global__ void count_words(const uint4* text, unsigned* count, int n16) {
  unsigned sum = 0;
  for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n16; j += gridDim.x * blockDim.x) {
    uint4 v = text[j];
    unsigned w[4] = {v.x, v.y, v.z, v.w}, before = __shfl_up_sync(__activemask(), v.w >> 24, 1);
    bool space = (threadIdx.x & 31) == 0 || before <= 32;
#pragma unroll
    for (int k = 0; k < 16; k++) {
      unsigned b = (w[k >> 2] >> ((k & 3) * 8)) & 255;
      if (b > 32 && space) sum++;
      space = b <= 32;
    }
  }
  sum = __reduce_add_sync(FULL, sum);
  if ((threadIdx.x & 31) == 0) atomicAdd(count, sum);
}
extern "C" __global__ void lower_case(const uchar4* in, uchar4* out, int n4) {
  AT;
  if (i >= n4) return;
  uchar4 v = in[i];
  v.x += v.x >= 'A' && v.x <= 'Z' ? 32 : 0;
  v.y += v.y >= 'A' && v.y <= 'Z' ? 32 : 0;
  v.z += v.z >= 'A' && v.z <= 'Z' ? 32 : 0;
  v.w += v.w >= 'A' && v.w <= 'Z' ? 32 : 0;
  out[i] = v;
}
// CRC-32 of strings by a table in shared memory, a string a thread.
extern "C" __global__ void crc_strings(const unsigned* text, const unsigned* table, unsigned* out, int n, int words) {
  __shared__ unsigned t[256];
  t[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  AT;
  if (i >= n) return;
  unsigned c = FULL;
  for (int w = 0; w < words; w++) {
    unsigned v = text[(size_t)w * n + i];
#pragma unroll
    for (int k = 0; k < 4; k++) { c = t[(c ^ v) & 255] ^ (c >> 8); v >>= 8; }
  }
  out[i] = ~c;
}
__device__ unsigned turn(unsigned v, int by) { return __funnelshift_r(v, v, by); }
// Rounds in the manner of SHA-256, message schedule in registers.
extern "C" __global__ void digest_rounds(const unsigned* in, unsigned* out, int n) {
  AT;
  if (i >= n) return;
  unsigned w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
#pragma unroll
  for (int k = 0; k < 16; k++) w[k] = in[(size_t)k * n + i];
#pragma unroll
  for (int r = 0; r < 64; r++) {
    unsigned x = w[r & 15];
    if (r >= 16) {
      unsigned a = w[(r + 1) & 15], b = w[(r + 14) & 15];
      x += (turn(a, 7) ^ turn(a, 18) ^ (a >> 3)) + w[(r + 9) & 15] + (turn(b, 17) ^ turn(b, 19) ^ (b >> 10));
      w[r & 15] = x;
    }
    unsigned e = s[4], a = s[0];
    unsigned u = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + x + 0x428a2f98u * (r + 1);
    unsigned v = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    s[7] = s[6]; s[6] = s[5]; s[5] = e; s[4] = s[3] + u; s[3] = s[2]; s[2] = s[1]; s[1] = a; s[0] = u + v;
  }
#pragma unroll
  for (int k = 0; k < 8; k++) out[(size_t)k * n + i] = s[k];
}
// Block cipher of 32 rounds on 64 bits (XTEA).
extern "C" __global__ void cipher_xtea(const uint2* in, uint2* out, int n) {
  AT;
  if (i >= n) return;
  const unsigned key[4] = {0x01234567, 0x89abcdef, 0xfedcba98, 0x76543210};
  uint2 v = in[i];
  unsigned sum = 0;
#pragma unroll 4
  for (int r = 0; r < 32; r++) {
    v.x += (((v.y << 4) ^ (v.y >> 5)) + v.y) ^ (sum + key[sum & 3]);
    sum += 0x9e3779b9;
    v.y += (((v.x << 4) ^ (v.x >> 5)) + v.x) ^ (sum + key[(sum >> 11) & 3]);
  }
  out[i] = v;
}
// Powers modulo an odd number of 64 bits (Montgomery).
extern "C" __global__ void power_mod(const unsigned long long* x, unsigned long long* out, int n, unsigned long long m, unsigned long long inverse, int exponent) {
  AT;
  if (i >= n) return;
  unsigned long long b = x[i], a = 1;
  for (int e = exponent; e; e >>= 1) {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      unsigned long long u = k ? b : a;
      if (k == 0 && !(e & 1)) continue;
      unsigned long long lo = u * b, hi = __umul64hi(u, b), q = lo * inverse, h = __umul64hi(q, m);
      unsigned long long r = hi > h ? hi - h : hi + m - h;
      if (k) b = r; else a = r;
    }
  }
  out[i] = a;
}
// Euclid's algorithm: turns differ by thread.
extern "C" __global__ void common_divisors(const unsigned* x, const unsigned* y, unsigned* out, int n) {
  AT;
  if (i >= n) return;
  unsigned a = x[i], b = y[i] + 1;
  while (b) { unsigned t = a % b; a = b; b = t; }
  out[i] = a;
}
// 32 x 32 bits turned over by votes, a warp a tile.
extern "C" __global__ void turn_bits(const unsigned* in, unsigned* out, int words) {
  AT;
  if (i >= words) return;
  unsigned v = in[i], mine = 0;
#pragma unroll
  for (int b = 0; b < 32; b++) {
    unsigned row = __ballot_sync(FULL, (v >> b) & 1);
    if ((threadIdx.x & 31) == b) mine = row;
  }
  out[i] = mine;
}
__device__ unsigned spread(unsigned v) {
  v &= 1023;
  v = (v | v << 16) & 0x030000ff; v = (v | v << 8) & 0x0300f00f; v = (v | v << 4) & 0x030c30c3;
  return (v | v << 2) & 0x09249249;
}
extern "C" __global__ void morton_codes(const float* x, const float* y, const float* z, unsigned* out, int n) {
  AT;
  if (i < n) out[i] = spread((unsigned)(x[i] * 511.f + 512.f)) | spread((unsigned)(y[i] * 511.f + 512.f)) << 1 | spread((unsigned)(z[i] * 511.f + 512.f)) << 2;
}
// Numbers without a divisor, by trial: long for primes.
extern "C" __global__ void trial_division(unsigned char* out, int n, unsigned first) {
  AT;
  if (i >= n) return;
  unsigned v = first + 2 * i + 1, d = 3;
  while (d * d <= v && v % d) d += 2;
  out[i] = d * d > v;
}
// Decimal digits of numbers, eight bytes each.
extern "C" __global__ void print_decimal(const unsigned* x, uchar4* out, int n) {
  AT;
  if (i >= n) return;
  unsigned v = x[i];
  unsigned char c[8];
#pragma unroll
  for (int k = 7; k >= 0; k--) { c[k] = '0' + v % 10; v /= 10; }
  out[2 * i] = make_uchar4(c[0], c[1], c[2], c[3]);
  out[2 * i + 1] = make_uchar4(c[4], c[5], c[6], c[7]);
}
// Rows of a state machine: one thread follows one string through a table in memory.
extern "C" __global__ void run_automaton(const unsigned char* text, const unsigned char* table, unsigned char* out, int n, int length) {
  AT;
  if (i >= n) return;
  unsigned s = 0;
  for (int k = 0; k < length; k++) s = table[s * 256 + text[(size_t)k * n + i]] & 63;
  out[i] = s;
}
