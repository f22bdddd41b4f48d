// Multinomial logistic regression over 28 x 28 pixels: probabilities[batch x 10] = softmax(pixels * weights + biases).
// Launch order: class_scores, then softmax. Sums run in a fixed order whatever the batch, so an item's scores never
// depend on its neighbours.

constexpr int PIXELS = 784;
constexpr int CLASSES = 10;
constexpr int STRIDE = 12;          // a pixel's weights, padded so that four of them load at once
constexpr int GROUPS = STRIDE / 4;  // threads along x: four classes each
constexpr int SPLITS = 28;          // threads along y: each sums PIXELS / SPLITS pixels

// grid = batch, block = (GROUPS, SPLITS). weights[PIXELS x STRIDE], biases[CLASSES], scores[batch x CLASSES].
extern "C" __global__ void class_scores(const float* __restrict__ pixels, const float* __restrict__ weights,
                                        const float* __restrict__ biases, float* __restrict__ scores) {
  __shared__ float partial[SPLITS][STRIDE];
  const int group = threadIdx.x, split = threadIdx.y;
  const float4* x = reinterpret_cast<const float4*>(pixels + blockIdx.x * PIXELS) + split * (PIXELS / 4 / SPLITS);
  const float4* w = reinterpret_cast<const float4*>(weights) + split * (PIXELS / SPLITS) * GROUPS + group;
  float4 sum = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
  for (int k = 0; k < PIXELS / 4 / SPLITS; k++) {
    const float4 v = x[k];
    const float values[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const float4 row = w[(4 * k + j) * GROUPS];
      sum.x += values[j] * row.x;
      sum.y += values[j] * row.y;
      sum.z += values[j] * row.z;
      sum.w += values[j] * row.w;
    }
  }
  partial[split][4 * group + 0] = sum.x;
  partial[split][4 * group + 1] = sum.y;
  partial[split][4 * group + 2] = sum.z;
  partial[split][4 * group + 3] = sum.w;
  __syncthreads();
  const int output = split * GROUPS + group;
  if (output >= CLASSES) return;
  float total = 0.f;
#pragma unroll
  for (int s = 0; s < SPLITS; s++) total += partial[s][output];
  scores[blockIdx.x * CLASSES + output] = total + biases[output];
}

// One thread an item. scores, probabilities: [items x CLASSES].
extern "C" __global__ void softmax(const float* __restrict__ scores, float* __restrict__ probabilities, int items) {
  const int item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item >= items) return;
  const float* s = scores + item * CLASSES;
  float e[CLASSES];
  float largest = s[0];
#pragma unroll
  for (int c = 1; c < CLASSES; c++) largest = fmaxf(largest, s[c]);
  float sum = 0.f;
#pragma unroll
  for (int c = 0; c < CLASSES; c++) {
    e[c] = __expf(s[c] - largest);
    sum += e[c];
  }
#pragma unroll
  for (int c = 0; c < CLASSES; c++) probabilities[item * CLASSES + c] = e[c] / sum;
}
