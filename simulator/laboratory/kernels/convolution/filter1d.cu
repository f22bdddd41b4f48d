// A filter of 9 taps in constant memory that the kernel's module initialises, zero outside the signal.
__constant__ float taps[9] = {0.015625f, -0.0625f, 0.125f, 0.25f, 0.5f, 0.25f, 0.125f, -0.0625f, 0.015625f};

extern "C" __global__ void filter1d(const float* in, float* out, int n) {
  extern __shared__ float window[];
  int t = threadIdx.x, first = blockIdx.x * blockDim.x - 4;
  for (int w = t; w < blockDim.x + 8; w += blockDim.x) {
    int i = first + w;
    window[w] = i >= 0 && i < n ? in[i] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 9; k++) sum = __fmaf_rn(taps[k], window[t + k], sum);
  if (blockIdx.x * blockDim.x + t < n) out[blockIdx.x * blockDim.x + t] = sum;
}
