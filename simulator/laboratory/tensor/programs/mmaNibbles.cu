// Weights and activations of four bits, accumulated from a bias, clamped where a sum would wrap.

extern "C" __global__ void mmaNibbles(const unsigned* a, const unsigned* b, const int* bias, int* c, int n, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int row = blockIdx.y * 16, column = blockIdx.x * 8;
  int d[4];
  for (int i = 0; i < 4; i++) d[i] = bias[column + t * 2 + i % 2];
  for (int at = 0; at < k; at += 64) {
    const unsigned* x = a + ((row + g) * k + at) / 8 + t;
    const unsigned* y = b + ((column + g) * k + at) / 8 + t;
    asm("mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(x[0]), "r"(x[k]), "r"(x[4]), "r"(x[k + 4]), "r"(y[0]), "r"(y[4]));
  }
  for (int i = 0; i < 4; i++) c[(row + g + i / 2 * 8) * n + column + t * 2 + i % 2] = d[i];
}
