// Kernels bound by arithmetic, by divergence, or by how few warps fit.
extern "C" __global__ void nbody_tiled(const float4* p, float4* a, int n) {
  __shared__ float4 s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < n; t += 128) {
    s[threadIdx.x] = p[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 128; j++) {
      float4 o = s[j];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, d = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), k = o.w * d * d * d;
      ax += dx * k; ay += dy * k; az += dz * k;
    }
    __syncthreads();
  }
  a[i] = make_float4(ax, ay, az, 0);
}
__device__ float normal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }
extern "C" __global__ void black_scholes(const float* price, const float* strike, const float* years, float* call, float* put, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i], r = 0.02f, v = 0.3f, q = sqrtf(t);
  float d1 = (logf(s / x) + (r + 0.5f * v * v) * t) / (v * q), d2 = d1 - v * q, e = x * expf(-r * t);
  call[i] = s * normal(d1) - e * normal(d2);
  put[i] = e * normal(-d2) - s * normal(-d1);
}
extern "C" __global__ void monte_carlo_pi(unsigned* hits, int rounds) {
  unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 2891336453u, in = 0;
  for (int r = 0; r < rounds; r++) {
    s ^= s << 13; s ^= s >> 17; s ^= s << 5; float x = (s >> 8) * (1.f / 16777216);
    s ^= s << 13; s ^= s >> 17; s ^= s << 5; float y = (s >> 8) * (1.f / 16777216);
    in += x * x + y * y < 1.f;
  }
  for (int d = 16; d; d >>= 1) in += __shfl_down_sync(~0u, in, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(hits, in);
}
extern "C" __global__ void philox(unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = 0xA4093822u, k1 = 0x299F31D0u;
  for (int r = 0; r < 10; r++) {
    unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0; c1 = l1; c2 = h0 ^ c3 ^ k1; c3 = l0;
    k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
  }
  ((uint4*)out)[i] = make_uint4(c0, c1, c2, c3);
}
extern "C" __global__ void collatz(int* steps, int n, unsigned first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = first + i; int k = 0;
  while (v != 1) { v = v & 1 ? 3 * v + 1 : v >> 1; k++; }
  steps[i] = k;
}
extern "C" __global__ void mandelbrot_double(int* counts, int w, int h, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  double cr = -2.1 + 2.8 * x / w, ci = -1.2 + 2.4 * y / h, r = 0, i = 0; int k = 0;
  while (k < limit && r * r + i * i <= 4) { double t = r * r - i * i + cr; i = 2 * r * i + ci; r = t; k++; }
  counts[y * w + x] = k;
}
extern "C" __global__ void julia(float* out, int w, int h, float cr, float ci, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float r = 3.f * x / w - 1.5f, i = 3.f * y / h - 1.5f; int k = 0;
  for (; k < limit; k++) { float a = r * r, b = i * i; if (a + b > 4.f) break; i = 2 * r * i + ci; r = a - b + cr; }
  out[y * w + x] = k + 1 - log2f(fmaxf(log2f(r * r + i * i + 1.0001f), 1e-3f));
}
extern "C" __global__ void hash_64(const unsigned long long* in, unsigned long long* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long h = in[i];
  for (int r = 0; r < rounds; r++) { h ^= h >> 33; h *= 0xff51afd7ed558ccdull; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53ull; h ^= h >> 33; }
  out[i] = h;
}
__device__ unsigned rotate(unsigned x, int k) { return x << k | x >> (32 - k); }
extern "C" __global__ void rotate_hash(const unsigned* in, unsigned* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned a = in[i], b = 0x67452301u, c = 0xefcdab89u, d = 0x98badcfeu;
  for (int r = 0; r < rounds; r++) { unsigned f = (b & c) | (~b & d); a = b + rotate(a + f + 0x5a827999u, 7); unsigned t = d; d = c; c = b; b = a; a = t; }
  out[i] = a ^ b ^ c ^ d;
}
extern "C" __global__ void poly_double(const double* x, double* y, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i], a = 1;
  for (int r = 0; r < rounds; r++) a = a * v + 0.5;
  y[i] = a;
}
extern "C" __global__ void math_double(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { double v = fabs(x[i]) + 0.5; y[i] = exp(-v) + sqrt(v) / log(v + 2); }
}
extern "C" __global__ void divide_mod(const int* x, int* out, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i], a = 0;
  for (int k = 0; k < 8; k++) { a += v / (d + k) + v % (d + 3 * k); v = v * 3 + k; }
  out[i] = a;
}
extern "C" __global__ void sin_cos_sum(const float* x, float* out, int n, int terms) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], a = 0;
  for (int k = 1; k <= terms; k++) a += __sinf(v * k) * __cosf(v + k) / k;
  out[i] = a;
}
extern "C" __global__ void popcount_bits(const unsigned* x, const unsigned* y, int* out, int n, int words) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = 0;
  for (int k = 0; k < words; k++) a += __popc(x[k] ^ y[(size_t)k * n + i]);
  out[i] = a;
}
extern "C" __global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const unsigned char* p = in + y * w + x;
  int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[w - 1];
  int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[1 - w];
  out[y * w + x] = min(255, abs(gx) + abs(gy));
}
extern "C" __global__ void life(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int a = 0;
  for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) if (dx || dy) a += in[(y + dy + h) % h * w + (x + dx + w) % w];
  out[y * w + x] = a == 3 || (a == 2 && in[y * w + x]);
}
// Dependent multiply-adds: time is the chain's, however many blocks fit beside each other.
extern "C" __global__ void chain(float* out, int rounds) {
  float a = threadIdx.x;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int k = 0; k < 16; k++) a = a * 0.999f + 1.f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
