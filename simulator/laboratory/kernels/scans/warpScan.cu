// Inclusive scan of a block by shuffles: within warps, over the warps' totals, and the sum of both. 64-bit integers.
__device__ long long scanWarp(long long v) {
  int lane = threadIdx.x & 31;
  for (int offset = 1; offset < 32; offset *= 2) {
    long long below = __shfl_up_sync(0xffffffffu, v, offset);
    if (lane >= offset) v += below;
  }
  return v;
}

extern "C" __global__ void warpScan(const int* in, long long* out, int n) {
  __shared__ long long totals[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  long long v = scanWarp(i < n ? (long long)in[i] << 20 : 0);
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  if (warp == 0) totals[lane] = scanWarp(lane < blockDim.x / 32 ? totals[lane] : 0);
  __syncthreads();
  if (warp > 0) v += totals[warp - 1];
  if (i < n) out[i] = v;
}
