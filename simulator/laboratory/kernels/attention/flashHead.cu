// One attention head with an online softmax: a block of queries walks over tiles of keys and values, rescales what it has
// as the maximum grows, and masks the future. Exponentials by exp2f of scaled scores.
#define DIM 16
#define TILE 8

extern "C" __global__ void flashHead(const float* q, const float* k, const float* v, float* out, float* logSums, int n,
                                     float scaleLog2) {
  __shared__ float keys[TILE][DIM], values[TILE][DIM];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float query[DIM], sum[DIM], most = -1e30f, total = 0.0f;
#pragma unroll
  for (int d = 0; d < DIM; d++) {
    query[d] = row < n ? q[row * DIM + d] * scaleLog2 : 0.0f;
    sum[d] = 0.0f;
  }
  for (int first = 0; first < n; first += TILE) {
    for (int at = threadIdx.x; at < TILE * DIM; at += blockDim.x) {
      int j = first + at / DIM;
      keys[at / DIM][at % DIM] = j < n ? k[j * DIM + at % DIM] : 0.0f;
      values[at / DIM][at % DIM] = j < n ? v[j * DIM + at % DIM] : 0.0f;
    }
    __syncthreads();
    float score[TILE], tileMost = most;
#pragma unroll
    for (int j = 0; j < TILE; j++) {
      float dot = 0.0f;
#pragma unroll
      for (int d = 0; d < DIM; d++) dot = fmaf(query[d], keys[j][d], dot);
      score[j] = first + j <= row && first + j < n ? dot : -1e30f;
      tileMost = fmaxf(tileMost, score[j]);
    }
    float shrink = exp2f(most - tileMost);
    total *= shrink;
#pragma unroll
    for (int d = 0; d < DIM; d++) sum[d] *= shrink;
#pragma unroll
    for (int j = 0; j < TILE; j++) {
      float p = score[j] > -1e29f ? exp2f(score[j] - tileMost) : 0.0f;
      total += p;
#pragma unroll
      for (int d = 0; d < DIM; d++) sum[d] = fmaf(p, values[j][d], sum[d]);
    }
    most = tileMost;
    __syncthreads();
  }
  if (row >= n) return;
  for (int d = 0; d < DIM; d++) out[row * DIM + d] = sum[d] / total;
  logSums[row] = (most + log2f(total)) * 0.69314718f;
}
