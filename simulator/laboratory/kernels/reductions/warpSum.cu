// Sum and maximum a block by warp shuffles, down within the warps and once more over their results.
template <class Combine>
__device__ float warpReduce(float v, Combine combine) {
#pragma unroll
  for (int delta = 16; delta > 0; delta >>= 1) v = combine(v, __shfl_down_sync(0xffffffffu, v, delta));
  return v;
}

template <class Combine>
__device__ float blockReduce(float v, float neutral, Combine combine) {
  __shared__ float partial[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warpReduce(v, combine);
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  v = threadIdx.x < (blockDim.x + 31) / 32 ? partial[lane] : neutral;
  if (warp == 0) v = warpReduce(v, combine);
  __syncthreads();
  return v;
}

__global__ void warpSum(const float* x, float* sums, float* largest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  float sum = blockReduce(v, 0.0f, [](float a, float b) { return a + b; });
  float most = blockReduce(i < n ? v : -__int_as_float(0x7f800000), -__int_as_float(0x7f800000),
                           [](float a, float b) { return fmaxf(a, b); });
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    largest[blockIdx.x] = most;
  }
}
