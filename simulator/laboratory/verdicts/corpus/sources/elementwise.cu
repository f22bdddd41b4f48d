// Elementwise kernels as a tensor library launches them.
#include "corpus.cuh"

KERNEL fillValue(float *out, float value, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = value;
}

KERNEL arange(int *out, int start, int step, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = start + (int)i * step;
}

KERNEL copyTensor(float *RESTRICT out, const float *RESTRICT in, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = in[i];
}

KERNEL addTensors(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) c[i] = a[i] + b[i];
}

KERNEL mulTensors(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx n) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  c[i] = a[i] * b[i];
}

KERNEL biasAdd(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT bias, idx rows, idx cols) {
  idx i = GLOBAL_ID;
  if (i < rows * cols) out[i] = in[i] + bias[i % cols];
}

KERNEL biasAdd2d(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT bias, idx rows, idx cols) {
  idx x = (idx)blockIdx.x * blockDim.x + threadIdx.x, y = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cols && y < rows) out[y * cols + x] = in[y * cols + x] + bias[x];
}

KERNEL relu(float *RESTRICT out, const float *RESTRICT in, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = fmaxf(in[i], 0.0f);
}

// The example of a thread that goes over a row of its own.
KERNEL reluRows(float *RESTRICT out, const float *RESTRICT in, idx n) {
  idx row = GLOBAL_ID;
  LOOP for (idx i = 0; i < n; i++) out[row * n + i] = fmaxf(in[row * n + i], 0.0f);
}

KERNEL gelu(float *RESTRICT out, const float *RESTRICT in, idx n) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  float x = in[i];
  out[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

KERNEL castToHalf(__half *RESTRICT out, const float *RESTRICT in, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = __float2half(in[i]);
}

KERNEL quantizeBytes(signed char *RESTRICT out, const float *RESTRICT in, float scale, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = (signed char)fminf(fmaxf(in[i] * scale, -128.0f), 127.0f);
}

KERNEL invertBytes(unsigned char *RESTRICT out, const unsigned char *RESTRICT in, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = 255 - in[i];
}

KERNEL residualAdd(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT residual, idx n) {
  idx stride = (idx)gridDim.x * blockDim.x;
  LOOP for (idx i = GLOBAL_ID; i < n; i += stride) out[i] = in[i] + residual[i];
}

KERNEL scaleStrided(float *RESTRICT out, const float *RESTRICT in, float factor, idx n) {
  idx stride = (idx)gridDim.x * blockDim.x;
  LOOP for (idx i = GLOBAL_ID; i < n; i += stride) out[i] = in[i] * factor;
}

KERNEL addVectorized(float4 *RESTRICT c, const float4 *RESTRICT a, const float4 *RESTRICT b, idx quads) {
  idx i = GLOBAL_ID;
  if (i >= quads) return;
  float4 x = a[i], y = b[i];
  c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// Blocks that are full go four at a time, the last one element by element.
KERNEL scaleVectorized(float *RESTRICT out, const float *RESTRICT in, float factor, idx n) {
  idx base = (idx)blockIdx.x * (blockDim.x * 4), rest = n - base;
  if (rest >= (idx)(blockDim.x * 4)) {
    float4 v = ((const float4 *)(in + base))[threadIdx.x];
    ((float4 *)(out + base))[threadIdx.x] = make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
  } else {
    LOOP for (idx i = threadIdx.x; i < rest; i += blockDim.x) out[base + i] = in[base + i] * factor;
  }
}

KERNEL whereSelect(float *RESTRICT out, const unsigned char *RESTRICT mask, const float *RESTRICT a,
                   const float *RESTRICT b, idx n) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  if (mask[i]) out[i] = a[i];
  else out[i] = b[i];
}

// What is stored at all depends on memory.
KERNEL maskedStore(float *RESTRICT out, const int *RESTRICT mask, const float *RESTRICT in, idx n) {
  idx i = GLOBAL_ID;
  if (i < n && mask[i] != 0) out[i] = in[i];
}

KERNEL thresholdBackward(float *RESTRICT out, const float *RESTRICT grad, const float *RESTRICT in, float at, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = in[i] > at ? grad[i] : 0.0f;
}

KERNEL flip(float *RESTRICT out, const float *RESTRICT in, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[n - 1 - i] = in[i];
}

KERNEL concatTwo(float *RESTRICT out, const float *RESTRICT a, const float *RESTRICT b, idx n, idx m) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = a[i];
  else if (i < n + m) out[i] = b[i - n];
}

struct TensorOperands {
  float *out;
  const float *left;
  const float *right;
  int count, leftStride, rightStride;
};

KERNEL broadcastAdd(TensorOperands t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < t.count) t.out[i] = t.left[i * t.leftStride] + t.right[i * t.rightStride];
}

KERNEL stridedCopy(float *RESTRICT out, const float *RESTRICT in, idx n, idx outStride, idx inStride) {
  idx i = GLOBAL_ID;
  if (i < n) out[i * outStride] = in[i * inStride];
}

KERNEL indexSelect(float *RESTRICT out, const float *RESTRICT in, const int *RESTRICT index, idx rows, idx cols) {
  idx i = GLOBAL_ID;
  if (i < rows * cols) out[i] = in[index[i / cols] * cols + i % cols];
}

KERNEL scatterRows(float *RESTRICT out, const float *RESTRICT in, const int *RESTRICT index, idx rows, idx cols) {
  idx i = GLOBAL_ID;
  if (i < rows * cols) out[index[i / cols] * cols + i % cols] = in[i];
}

// Random numbers whose state stays in memory.
KERNEL dropoutState(float *RESTRICT out, const float *RESTRICT in, unsigned *state, float keep, idx n) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  unsigned s = state[i] * 1664525u + 1013904223u;
  state[i] = s;
  out[i] = (s >> 8) * (1.0f / 16777216.0f) < keep ? in[i] / keep : 0.0f;
}

// The same numbers from a seed and a counter: nothing is kept.
KERNEL dropoutCounter(float *RESTRICT out, const float *RESTRICT in, unsigned seed, float keep, idx n) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  unsigned s = ((unsigned)i ^ seed) * 2654435761u;
  s ^= s >> 15;
  s *= 2246822519u;
  s ^= s >> 13;
  out[i] = (s >> 8) * (1.0f / 16777216.0f) < keep ? in[i] / keep : 0.0f;
}

KERNEL sgdStep(float *weights, const float *RESTRICT gradients, float rate, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) weights[i] -= rate * gradients[i];
}

KERNEL updateRunning(float *mean, float *variance, const float *RESTRICT batchMean, const float *RESTRICT batchVariance,
                     float momentum, idx channels) {
  idx c = GLOBAL_ID;
  if (c >= channels) return;
  mean[c] = (1.0f - momentum) * mean[c] + momentum * batchMean[c];
  variance[c] = (1.0f - momentum) * variance[c] + momentum * batchVariance[c];
}
