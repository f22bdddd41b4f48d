// nvcc: -fmad=false
// Root-mean-square normalisation of bfloat16 rows with float sums; residual added in bfloat16 first.
#include <cuda_bf16.h>

extern "C" __global__ void bfloatNorm(const __nv_bfloat162* x, __nv_bfloat162* residual, const __nv_bfloat162* gain,
                                      __nv_bfloat162* y, int pairs) {
  __shared__ float warps[4];
  int t = threadIdx.x, row = blockIdx.x;
  float sum = 0.0f;
  for (int p = t; p < pairs; p += 128) {
    __nv_bfloat162 v = __hadd2(x[row * pairs + p], residual[row * pairs + p]);
    residual[row * pairs + p] = v;
    float2 f = __bfloat1622float2(v);
    sum += f.x * f.x + f.y * f.y;
  }
  for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, delta);
  if ((t & 31) == 0) warps[t >> 5] = sum;
  __syncthreads();
  float mean = (warps[0] + warps[1] + warps[2] + warps[3]) / (float)(2 * pairs);
  float scale = 1.0f / sqrtf(mean + 1e-6f);
  for (int p = t; p < pairs; p += 128) {
    float2 f = __bfloat1622float2(residual[row * pairs + p]);
    __nv_bfloat162 normal = __floats2bfloat162_rn(f.x * scale, f.y * scale);
    y[row * pairs + p] = __hmul2(normal, gain[p]);
  }
}
