// Rows of floats to int8 with a scale a row, back to floats, and dot products of the rows by dp4a.
extern "C" __global__ void quantise(const float* x, signed char* q, float* scales, int columns) {
  __shared__ float largest[64];
  int row = blockIdx.x, t = threadIdx.x;
  float most = 0.0f;
  for (int c = t; c < columns; c += 64) most = fmaxf(most, fabsf(x[row * columns + c]));
  largest[t] = most;
  __syncthreads();
  for (int step = 32; step > 0; step >>= 1) {
    if (t < step) largest[t] = fmaxf(largest[t], largest[t + step]);
    __syncthreads();
  }
  float scale = largest[0] / 127.0f;
  if (t == 0) scales[row] = scale;
  for (int c = t; c < columns; c += 64) q[row * columns + c] = (signed char)__float2int_rn(x[row * columns + c] / scale);
}

extern "C" __global__ void dequantise(const signed char* q, const float* scales, float* x, int columns) {
  int c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c < columns) x[blockIdx.x * columns + c] = (float)q[blockIdx.x * columns + c] * scales[blockIdx.x];
}

extern "C" __global__ void dotRows(const int* a, int words, int rows, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * rows) return;
  int sum = 0;
  for (int w = 0; w < words; w++) sum = __dp4a(a[(i / rows) * words + w], a[(i % rows) * words + w], sum);
  out[i] = sum;
}
