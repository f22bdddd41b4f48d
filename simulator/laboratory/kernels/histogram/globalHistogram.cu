// Bins of bytes counted straight into global memory, four bytes a load; and the sum of bytes by bin.
extern "C" __global__ void globalHistogram(const unsigned* words, unsigned* counts, unsigned long long* places, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned w = words[i];
#pragma unroll
    for (int b = 0; b < 4; b++) {
      unsigned bin = (w >> (8 * b)) & 0x3f;
      atomicAdd(&counts[bin], 1u);
      atomicMax(&places[bin], (unsigned long long)i << 8 | b);
    }
  }
}
