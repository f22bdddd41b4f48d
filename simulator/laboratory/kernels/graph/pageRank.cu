// PageRank by pushing along out-edges with float atomics, and by pulling along in-edges in a fixed order.
extern "C" __global__ void spread(const int* starts, const float* rank, float* share, float* pushed, float base,
                                  int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int degree = starts[v + 1] - starts[v];
  share[v] = degree > 0 ? __fdiv_rn(rank[v], (float)degree) : 0.0f;
  pushed[v] = base;
}

extern "C" __global__ void push(const int* starts, const int* targets, const float* share, float* pushed, float damping,
                                int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  for (int e = starts[v]; e < starts[v + 1]; e++) atomicAdd(&pushed[targets[e]], damping * share[v]);
}

extern "C" __global__ void pull(const int* inStarts, const int* inSources, const float* share, float* rank, float base,
                                float damping, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  float sum = 0.0f;
  for (int e = inStarts[v]; e < inStarts[v + 1]; e++) sum = __fadd_rn(sum, share[inSources[e]]);
  rank[v] = __fmaf_rn(damping, sum, base);
}
