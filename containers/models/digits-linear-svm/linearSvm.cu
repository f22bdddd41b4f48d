// Linear SVM over the stroke features of 28 x 28 pixels, one hyperplane a class:
// probabilities[batch x 10] = softmax(scale * (features * hyperplanes + biases)).
// Launch order: stroke_features, class_probabilities. Sums run in a fixed order whatever the batch, so an item's scores
// never depend on its neighbours.
constexpr int CELL_WIDTH = 4;
#include "../strokeFeatures.cuh"

constexpr int CLASSES = 10;
constexpr int LANES = 32;

// A warp a class. grid = batch, block = (LANES, CLASSES). hyperplanes[CLASSES x FEATURES], biases[CLASSES], scale[1].
extern "C" __global__ void class_probabilities(const float* __restrict__ features,
                                               const float* __restrict__ hyperplanes,
                                               const float* __restrict__ biases, const float* __restrict__ scale,
                                               float* __restrict__ probabilities) {
  __shared__ float margins[CLASSES];
  const int lane = threadIdx.x, c = threadIdx.y;
  const float4* x = reinterpret_cast<const float4*>(features + blockIdx.x * FEATURES);
  const float4* w = reinterpret_cast<const float4*>(hyperplanes + c * FEATURES);
  float sum = 0.f;
  for (int k = lane; k < FEATURES / 4; k += LANES) {
    const float4 a = x[k], b = w[k];
    sum += a.x * b.x;
    sum += a.y * b.y;
    sum += a.z * b.z;
    sum += a.w * b.w;
  }
#pragma unroll
  for (int offset = LANES / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0) margins[c] = sum + biases[c];
  __syncthreads();

  if (c > 0 || lane >= CLASSES) return;
  float largest = margins[0];
#pragma unroll
  for (int k = 1; k < CLASSES; k++) largest = fmaxf(largest, margins[k]);
  const float factor = scale[0];
  float total = 0.f;
#pragma unroll
  for (int k = 0; k < CLASSES; k++) total += __expf(factor * (margins[k] - largest));
  probabilities[blockIdx.x * CLASSES + lane] = __expf(factor * (margins[lane] - largest)) / total;
}
