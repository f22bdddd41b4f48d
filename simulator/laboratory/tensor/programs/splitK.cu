// A small D with a long k: blocks share k among them, a second kernel adds what they left, in order.
#include "fragments.cuh"

extern "C" __global__ void splitParts(const unsigned* a, const unsigned* b, float* parts, int m, int n, int k, int share) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  int row = blockIdx.y * 16, column = blockIdx.x * 8;
  float d[4] = {};
  for (int at = blockIdx.z * share; at < (blockIdx.z + 1) * share; at += 16) {
    const unsigned* x = a + ((row + g) * k + at) / 2 + t;
    const unsigned* y = b + ((column + g) * k + at) / 2 + t;
    unsigned left[4] = {x[0], x[4 * k], x[4], x[4 * k + 4]}, right[2] = {y[0], y[4]};
    multiplyHalf(d, left, right);
  }
  for (int i = 0; i < 4; i++)
    parts[(blockIdx.z * m + row + g + i / 2 * 8) * n + column + t * 2 + i % 2] = d[i];
}

extern "C" __global__ void splitSum(const float* parts, float* c, int count, int shares) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;
  float sum = 0.0f;
  for (int share = 0; share < shares; share++) sum += parts[share * count + at];
  c[at] = sum;
}
