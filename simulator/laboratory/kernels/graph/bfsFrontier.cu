// Breadth-first search, a level a launch: threads take vertices of the frontier and claim unseen neighbours by
// compare-and-swap; the next frontier grows by atomics, in any order.
extern "C" __global__ void bfsFrontier(const int* starts, const int* targets, int* levels, const int* frontier,
                                       const int* count, int* next, int* nextCount, int level) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < *count; i += gridDim.x * blockDim.x) {
    int v = frontier[i];
    for (int e = starts[v]; e < starts[v + 1]; e++)
      if (atomicCAS(&levels[targets[e]], -1, level) == -1) next[atomicAdd(nextCount, 1)] = targets[e];
  }
}
