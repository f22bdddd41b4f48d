// A thread a row.
extern "C" __global__ void csrScalar(const int* __restrict__ starts, const int* __restrict__ columns,
                                     const float* __restrict__ values, const float* __restrict__ x, float* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int e = starts[row]; e < starts[row + 1]; e++) sum = fmaf(values[e], x[columns[e]], sum);
  y[row] = sum;
}
