// Index of the largest value of each row, the first of equal ones; NaN never wins. Classes of a classifier.
struct Best {
  float value;
  int index;
};

__device__ Best better(Best a, Best b) {
  if (b.value > a.value || (b.value == a.value && b.index < a.index)) return b;
  return a;
}

extern "C" __global__ void blockArgmax(const float* x, int* indices, float* values, int columns) {
  __shared__ Best best[96];
  const float* row = x + (size_t)blockIdx.x * columns;
  Best mine = {-__int_as_float(0x7f800000), 0x7fffffff};
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = better(mine, Best{row[c], c});
  best[threadIdx.x] = mine;
  __syncthreads();
  for (int width = blockDim.x; width > 1;) {
    int half = (width + 1) / 2;
    if (threadIdx.x + half < width) best[threadIdx.x] = better(best[threadIdx.x], best[threadIdx.x + half]);
    width = half;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    indices[blockIdx.x] = best[0].index;
    values[blockIdx.x] = best[0].value;
  }
}
