// tf32 products with bias and ReLU, operands cut by the unit itself.

extern "C" __global__ void mmaTf32(const unsigned* a, const unsigned* b, const float* bias, float* c, int n, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int row = blockIdx.y * 16, column = blockIdx.x * 8;
  float d[4];
  for (int i = 0; i < 4; i++) d[i] = bias[column + t * 2 + i % 2];
  for (int at = 0; at < k; at += 8) {
    const unsigned* x = a + (row + g) * k + at + t;
    const unsigned* y = b + (at + t) * n + column + g;
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(x[0]), "r"(x[8 * k]), "r"(x[4]), "r"(x[8 * k + 4]), "r"(y[0]), "r"(y[4 * n]));
  }
  for (int i = 0; i < 4; i++) c[(row + g + i / 2 * 8) * n + column + t * 2 + i % 2] = fmaxf(d[i], 0.0f);
}
