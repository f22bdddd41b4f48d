// Random forest over 28 x 28 pixels: votes[batch x 10] of the trees, and the same as shares.
// One launch, a block an item, a thread a tree. Votes are counted in integers, so their order changes nothing.

constexpr int PIXELS = 784;
constexpr int CLASSES = 10;
constexpr int TREES = 64;
constexpr int TREE_NODES = 1023;

// A node in 32 bits, from the lowest: 10 of the pixel it asks about (LEAF in a leaf), 8 of the threshold in 1/256 (of
// the class in a leaf), 14 of the left child's place in its tree; the right child follows the left one.
constexpr unsigned LEAF = 1023u;

// grid = batch, block = TREES. nodes[TREES x TREE_NODES].
extern "C" __global__ void tree_votes(const float* __restrict__ pixels, const unsigned* __restrict__ nodes,
                                      int* __restrict__ votes, float* __restrict__ shares) {
  __shared__ int counts[CLASSES];
  const int tree = threadIdx.x;
  if (tree < CLASSES) counts[tree] = 0;
  __syncthreads();
  const float* x = pixels + blockIdx.x * PIXELS;
  const unsigned* root = nodes + tree * TREE_NODES;
  unsigned node = root[0];
  while ((node & 1023u) != LEAF) {
    const float threshold = static_cast<float>((node >> 10) & 255u) * (1.f / 256.f);
    const unsigned right = x[node & 1023u] > threshold ? 1u : 0u;
    node = root[(node >> 18) + right];
  }
  atomicAdd(&counts[(node >> 10) & 255u], 1);
  __syncthreads();
  if (tree >= CLASSES) return;
  const int count = counts[tree];
  votes[blockIdx.x * CLASSES + tree] = count;
  shares[blockIdx.x * CLASSES + tree] = static_cast<float>(count) / TREES;
}
