// SVM with a Gaussian kernel over the stroke features of 28 x 28 pixels:
// margins[batch x 10] = sum over centres of coefficient * exp(-gamma * |features - centre|^2), plus biases;
// probabilities[batch x 10] = softmax(scale * margins).
// Launch order: stroke_features, class_probabilities. Sums run in a fixed order whatever the batch, so an item's scores
// never depend on its neighbours.
constexpr int CELL_WIDTH = 7;
#include "../strokeFeatures.cuh"

constexpr int CENTRES = 240;
constexpr int CLASSES = 10;
constexpr int GROUPS = CENTRES / 4;  // threads along x: four centres each
constexpr int SPLITS = 8;            // threads along y: each sums FEATURES / SPLITS differences
constexpr int LANES = 32;

// grid = batch, block = (GROUPS, SPLITS). centres[FEATURES x CENTRES], coefficients[CLASSES x CENTRES], biases[CLASSES],
// gamma[1], scale[1].
extern "C" __global__ void class_probabilities(const float* __restrict__ features, const float* __restrict__ centres,
                                               const float* __restrict__ coefficients,
                                               const float* __restrict__ biases, const float* __restrict__ gamma,
                                               const float* __restrict__ scale, float* __restrict__ probabilities) {
  __shared__ float4 partial[SPLITS][GROUPS];
  __shared__ float kernels[CENTRES];
  __shared__ float margins[CLASSES];
  const int group = threadIdx.x, split = threadIdx.y;
  const int thread = split * GROUPS + group;

  const float* x = features + blockIdx.x * FEATURES + split * (FEATURES / SPLITS);
  const float4* rows = reinterpret_cast<const float4*>(centres) + split * (FEATURES / SPLITS) * GROUPS + group;
  float4 sum = {0.f, 0.f, 0.f, 0.f};
#pragma unroll 8
  for (int k = 0; k < FEATURES / SPLITS; k++) {
    const float value = x[k];
    const float4 centre = rows[k * GROUPS];
    const float4 d = {value - centre.x, value - centre.y, value - centre.z, value - centre.w};
    sum.x += d.x * d.x;
    sum.y += d.y * d.y;
    sum.z += d.z * d.z;
    sum.w += d.w * d.w;
  }
  partial[split][group] = sum;
  __syncthreads();

  if (thread < CENTRES) {
    const float* sums = reinterpret_cast<const float*>(partial);
    float distance = 0.f;
#pragma unroll
    for (int s = 0; s < SPLITS; s++) distance += sums[s * CENTRES + thread];
    kernels[thread] = __expf(-gamma[0] * distance);
  }
  __syncthreads();

  // A warp a class.
  const int lane = thread % LANES, c = thread / LANES;
  if (c < CLASSES) {
    float margin = 0.f;
    for (int k = lane; k < CENTRES; k += LANES) margin += kernels[k] * coefficients[c * CENTRES + k];
#pragma unroll
    for (int offset = LANES / 2; offset > 0; offset /= 2) margin += __shfl_xor_sync(0xffffffffu, margin, offset);
    if (lane == 0) margins[c] = margin + biases[c];
  }
  __syncthreads();

  if (thread >= CLASSES) return;
  float largest = margins[0];
#pragma unroll
  for (int k = 1; k < CLASSES; k++) largest = fmaxf(largest, margins[k]);
  const float factor = scale[0];
  float total = 0.f;
#pragma unroll
  for (int k = 0; k < CLASSES; k++) total += __expf(factor * (margins[k] - largest));
  probabilities[blockIdx.x * CLASSES + thread] = __expf(factor * (margins[thread] - largest)) / total;
}
