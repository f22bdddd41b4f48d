// Integer reductions of a warp by redux.sync, over all lanes and over those of a mask.
extern "C" __global__ void reduxSync(const int* x, int* sums, int* smallest, unsigned* largest, unsigned* ands,
                                     unsigned* ors, unsigned* xors, int* evenSums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, warp = i >> 5;
  int v = x[i];
  int sum = __reduce_add_sync(0xffffffffu, v);
  int least = __reduce_min_sync(0xffffffffu, v);
  unsigned most = __reduce_max_sync(0xffffffffu, (unsigned)v);
  unsigned all = __reduce_and_sync(0xffffffffu, (unsigned)v);
  unsigned any = __reduce_or_sync(0xffffffffu, (unsigned)v);
  unsigned odd = __reduce_xor_sync(0xffffffffu, (unsigned)v);
  if ((i & 1) == 0) {
    int even = __reduce_add_sync(0x55555555u, v);
    evenSums[i >> 1] = even;
  }
  if ((i & 31) == 0) {
    sums[warp] = sum;
    smallest[warp] = least;
    largest[warp] = most;
    ands[warp] = all;
    ors[warp] = any;
    xors[warp] = odd;
  }
}
