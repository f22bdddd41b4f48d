// Exclusive scan of 256 elements a block by up-sweep and down-sweep, two elements a thread, with padding against bank
// conflicts; block sums are scanned by a second kernel and added by a third.
#define PAD(i) ((i) + ((i) >> 5))

extern "C" __global__ void blellochScan(const int* in, int* out, int* blockSums, int n) {
  __shared__ int tree[PAD(256)];
  int t = threadIdx.x, first = blockIdx.x * 256;
  tree[PAD(t)] = first + t < n ? in[first + t] : 0;
  tree[PAD(t + 128)] = first + t + 128 < n ? in[first + t + 128] : 0;
  int offset = 1;
  for (int width = 128; width > 0; width >>= 1) {
    __syncthreads();
    if (t < width) tree[PAD(offset * (2 * t + 2) - 1)] += tree[PAD(offset * (2 * t + 1) - 1)];
    offset *= 2;
  }
  if (t == 0) {
    blockSums[blockIdx.x] = tree[PAD(255)];
    tree[PAD(255)] = 0;
  }
  for (int width = 1; width < 256; width *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < width) {
      int left = PAD(offset * (2 * t + 1) - 1), right = PAD(offset * (2 * t + 2) - 1);
      int kept = tree[left];
      tree[left] = tree[right];
      tree[right] += kept;
    }
  }
  __syncthreads();
  if (first + t < n) out[first + t] = tree[PAD(t)];
  if (first + t + 128 < n) out[first + t + 128] = tree[PAD(t + 128)];
}

extern "C" __global__ void scanSums(int* sums, int blocks) {
  int running = 0;
  for (int b = 0; b < blocks; b++) {
    int sum = sums[b];
    sums[b] = running;
    running += sum;
  }
}

extern "C" __global__ void addSums(int* out, const int* sums, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] += sums[blockIdx.x];
}