// Eight independent chains a thread: bound by the units.
extern "C" __global__ void throughput(float* out, int rounds) {
  float a[8];
#pragma unroll
  for (int k = 0; k < 8; k++) a[k] = threadIdx.x + k;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int k = 0; k < 8; k++) a[k] = a[k] * 0.999f + 1.f;
  }
  float s = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) s += a[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
// Blocks of unequal length: block b runs (b * 37 % 16 + 1) times `rounds`.
extern "C" __global__ void uneven_blocks(float* out, int rounds) {
  float a = threadIdx.x;
  int mine = rounds * (blockIdx.x * 37 % 16 + 1);
#pragma unroll 1
  for (int r = 0; r < mine; r++) {
#pragma unroll
    for (int k = 0; k < 8; k++) a = a * 0.999f + 1.f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
// Warps of a block of unequal length, and a barrier at the end of every round.
extern "C" __global__ void uneven_warps(float* out, int rounds) {
  __shared__ float s[1024];
  int w = threadIdx.x >> 5;
  float a = threadIdx.x;
  for (int r = 0; r < rounds; r++) {
    int mine = ((w + r) & 7) * 8 + 1;
    for (int k = 0; k < mine; k++) a = a * 0.999f + 1.f;
    s[threadIdx.x] = a;
    __syncthreads();
    a += s[threadIdx.x ^ 32];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
// Lanes part `ways` ways every round.
extern "C" __global__ void divergent(const int* x, float* out, int n, int ways, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = x[i];
  for (int r = 0; r < rounds; r++) {
    switch ((threadIdx.x + r) % ways) {
      case 0: a = a * 1.01f + 1.f; a = a * 0.5f; break;
      case 1: a = sqrtf(fabsf(a)) + 2.f; break;
      case 2: a = a - floorf(a) * 0.25f; break;
      case 3: a = __expf(-fabsf(a)) + a; break;
      case 4: a = fminf(a, 3.f) * 1.5f; break;
      case 5: a = 1.f / (fabsf(a) + 1.f); break;
      case 6: a = a * a * 0.125f; break;
      default: a = __int2float_rn(__float2int_rz(a)) + 0.5f; break;
    }
  }
  out[i] = a;
}
// Few blocks fit: each asks for much shared memory, and reads it in a walk that hits every bank.
extern "C" __global__ void big_shared(const float* in, float* out, int words, int rounds) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) s[i] = in[i];
  __syncthreads();
  float a = 0;
  int at = threadIdx.x;
  for (int r = 0; r < rounds; r++) { a += s[at]; at += 257; if (at >= words) at -= words; }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
// 96 values live in registers: about 128 registers a thread.
extern "C" __global__ void __launch_bounds__(256) many_registers(const float* in, float* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[96];
#pragma unroll
  for (int k = 0; k < 96; k++) v[k] = in[(i + k * 4096) % n];
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int k = 0; k < 96; k++) v[k] = v[k] * v[(k + 1) % 96] + 0.25f;
  }
  float a = 0;
#pragma unroll
  for (int k = 0; k < 96; k++) a += v[k];
  out[i] = a;
}
extern "C" __global__ void matrix_powers(const float* in, float* out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a[9], m[9];
#pragma unroll
  for (int k = 0; k < 9; k++) a[k] = m[k] = in[(size_t)k * n + i] * 0.5f;
  for (int r = 0; r < rounds; r++) {
    float c[9];
#pragma unroll
    for (int y = 0; y < 3; y++)
#pragma unroll
      for (int x = 0; x < 3; x++) c[y * 3 + x] = a[y * 3] * m[x] + a[y * 3 + 1] * m[3 + x] + a[y * 3 + 2] * m[6 + x];
#pragma unroll
    for (int k = 0; k < 9; k++) a[k] = c[k];
  }
#pragma unroll
  for (int k = 0; k < 9; k++) out[(size_t)k * n + i] = a[k];
}
extern "C" __global__ void edit_distance(const unsigned char* a, const unsigned char* b, int* out, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  int row[17];
#pragma unroll
  for (int k = 0; k <= 16; k++) row[k] = k;
  for (int y = 0; y < 16; y++) {
    int diagonal = row[0];
    row[0] = y + 1;
    unsigned char c = a[y * pairs + i];
#pragma unroll
    for (int x = 0; x < 16; x++) { int up = row[x + 1]; int best = min(min(up, row[x]) + 1, diagonal + (c != b[x * pairs + i])); diagonal = up; row[x + 1] = best; }
  }
  out[i] = row[16];
}
