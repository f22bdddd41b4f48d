// Shortest paths by relaxing every edge until nothing changes: distances in two buffers, so that a round is defined, and
// float distances ordered by atomicMin on their bits.
extern "C" __global__ void relax(const int* sources, const int* targets, const float* weights, const float* distances,
                                 int* next, int* improved, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  float through = distances[sources[e]] + weights[e];
  int old = atomicMin(&next[targets[e]], __float_as_int(through));
  if (old > __float_as_int(through)) atomicExch(improved, 1);
}

extern "C" __global__ void settleRound(float* distances, const float* next, int* rounds, int* improved, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices) distances[v] = next[v];
  if (v == 0) {
    *rounds += *improved;
    *improved = 0;
  }
}
