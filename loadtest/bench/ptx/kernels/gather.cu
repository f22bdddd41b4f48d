// out[i] = values[index[i]], one element per thread.
extern "C" __global__ void gather(const float* values, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = values[index[i]];
}
