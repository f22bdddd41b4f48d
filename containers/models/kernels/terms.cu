// Terms of a text: pairs (place, value), `most` of them an item, of which the first whose place is below 0 ends the list.

// y = sum of value * weights[place]: one thread a result; grid = ceilDiv(count, 128), block = 128.
extern "C" __global__ void term_product_f64(const double* __restrict__ terms, const double* __restrict__ weights,
                                            double* __restrict__ y, int count, int most, int features, int outputs) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) return;
  const int item = index / outputs, output = index % outputs;
  const double* own = terms + 2LL * item * most;
  double total = 0.0;
  for (int k = 0; k < most; k++) {
    const double place = own[2 * k];
    if (!(place >= 0.0 && place < features)) break;
    total += own[2 * k + 1] * weights[static_cast<long long>(place) * outputs + output];
  }
  y[index] = total;
}

// y = all features, 0 where there is no term: one block an item; grid = batch, block = 128.
extern "C" __global__ void term_row_f64(const double* __restrict__ terms, double* __restrict__ y, int most, int features) {
  const double* own = terms + 2LL * blockIdx.x * most;
  double* row = y + static_cast<long long>(blockIdx.x) * features;
  for (int k = threadIdx.x; k < features; k += blockDim.x) row[k] = 0.0;
  __syncthreads();
  for (int k = threadIdx.x; k < most; k += blockDim.x) {
    const double place = own[2 * k];
    if (place >= 0.0 && place < features) row[static_cast<int>(place)] = own[2 * k + 1];
  }
}
