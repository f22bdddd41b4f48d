// A warp a row: maximum and sum by butterflies, exponentials by expf.
extern "C" __global__ void softmaxRows(const float* x, float* y, int rows, int columns, float scale) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float* in = x + row * columns;
  float most = -__int_as_float(0x7f800000);
  for (int c = threadIdx.x; c < columns; c += 32) most = fmaxf(most, in[c] * scale);
  for (int mask = 16; mask > 0; mask /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, mask));
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) sum += expf(in[c] * scale - most);
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  for (int c = threadIdx.x; c < columns; c += 32) y[row * columns + c] = expf(in[c] * scale - most) / sum;
}
