// A private histogram a block in shared memory, two copies by the parity of the warp, flushed at the end.
extern "C" __global__ void sharedHistogram(const unsigned char* bytes, unsigned* counts, int n) {
  __shared__ unsigned local[2][257];
  for (int b = threadIdx.x; b < 2 * 257; b += blockDim.x) (&local[0][0])[b] = 0;
  __syncthreads();
  unsigned* mine = local[(threadIdx.x >> 5) & 1];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[bytes[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    unsigned sum = local[0][b] + local[1][b];
    if (sum) atomicAdd(&counts[b], sum);
  }
}
