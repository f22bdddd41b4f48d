// y = a x + y in pairs of halves with fused multiply-add, its parts apart, and comparisons and extremes.
#include <cuda_fp16.h>

extern "C" __global__ void halfAxpy(const __half2* x, __half2* y, __half2* separate, __half2* extremes, __half a, int n2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n2) return;
  __half2 v = x[i], old = y[i], scale = __half2half2(a);
  y[i] = __hfma2(scale, v, old);
  separate[i] = __hadd2_rn(__hmul2_rn(scale, v), __hneg2(old));
  extremes[i] = __hmax2(__hmin2(v, old), __hmul2_rn(__hgt2(v, old), __habs2(v)));
}
