// Scan in one pass with decoupled look-back: blocks number themselves in the order in which they start, publish their
// sum, and walk back over the blocks before them, waiting for those that have published nothing yet.
enum : unsigned { NOTHING = 0, SUM = 1, PREFIX = 2 };

extern "C" __global__ void lookbackScan(const int* in, int* out, volatile unsigned long long* states, unsigned* ticket,
                                        int n) {
  __shared__ int shared[128];
  __shared__ unsigned tile;
  __shared__ int before;
  int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(ticket, 1u);
  __syncthreads();
  int i = tile * 128 + t;
  shared[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < 128; offset *= 2) {
    int below = t >= offset ? shared[t - offset] : 0;
    __syncthreads();
    shared[t] += below;
    __syncthreads();
  }
  if (t == 0) {
    int sum = shared[127], prefix = 0;
    if (tile > 0) {
      states[tile] = ((unsigned long long)SUM << 32) | (unsigned)sum;
      __threadfence();
      for (int at = (int)tile - 1; at >= 0;) {
        unsigned long long state = states[at];
        unsigned kind = (unsigned)(state >> 32);
        if (kind == NOTHING) continue;
        prefix += (int)(unsigned)state;
        if (kind == PREFIX) break;
        at--;
      }
    }
    before = prefix;
    __threadfence();
    states[tile] = ((unsigned long long)PREFIX << 32) | (unsigned)(prefix + sum);
  }
  __syncthreads();
  if (i < n) out[i] = before + shared[t];
}
