// Sums of products of two arrays by their strides: matrix products of every kind.
// One thread a result; grid = ceilDiv(count, 128), block = 128. Geometry of the results (strides: a, b) and of the terms
// that are added up (strides: a, b; the last axis is that of `extent` terms, `others` of the rest).
#include "geometry.cuh"

template <typename T>
__device__ __forceinline__ void contract(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y,
                                         const int* __restrict__ results, const int* __restrict__ others, int count,
                                         int otherTerms, int extent, int aStep, int bStep) {
  ELEMENT
  int at[2], more[2];
  locate(results, index, at);
  T total = 0;
  for (int other = 0; other < otherTerms; other++) {
    locate(others, other, more);
    const T* left = a + at[0] + more[0];
    const T* right = b + at[1] + more[1];
#pragma unroll 4
    for (int k = 0; k < extent; k++, left += aStep, right += bStep) total += *left * *right;
  }
  y[index] = total;
}
extern "C" __global__ void contract_f32(const float* a, const float* b, float* y, const int* results, const int* others,
                                        int count, int otherTerms, int extent, int aStep, int bStep) {
  contract(a, b, y, results, others, count, otherTerms, extent, aStep, bStep);
}
extern "C" __global__ void contract_f64(const double* a, const double* b, double* y, const int* results, const int* others,
                                        int count, int otherTerms, int extent, int aStep, int bStep) {
  contract(a, b, y, results, others, count, otherTerms, extent, aStep, bStep);
}
