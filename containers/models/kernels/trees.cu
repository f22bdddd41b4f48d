// An ensemble of decision trees: tree_leaves, then leaf_means. All trees' nodes lie in the same arrays; children come
// after their parents.

// One thread an (item, tree); grid = ceilDiv(batch * trees, blockDim.x). x[batch x features], roots[trees],
// leaves[batch x trees]. feature[node] is -1 at a leaf, whose row of values is left[node]. An input goes to the left when
// its value, rounded to single precision as scikit-learn does, is at most the threshold.
extern "C" __global__ void tree_leaves_f64(const double* __restrict__ x, const int* __restrict__ roots,
                                           const int* __restrict__ feature, const double* __restrict__ threshold,
                                           const int* __restrict__ left, const int* __restrict__ right,
                                           int* __restrict__ leaves, long long count, int trees, int features) {
  const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const double* item = x + index / trees * features;
  int node = roots[index % trees];
  for (int k = feature[node]; k >= 0; k = feature[node]) {
    node = static_cast<double>(static_cast<float>(item[k])) <= threshold[node] ? left[node] : right[node];
  }
  leaves[index] = left[node];
}

// The same, for trees that know where values go that are missing, which are NaN: feature[node] is twice the feature, and
// one more where they go to the left.
extern "C" __global__ void tree_leaves_missing_f64(const double* __restrict__ x, const int* __restrict__ roots,
                                                   const int* __restrict__ feature,
                                                   const double* __restrict__ threshold, const int* __restrict__ left,
                                                   const int* __restrict__ right, int* __restrict__ leaves,
                                                   long long count, int trees, int features) {
  const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const double* item = x + index / trees * features;
  int node = roots[index % trees];
  for (int k = feature[node]; k >= 0; k = feature[node]) {
    const double value = static_cast<double>(static_cast<float>(item[k >> 1]));
    const bool toLeft = value <= threshold[node] || ((k & 1) != 0 && isnan(value));
    node = toLeft ? left[node] : right[node];
  }
  leaves[index] = left[node];
}

// One thread an (item, class); grid = ceilDiv(batch * classes, blockDim.x). values[leaves x classes],
// y[batch x classes] = the sum over the trees, in their order, divided by their number.
extern "C" __global__ void leaf_means_f64(const int* __restrict__ leaves, const double* __restrict__ values,
                                          double* __restrict__ y, long long count, int trees, int classes) {
  const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const int* mine = leaves + index / classes * trees;
  const double* column = values + index % classes;
  double total = 0;
#pragma unroll 4
  for (int tree = 0; tree < trees; tree++) total += column[static_cast<long long>(mine[tree]) * classes];
  y[index] = total / trees;
}
