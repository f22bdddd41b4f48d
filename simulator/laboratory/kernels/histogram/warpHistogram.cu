// Equal bins of a warp found by match, one atomic for each; and the same by a loop of ballots over the leader's bin.
extern "C" __global__ void warpHistogram(const int* values, int* byMatch, int* byBallot, int* wholeWarps, int bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  bool in = i < n;
  unsigned active = __ballot_sync(0xffffffffu, in);
  if (!in) return;
  int bin = values[i] % bins;
  unsigned peers = __match_any_sync(active, bin);
  if (lane == __ffs(peers) - 1) atomicAdd(&byMatch[bin], __popc(peers));
  int uniform;
  __match_all_sync(active, bin, &uniform);
  if (uniform && lane == __ffs(active) - 1) atomicAdd(wholeWarps, 1);
  for (unsigned rest = active; rest != 0;) {
    int leader = __ffs(rest) - 1;
    int common = __shfl_sync(active, bin, leader);
    unsigned same = __ballot_sync(active, bin == common);
    if (lane == leader) atomicAdd(&byBallot[common], __popc(same));
    rest &= ~same;
  }
}
