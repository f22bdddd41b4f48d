// Bits: counts, reversals, permuted bytes, fields, interleaving, a CRC by table and by bits, next permutation.
extern "C" __global__ void bitTricks(const unsigned* x, const unsigned long long* wide, unsigned* out, int n) {
  __shared__ unsigned table[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    unsigned c = b;
    for (int k = 0; k < 8; k++) c = (c >> 1) ^ (0xEDB88320u & (0u - (c & 1)));
    table[b] = c;
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = x[i];
  unsigned long long w = wide[i];
  unsigned* o = out + i * 12;
  o[0] = __popc(v) | __clz(v) << 8 | __ffs(v) << 16 | __popcll(w) << 24;
  o[1] = __brev(v);
  unsigned long long r = __brevll(w);
  o[2] = (unsigned)r ^ (unsigned)(r >> 32);
  o[3] = __byte_perm(v, (unsigned)w, 0x1046 + (v & 7));
  o[4] = __clzll(w) | __ffsll(w) << 8;
  unsigned c = 0xffffffffu;
  for (int b = 0; b < 4; b++) c = table[(c ^ (v >> (8 * b))) & 255] ^ (c >> 8);
  o[5] = ~c;
  unsigned field, put;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(v), "r"(v & 31), "r"((v >> 5) & 15));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(put) : "r"((unsigned)w), "r"(v), "r"((v >> 9) & 31), "r"((v >> 14) & 31));
  o[6] = field;
  o[7] = put;
  unsigned long long spread = v & 0xffff;
  spread = (spread | spread << 8) & 0x00ff00ff;
  spread = (spread | spread << 4) & 0x0f0f0f0f;
  spread = (spread | spread << 2) & 0x33333333;
  spread = (spread | spread << 1) & 0x55555555;
  o[8] = (unsigned)spread;
  o[9] = __funnelshift_l((unsigned)w, v, v);
  unsigned low = v | (v - 1);
  o[10] = v == 0 ? 0 : (low + 1) | (((~low & (low + 1)) - 1) >> (__ffs(v) & 31));
  o[11] = __vadd4(v, (unsigned)w) ^ __vabsdiffu4(v, (unsigned)w) ^ __usad(v, (unsigned)w, 7u);
}
