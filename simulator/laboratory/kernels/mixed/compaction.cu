// Stream compaction: those that pass keep their order within a block by ranks from ballots; blocks take their place by a
// counter, in the order in which they come; and in order throughout by a scan of the blocks' counts.
__device__ __forceinline__ int rankInBlock(bool keeps, int* warpCounts, int* total) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  unsigned votes = __ballot_sync(0xffffffffu, keeps), below;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  if (lane == 0) warpCounts[warp] = __popc(votes);
  int everyone = __syncthreads_count(keeps);
  int before = 0;
  for (int w = 0; w < warp; w++) before += warpCounts[w];
  *total = everyone;
  return before + __popc(votes & below) + 0 * warps;
}

extern "C" __global__ void compactAny(const int* in, int* out, int* cursor, int n) {
  __shared__ int warpCounts[8], base;
  int i = blockIdx.x * blockDim.x + threadIdx.x, total;
  bool keeps = i < n && in[i] % 3 == 0;
  int rank = rankInBlock(keeps, warpCounts, &total);
  if (threadIdx.x == 0) base = atomicAdd(cursor, total);
  __syncthreads();
  if (keeps) out[base + rank] = in[i];
}

extern "C" __global__ void countBlocks(const int* in, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int total = __syncthreads_count(i < n && in[i] % 3 == 0);
  int some = __syncthreads_or(i < n && in[i] == 0), all = __syncthreads_and(i >= n || in[i] >= 0);
  if (threadIdx.x == 0) counts[blockIdx.x] = total | some << 16 | all << 17;
}

extern "C" __global__ void compactOrdered(const int* in, const int* counts, int* out, int n) {
  __shared__ int warpCounts[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x, total, base = 0;
  for (int b = 0; b < blockIdx.x; b++) base += counts[b] & 0xffff;
  bool keeps = i < n && in[i] % 3 == 0;
  int rank = rankInBlock(keeps, warpCounts, &total);
  if (keeps) out[base + rank] = in[i];
}
