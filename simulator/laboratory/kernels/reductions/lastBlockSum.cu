// One kernel sums everything: each block publishes its part, and the block that finds itself last folds the parts.
__device__ unsigned finished = 0;

extern "C" __global__ void lastBlockSum(const int* x, volatile int* parts, long long* total, int n) {
  __shared__ int shared[128];
  __shared__ bool isLast;
  int t = threadIdx.x, sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  shared[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half >>= 1) {
    if (t < half) shared[t] += shared[t + half];
    __syncthreads();
  }
  if (t == 0) {
    parts[blockIdx.x] = shared[0];
    __threadfence();
    isLast = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast) return;
  if (t == 0) {
    long long all = 0;
    for (int b = 0; b < gridDim.x; b++) all += parts[b];
    *total += all;
  }
}
