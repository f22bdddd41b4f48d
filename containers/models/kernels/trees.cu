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

// Trees of any library, added up; one thread an (item, target); grid = ceilDiv(batch * targets, blockDim.x).
// roots[trees]; nodes[5 x node]: feature, mode, left, right, and of a leaf where its votes begin. Modes: 0 leaf, 1 <=, 2 <,
// 3 >=, 4 >, 5 ==, 6 !=, and 8 more where what is missing, which is NaN, goes to the left. Votes of a leaf: from
// starts[leaf] to starts[leaf + 1], each a target and a weight. Comparisons are in double precision, or in single where
// `single` is not 0. `aggregate`: 0 sum, 1 mean, 2 smallest, 3 largest.
extern "C" __global__ void tree_votes_f64(const double* __restrict__ x, const int* __restrict__ roots,
                                          const int* __restrict__ nodes, const double* __restrict__ thresholds,
                                          const int* __restrict__ starts, const int* __restrict__ targets,
                                          const double* __restrict__ weights, const double* __restrict__ base,
                                          double* __restrict__ y, int count, int trees, int features, int width,
                                          int aggregate, int single) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const int target = index % width;
  const double* item = x + static_cast<long long>(index / width) * features;
  double total = 0.0;
  bool isFirst = true;
  for (int tree = 0; tree < trees; tree++) {
    const int* node = nodes + 5LL * roots[tree];
    double threshold = thresholds[roots[tree]];
    while ((node[1] & 7) != 0) {
      double value = item[node[0]];
      if (single != 0) value = static_cast<double>(static_cast<float>(value));
      const int mode = node[1];
      bool toLeft;
      if (isnan(value)) toLeft = (mode & 8) != 0;
      else {
        const int kind = mode & 7;
        toLeft = kind == 1 ? value <= threshold : kind == 2 ? value < threshold : kind == 3 ? value >= threshold
               : kind == 4 ? value > threshold : kind == 5 ? value == threshold : value != threshold;
      }
      const int next = toLeft ? node[2] : node[3];
      node = nodes + 5LL * next;
      threshold = thresholds[next];
    }
    for (int vote = starts[node[4]]; vote < starts[node[4] + 1]; vote++) {
      if (targets[vote] != target) continue;
      const double weight = weights[vote];
      if (aggregate <= 1) total += weight;
      else if (isFirst || (aggregate == 2 ? weight < total : weight > total)) total = weight;
      isFirst = false;
    }
  }
  y[index] = (aggregate == 1 ? total / trees : total) + base[target];
}
