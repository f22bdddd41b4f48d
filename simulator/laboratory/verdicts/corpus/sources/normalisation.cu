// Normalisations and reductions.
#include "corpus.cuh"

__device__ __forceinline__ float warpSum(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

__device__ __forceinline__ float warpMax(float v) {
  for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}

// Of blocks of whole warps, at most 8.
__device__ __forceinline__ float blockSum(float v) {
  __shared__ float parts[8];
  v = warpSum(v);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < (int)(blockDim.x >> 5); w++) sum += parts[w];
  __syncthreads();
  return sum;
}

KERNEL softmaxRows(float *RESTRICT out, const float *RESTRICT in, idx cols) {
  const float *row = in + blockIdx.x * cols;
  float most = -3.4e38f;
  LOOP for (idx c = threadIdx.x; c < cols; c += blockDim.x) most = fmaxf(most, row[c]);
  __shared__ float parts[8];
  most = warpMax(most);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = most;
  __syncthreads();
  for (int w = 0; w < (int)(blockDim.x >> 5); w++) most = fmaxf(most, parts[w]);
  float sum = 0.0f;
  LOOP for (idx c = threadIdx.x; c < cols; c += blockDim.x) sum += __expf(row[c] - most);
  sum = blockSum(sum);
  LOOP for (idx c = threadIdx.x; c < cols; c += blockDim.x) out[blockIdx.x * cols + c] = __expf(row[c] - most) / sum;
}

// One warp a row, the row in registers.
KERNEL softmaxWarp(float *RESTRICT out, const float *RESTRICT in, idx rows, idx cols) {
  idx row = (idx)blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float kept[4];
  float most = -3.4e38f;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    idx c = threadIdx.x + 32 * k;
    kept[k] = c < cols ? in[row * cols + c] : -3.4e38f;
    most = fmaxf(most, kept[k]);
  }
  most = warpMax(most);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    kept[k] = __expf(kept[k] - most);
    sum += kept[k];
  }
  sum = warpSum(sum);
#pragma unroll
  for (int k = 0; k < 4; k++) {
    idx c = threadIdx.x + 32 * k;
    if (c < cols) out[row * cols + c] = kept[k] / sum;
  }
}

KERNEL layerNorm(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT gain, const float *RESTRICT bias,
                 idx cols, float epsilon) {
  const float *row = in + blockIdx.x * cols;
  float sum = 0.0f, squares = 0.0f;
  LOOP for (idx c = threadIdx.x; c < cols; c += blockDim.x) {
    sum += row[c];
    squares += row[c] * row[c];
  }
  float mean = blockSum(sum) / cols;
  float inverse = rsqrtf(blockSum(squares) / cols - mean * mean + epsilon);
  LOOP for (idx c = threadIdx.x; c < cols; c += blockDim.x)
    out[blockIdx.x * cols + c] = (row[c] - mean) * inverse * gain[c] + bias[c];
}

KERNEL rmsNorm(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT gain, idx cols) {
  idx base = blockIdx.x * cols;
  float squares = 0.0f;
  LOOP for (idx c = threadIdx.x; c < cols; c += blockDim.x) squares += in[base + c] * in[base + c];
  float inverse = rsqrtf(blockSum(squares) / cols + 1e-5f);
  LOOP for (idx c = threadIdx.x; c < cols; c += blockDim.x) out[base + c] = in[base + c] * inverse * gain[c];
}

// One thread a row.
KERNEL logSoftmaxSerial(float *RESTRICT out, const float *RESTRICT in, idx rows, idx cols) {
  idx row = GLOBAL_ID;
  if (row >= rows) return;
  float most = in[row * cols];
  LOOP for (idx c = 1; c < cols; c++) most = fmaxf(most, in[row * cols + c]);
  float sum = 0.0f;
  LOOP for (idx c = 0; c < cols; c++) sum += __expf(in[row * cols + c] - most);
  float shift = most + __logf(sum);
  LOOP for (idx c = 0; c < cols; c++) out[row * cols + c] = in[row * cols + c] - shift;
}

KERNEL argmaxRows(int *RESTRICT out, const float *RESTRICT in, idx rows, idx cols) {
  idx row = GLOBAL_ID;
  if (row >= rows) return;
  int best = 0;
  float most = in[row * cols];
  LOOP for (idx c = 1; c < cols; c++) {
    float v = in[row * cols + c];
    if (v > most) {
      most = v;
      best = (int)c;
    }
  }
  out[row] = best;
}

KERNEL sumBlocks(float *RESTRICT partial, const float *RESTRICT in, idx n) {
  float sum = 0.0f;
  idx stride = (idx)gridDim.x * blockDim.x;
  LOOP for (idx i = GLOBAL_ID; i < n; i += stride) sum += in[i];
  sum = blockSum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

KERNEL sumTree(float *RESTRICT out, const float *RESTRICT in, idx n) {
  extern __shared__ float tree[];
  idx i = GLOBAL_ID;
  tree[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (threadIdx.x < d) tree[threadIdx.x] += tree[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tree[0];
}

KERNEL meanColumns(float *RESTRICT out, const float *RESTRICT in, idx rows, idx cols) {
  idx c = GLOBAL_ID;
  if (c >= cols) return;
  float sum = 0.0f;
  LOOP for (idx r = 0; r < rows; r++) sum += in[r * cols + c];
  out[c] = sum / rows;
}

KERNEL batchNormInference(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT scale,
                          const float *RESTRICT shift, idx images, idx channels, idx pixels) {
  idx p = (idx)blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, image = blockIdx.z;
  if (p < pixels) {
    idx at = (image * channels + c) * pixels + p;
    out[at] = in[at] * scale[c] + shift[c];
  }
}

KERNEL cumulativeSum(float *RESTRICT out, const float *RESTRICT in, idx rows, idx cols) {
  idx row = GLOBAL_ID;
  if (row >= rows) return;
  float sum = 0.0f;
  LOOP for (idx c = 0; c < cols; c++) {
    sum += in[row * cols + c];
    out[row * cols + c] = sum;
  }
}

// The values of a row that an earlier kernel chose.
KERNEL gatherTopK(float *RESTRICT out, const float *RESTRICT in, const int *RESTRICT chosen, idx rows, idx cols, idx k) {
  idx i = GLOBAL_ID;
  if (i < rows * k) out[i] = in[(i / k) * cols + chosen[i]];
}

KERNEL l2Distance(float *RESTRICT out, const float *RESTRICT a, const float *RESTRICT b, idx rows, idx cols) {
  idx row = (idx)blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float sum = 0.0f;
  LOOP for (idx c = threadIdx.x; c < cols; c += 32) {
    float d = a[row * cols + c] - b[row * cols + c];
    sum += d * d;
  }
  sum = warpSum(sum);
  if (threadIdx.x == 0) out[row] = sqrtf(sum);
}

KERNEL histogramBins(int *bins, const unsigned char *RESTRICT in, idx n) {
  __shared__ int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  idx i = GLOBAL_ID;
  if (i < n) atomicAdd(local + (in[i] & 15), 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(bins + threadIdx.x, local[threadIdx.x]);
}
