// Sums of halves: by halves through shuffles of pairs, and by floats; the largest by hmax.
#include <cuda_fp16.h>

extern "C" __global__ void halfReduction(const __half* x, __half* sums, float* floats, __half* largest, int columns) {
  int lane = threadIdx.x, row = blockIdx.x;
  __half2 sum = __float2half2_rn(0.0f);
  __half most = __ushort_as_half(0xfc00);
  float precise = 0.0f;
  for (int c = 2 * lane; c < columns; c += 64) {
    __half2 v = *reinterpret_cast<const __half2*>(x + row * columns + c);
    sum = __hadd2(sum, v);
    most = __hmax(most, __hmax(__low2half(v), __high2half(v)));
    precise += __low2float(v);
    precise += __high2float(v);
  }
  for (int delta = 16; delta > 0; delta /= 2) {
    sum = __hadd2(sum, __shfl_down_sync(0xffffffffu, sum, delta));
    most = __hmax(most, __shfl_xor_sync(0xffffffffu, most, delta));
    precise += __shfl_down_sync(0xffffffffu, precise, delta);
  }
  if (lane == 0) {
    sums[row] = __hadd(__low2half(sum), __high2half(sum));
    largest[row] = most;
    floats[row] = precise;
  }
}
