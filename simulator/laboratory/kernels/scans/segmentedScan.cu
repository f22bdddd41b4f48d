// Segmented inclusive scan of a warp-sized piece: a head flag stops what comes from below. Heads of the lanes below are
// found in the ballot of the flags.
extern "C" __global__ void segmentedScan(const int* values, const unsigned char* heads, int* sums, int* lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  bool in = i < n;
  unsigned flags = __ballot_sync(0xffffffffu, in && heads[i]);
  unsigned below = (flags | 1u) & (0xffffffffu >> (31 - lane));
  int first = 31 - __clz(below);
  int v = in ? values[i] : 0;
  for (int offset = 1; offset < 32; offset <<= 1) {
    int other = __shfl_up_sync(0xffffffffu, v, offset);
    if (lane - offset >= first) v += other;
  }
  if (in) {
    sums[i] = v;
    lengths[i] = lane - first + 1;
  }
}
