// Recursive quicksort of each thread's slice: a device function that calls itself, with its stack in local memory.
__device__ __noinline__ void sortRange(int* data, int low, int high, int depth, int* deepest) {
  if (depth > *deepest) *deepest = depth;
  if (low >= high) return;
  int pivot = data[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (data[i] < pivot) i++;
    while (data[j] > pivot) j--;
    if (i <= j) {
      int kept = data[i];
      data[i++] = data[j];
      data[j--] = kept;
    }
  }
  sortRange(data, low, j, depth + 1, deepest);
  sortRange(data, i, high, depth + 1, deepest);
}

extern "C" __global__ void quickSort(int* data, int* depths, int each) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, deepest = 0;
  sortRange(data + i * each, 0, each - 1, 1, &deepest);
  depths[i] = deepest;
}
