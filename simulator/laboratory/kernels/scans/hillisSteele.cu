// Inclusive scan of a block by doubling offsets, double-buffered: works for any block size.
extern "C" __global__ void hillisSteele(const float* in, float* out, int n) {
  extern __shared__ float buffer[];
  int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t, from = 0, to = 1;
  buffer[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < size; offset *= 2) {
    buffer[to * size + t] = t >= offset ? buffer[from * size + t] + buffer[from * size + t - offset]
                                        : buffer[from * size + t];
    __syncthreads();
    from = to;
    to = 1 - to;
  }
  if (i < n) out[i] = buffer[from * size + t];
}
