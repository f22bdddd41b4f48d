// Sum a block by a tree in shared memory, interleaved addressing last to first; odd sizes padded with zeros.
extern "C" __global__ void treeSum(const float* x, float* sums, int n) {
  extern __shared__ float tree[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  float sum = i < n ? x[i] : 0.0f;
  if (i + blockDim.x < n) sum += x[i + blockDim.x];
  tree[t] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
    if (t < half) tree[t] += tree[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = tree[0];
}
