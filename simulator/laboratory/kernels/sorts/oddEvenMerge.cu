// Batcher's odd-even merge sort of 512 floats a block; -0 and 0 by total order of their bits.
__device__ int orderOf(float f) {
  int bits = __float_as_int(f);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}

extern "C" __global__ void oddEvenMerge(float* x, int n) {
  __shared__ float s[512];
  int t = threadIdx.x, first = blockIdx.x * 512;
  s[t] = first + t < n ? x[first + t] : __int_as_float(0x7f800000);
  s[t + 256] = first + t + 256 < n ? x[first + t + 256] : __int_as_float(0x7f800000);
  for (int size = 2; size <= 512; size *= 2) {
    int stride = size / 2, offset = t & (stride - 1);
    __syncthreads();
    int a = 2 * t - (t & (stride - 1)), b = a + stride;
    if (orderOf(s[a]) > orderOf(s[b])) { float kept = s[a]; s[a] = s[b]; s[b] = kept; }
    for (stride /= 2; stride > 0; stride /= 2) {
      __syncthreads();
      int high = 2 * t - (t & (stride - 1));
      if (offset >= stride) {
        a = high - stride;
        b = high;
        if (orderOf(s[a]) > orderOf(s[b])) { float kept = s[a]; s[a] = s[b]; s[b] = kept; }
      }
    }
  }
  __syncthreads();
  if (first + t < n) x[first + t] = s[t];
  if (first + t + 256 < n) x[first + t + 256] = s[t + 256];
}
