// nvcc: -fmad=false
// Layer normalisation with sums in a fixed order and IEEE division and square root: defined to the bit.
extern "C" __global__ void layerNorm(const float* x, const float* gain, const float* bias, float* y, float* means,
                                     int columns) {
  __shared__ float sums[64];
  const float* row = x + blockIdx.x * columns;
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int c = t; c < columns; c += 64) sum += row[c];
  sums[t] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half >>= 1) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  float mean = sums[0] / (float)columns;
  __syncthreads();
  sum = 0.0f;
  for (int c = t; c < columns; c += 64) sum += (row[c] - mean) * (row[c] - mean);
  sums[t] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half >>= 1) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  float deviation = sqrtf(sums[0] / (float)columns + 1e-5f);
  for (int c = t; c < columns; c += 64) y[blockIdx.x * columns + c] = (row[c] - mean) / deviation * gain[c] + bias[c];
  if (t == 0) means[blockIdx.x] = mean;
}
