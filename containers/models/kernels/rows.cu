// One warp a row; grid = ceilDiv(rows, 4), block = (32, 4). x, y: [rows x width].
#include "arithmetic.cuh"

constexpr unsigned ALL = 0xffffffffu;

// The 32 lanes' sum or largest value, in a fixed order, on every lane.
template <typename T>
__device__ __forceinline__ T sumOfLanes(T value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) value += __shfl_xor_sync(ALL, value, mask);
  return value;
}
template <typename T>
__device__ __forceinline__ T largestOfLanes(T value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) {
    const T other = __shfl_xor_sync(ALL, value, mask);
    if (other > value) value = other;
  }
  return value;
}

template <typename T>
__device__ __forceinline__ void softmax(const T* __restrict__ x, T* __restrict__ y, int rows, int width) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  const T* from = x + static_cast<long long>(row) * width;
  T* to = y + static_cast<long long>(row) * width;
  T largest = from[0];
  for (int k = lane; k < width; k += 32) largest = from[k] > largest ? from[k] : largest;
  largest = largestOfLanes(largest);
  double sum = 0;
  for (int k = lane; k < width; k += 32) {
    const double e = exponential(static_cast<double>(from[k]) - largest);
    to[k] = e;
    sum += e;
  }
  sum = sumOfLanes(sum);
  for (int k = lane; k < width; k += 32) to[k] = to[k] / sum;
}

extern "C" __global__ void softmax_f32(const float* x, float* y, int rows, int width) { softmax(x, y, rows, width); }
extern "C" __global__ void softmax_f64(const double* x, double* y, int rows, int width) { softmax(x, y, rows, width); }

// y = x / its row's sum.
extern "C" __global__ void normalize_f64(const double* __restrict__ x, double* __restrict__ y, int rows, int width) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  const double* from = x + static_cast<long long>(row) * width;
  double* to = y + static_cast<long long>(row) * width;
  double sum = 0;
  for (int k = lane; k < width; k += 32) sum += from[k];
  sum = sumOfLanes(sum);
  for (int k = lane; k < width; k += 32) to[k] = from[k] / sum;
}
