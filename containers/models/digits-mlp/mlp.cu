// A perceptron with one hidden layer over 28 x 28 pixels:
// probabilities[batch x 10] = softmax(relu(pixels * hiddenWeights + hiddenBiases) * outputWeights + outputBiases).
// Launch order: hidden_layer, class_scores, softmax. Sums run in a fixed order whatever the batch, so an item's scores
// never depend on its neighbours.

constexpr int PIXELS = 784;
constexpr int HIDDEN = 32;
constexpr int CLASSES = 10;
constexpr int GROUPS = HIDDEN / 4;  // threads along x: four hidden units each
constexpr int SPLITS = 14;          // threads along y: each sums PIXELS / SPLITS pixels

// grid = batch, block = (GROUPS, SPLITS). weights[PIXELS x HIDDEN], biases[HIDDEN], hidden[batch x HIDDEN].
extern "C" __global__ void hidden_layer(const float* __restrict__ pixels, const float* __restrict__ weights,
                                        const float* __restrict__ biases, float* __restrict__ hidden) {
  __shared__ float partial[SPLITS][HIDDEN];
  const int group = threadIdx.x, split = threadIdx.y;
  const float4* x = reinterpret_cast<const float4*>(pixels + blockIdx.x * PIXELS) + split * (PIXELS / 4 / SPLITS);
  const float4* w = reinterpret_cast<const float4*>(weights) + split * (PIXELS / SPLITS) * GROUPS + group;
  float4 sum = {0.f, 0.f, 0.f, 0.f};
#pragma unroll 7
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
  const int unit = split * GROUPS + group;
  if (unit >= HIDDEN) return;
  float total = 0.f;
#pragma unroll
  for (int s = 0; s < SPLITS; s++) total += partial[s][unit];
  hidden[blockIdx.x * HIDDEN + unit] = fmaxf(total + biases[unit], 0.f);
}

// One thread an (item, class). weights[CLASSES x HIDDEN], biases[CLASSES], scores[items x CLASSES].
extern "C" __global__ void class_scores(const float* __restrict__ hidden, const float* __restrict__ weights,
                                        const float* __restrict__ biases, float* __restrict__ scores, int items) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= items * CLASSES) return;
  const int item = index / CLASSES, c = index % CLASSES;
  const float4* h = reinterpret_cast<const float4*>(hidden + item * HIDDEN);
  const float4* w = reinterpret_cast<const float4*>(weights + c * HIDDEN);
  float total = 0.f;
#pragma unroll
  for (int k = 0; k < HIDDEN / 4; k++) {
    const float4 a = h[k], b = w[k];
    total += a.x * b.x;
    total += a.y * b.y;
    total += a.z * b.z;
    total += a.w * b.w;
  }
  scores[index] = total + biases[c];
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
