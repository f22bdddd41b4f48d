// One-against-one decisions of a support vector machine, and their votes, as libsvm has them.

// One thread an (item, pair of classes); grid = ceilDiv(batch * pairs, blockDim.x). kernelValues[batch x vectors],
// coefficients[(classes - 1) x vectors], intercepts[pairs], starts[classes + 1]: where each class's vectors begin.
// decisions[batch x pairs], pairs in the order (0,1), (0,2), ..., (1,2), ...
extern "C" __global__ void pair_decisions_f64(const double* __restrict__ kernelValues,
                                              const double* __restrict__ coefficients,
                                              const double* __restrict__ intercepts, const int* __restrict__ starts,
                                              double* __restrict__ decisions, long long count, int classes, int vectors) {
  const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const int pairs = classes * (classes - 1) / 2;
  const int pair = index % pairs;
  const double* values = kernelValues + index / pairs * vectors;
  int i = 0, j = pair;
  for (; j >= classes - 1 - i; i++) j -= classes - 1 - i;
  j += i + 1;
  const double* first = coefficients + static_cast<long long>(j - 1) * vectors;
  const double* second = coefficients + static_cast<long long>(i) * vectors;
  double sum = 0;
#pragma unroll 4
  for (int k = starts[i]; k < starts[i + 1]; k++) sum += first[k] * values[k];
#pragma unroll 4
  for (int k = starts[j]; k < starts[j + 1]; k++) sum += second[k] * values[k];
  decisions[index] = sum + intercepts[pair];
}

// One thread an (item, class); grid = ceilDiv(batch * classes, blockDim.x). decisions[batch x pairs].
// votes[batch x classes]: a pair votes for its first class when the decision is above 0, otherwise for its second.
// scores[batch x classes]: votes and, below 1/3, the sum of decisions: scikit-learn's one-against-rest decision function.
extern "C" __global__ void pair_votes_f64(const double* __restrict__ decisions, double* __restrict__ votes,
                                          double* __restrict__ scores, long long count, int classes) {
  const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const int own = index % classes;
  const double* pairs = decisions + index / classes * (classes * (classes - 1) / 2);
  double won = 0, scored = 0, confidence = 0;
  for (int other = 0; other < classes; other++) {
    if (other == own) continue;
    const int i = min(own, other), j = max(own, other);
    const double decision = pairs[i * classes - i * (i + 1) / 2 + j - i - 1];
    if (own == i) {
      won += decision > 0 ? 1 : 0;
      scored += decision >= 0 ? 1 : 0;
      confidence += decision;
    } else {
      won += decision > 0 ? 0 : 1;
      scored += decision >= 0 ? 0 : 1;
      confidence -= decision;
    }
  }
  votes[index] = won;
  scores[index] = scored + confidence / (3 * (fabs(confidence) + 1));
}
