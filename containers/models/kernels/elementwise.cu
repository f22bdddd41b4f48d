// One thread an element; grid = ceilDiv(count, 128), block = 128. `count` is the batch's elements, `width` an item's.
#include "arithmetic.cuh"

#define ELEMENT                                                                        \
  const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; \
  if (index >= count) return;

extern "C" __global__ void activate_f32(const float* __restrict__ x, float* __restrict__ y, long long count,
                                        int activation) {
  ELEMENT
  y[index] = activated(x[index], activation);
}

extern "C" __global__ void activate_f64(const double* __restrict__ x, double* __restrict__ y, long long count,
                                        int activation) {
  ELEMENT
  y[index] = activated(x[index], activation);
}

// y = activation(a + b), element by element.
extern "C" __global__ void add_f32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y,
                                   long long count, int activation) {
  ELEMENT
  y[index] = activated(a[index] + b[index], activation);
}

// The same b[width] for every item.
extern "C" __global__ void add_row_f32(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y,
                                       long long count, int width, int activation) {
  ELEMENT
  y[index] = activated(a[index] + b[index % width], activation);
}

extern "C" __global__ void widen_f32(const float* __restrict__ x, double* __restrict__ y, long long count) {
  ELEMENT
  y[index] = x[index];
}

extern "C" __global__ void widen_i32(const int* __restrict__ x, double* __restrict__ y, long long count) {
  ELEMENT
  y[index] = x[index];
}

extern "C" __global__ void widen_u8(const unsigned char* __restrict__ x, double* __restrict__ y, long long count) {
  ELEMENT
  y[index] = x[index];
}

// y = (x - shift) / divisor, each of [width].
extern "C" __global__ void standardize_f64(const double* __restrict__ x, const double* __restrict__ shift,
                                           const double* __restrict__ divisor, double* __restrict__ y, long long count,
                                           int width) {
  ELEMENT
  const int k = index % width;
  y[index] = (x[index] - shift[k]) / divisor[k];
}

// y = x * factor + offset, each of [width].
extern "C" __global__ void scale_f64(const double* __restrict__ x, const double* __restrict__ factor,
                                     const double* __restrict__ offset, double* __restrict__ y, long long count, int width) {
  ELEMENT
  const int k = index % width;
  y[index] = x[index] * factor[k] + offset[k];
}

// y = activation(x * factor + offset), each of [width].
extern "C" __global__ void affine_f32(const float* __restrict__ x, const float* __restrict__ factor,
                                      const float* __restrict__ offset, float* __restrict__ y, long long count, int width,
                                      int activation) {
  ELEMENT
  const int k = index % width;
  y[index] = activated(x[index] * factor[k] + offset[k], activation);
}
