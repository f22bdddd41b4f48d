// Four-bit radix sort of one block's 256 keys, stable: rank within the warp by match, warp offsets from counts in shared
// memory; each launch sorts by one digit from one buffer into the other.
extern "C" __global__ void radixPass(const unsigned* in, unsigned* out, int shift) {
  __shared__ unsigned counts[8][16], starts[16];
  unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, base = blockIdx.x * 256;
  if (t < 128) counts[t >> 4][t & 15] = 0;
  __syncthreads();
  unsigned key = in[base + t], digit = (key >> shift) & 15;
  unsigned peers = __match_any_sync(0xffffffffu, digit);
  unsigned rank = __popc(peers & ((1u << lane) - 1));
  if (rank == 0) counts[warp][digit] = __popc(peers);
  __syncthreads();
  if (t < 16) {
    unsigned running = 0;
    for (int w = 0; w < 8; w++) {
      unsigned count = counts[w][t];
      counts[w][t] = running;
      running += count;
    }
    unsigned inclusive = running;
    for (int offset = 1; offset < 16; offset <<= 1) {
      unsigned below = __shfl_up_sync(0xffffu, inclusive, offset, 16);
      if (t >= offset) inclusive += below;
    }
    starts[t] = inclusive - running;
  }
  __syncthreads();
  out[base + starts[digit] + counts[warp][digit] + rank] = key;
}
