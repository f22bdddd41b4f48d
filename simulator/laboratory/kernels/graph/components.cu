// Connected components: hook the larger root under the smaller by compare-and-swap and atomicMin, then halve the paths.
__device__ int rootOf(volatile int* parent, int v) {
  int p = parent[v];
  while (p != parent[p]) p = parent[p];
  return p;
}

extern "C" __global__ void hook(const int2* edges, int* parent, int* changed, int count) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  int a = rootOf(parent, edges[e].x), b = rootOf(parent, edges[e].y);
  while (a != b) {
    int high = max(a, b), low = min(a, b);
    int found = atomicCAS(&parent[high], high, low);
    if (found == high) {
      atomicOr(changed, 1);
      break;
    }
    a = rootOf(parent, found);
    b = low;
  }
}

extern "C" __global__ void shorten(int* parent, int* smallest, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices) return;
  int root = rootOf(parent, v);
  parent[v] = root;
  atomicMin(&smallest[root], v);
}

extern "C" __global__ void countRoots(const int* parent, int* roots, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  bool isRoot = v < vertices && parent[v] == v;
  unsigned ballot = __ballot_sync(0xffffffffu, isRoot);
  if ((threadIdx.x & 31) == 0 && ballot) atomicAdd(roots, __popc(ballot));
}
