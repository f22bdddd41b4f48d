// Half operands, float accumulation, half result: what mixed-precision inference does without tensor cores.
#include <cuda_fp16.h>

extern "C" __global__ void halfGemm(const __half* a, const __half2* b, __half2* c, int m, int n2, int k) {
  int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n2) return;
  float2 sum = {0.0f, 0.0f};
  for (int i = 0; i < k; i++) {
    float v = __half2float(a[row * k + i]);
    float2 w = __half22float2(b[i * n2 + column]);
    sum.x = fmaf(v, w.x, sum.x);
    sum.y = fmaf(v, w.y, sum.y);
  }
  c[row * n2 + column] = __float22half2_rn(sum);
}
