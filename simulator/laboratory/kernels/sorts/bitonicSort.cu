// Sorts 256 keys with their values a block by the bitonic network in shared memory.
extern "C" __global__ void bitonicSort(unsigned* keys, unsigned* values) {
  __shared__ unsigned k[256], v[256];
  unsigned base = blockIdx.x * 256, t = threadIdx.x;
  for (unsigned i = t; i < 256; i += 128) {
    k[i] = keys[base + i];
    v[i] = values[base + i];
  }
  for (unsigned size = 2; size <= 256; size <<= 1)
    for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned low = 2 * t - (t & (stride - 1)), high = low + stride;
      bool up = (low & size) == 0;
      if ((k[low] > k[high]) == up) {
        unsigned key = k[low], value = v[low];
        k[low] = k[high];
        v[low] = v[high];
        k[high] = key;
        v[high] = value;
      }
    }
  __syncthreads();
  for (unsigned i = t; i < 256; i += 128) {
    keys[base + i] = k[i];
    values[base + i] = v[i];
  }
}
