// f16 accumulated in f16, fragments straight from global memory; B by columns.
#include <cuda_fp16.h>

extern "C" __global__ void mmaHalfAccumulate(const unsigned* a, const unsigned* b, unsigned* c, int n, int k) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int row = blockIdx.y * 16, column = blockIdx.x * 8;
  unsigned d0 = 0, d1 = 0;
  for (int at = 0; at < k; at += 16) {
    const unsigned* x = a + ((row + g) * k + at) / 2 + t;
    const unsigned* y = b + ((column + g) * k + at) / 2 + t;
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
        : "+r"(d0), "+r"(d1) : "r"(x[0]), "r"(x[8 * k / 2]), "r"(x[4]), "r"(x[8 * k / 2 + 4]), "r"(y[0]), "r"(y[4]));
  }
  c[((row + g) * n + column) / 2 + t] = d0;
  c[((row + g + 8) * n + column) / 2 + t] = d1;
}
