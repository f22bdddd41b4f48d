// Merges sorted runs: each element finds its place in the other run by binary search, equal ones of the left run first.
// Runs double from launch to launch; a key carries its place in the low bits of a 64-bit word.
extern "C" __global__ void sortRuns(long long* data, int n) {
  long long run[8];
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (first >= n) return;
  int count = min(8, n - first);
  for (int i = 0; i < count; i++) {
    long long key = data[first + i];
    int at = i;
    while (at > 0 && run[at - 1] > key) {
      run[at] = run[at - 1];
      at--;
    }
    run[at] = key;
  }
  for (int i = 0; i < count; i++) data[first + i] = run[i];
}

extern "C" __global__ void mergeRuns(const long long* in, long long* out, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int pair = i / (2 * width) * (2 * width), middle = min(pair + width, n), end = min(pair + 2 * width, n);
  bool left = i < middle;
  int low = left ? middle : pair, high = left ? end : middle, start = low;
  long long key = in[i];
  while (low < high) {
    int at = (low + high) >> 1;
    bool before = left ? in[at] < key : in[at] <= key;
    if (before) low = at + 1;
    else high = at;
  }
  out[pair + (i - (left ? pair : middle)) + (low - start)] = key;
}
