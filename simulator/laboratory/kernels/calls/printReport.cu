// printf from one thread a block, blocks in turn; assert that holds.
#include <cassert>
#include <cstdio>

extern "C" __global__ void printReport(const int* values, int* sums, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += values[i];
  assert(n > 0);
  sums[threadIdx.x] = sum + threadIdx.x;
  if (threadIdx.x == 3) {
    printf("sum of %d values: %d, mean %.3f\n", n, sum, (double)sum / n);
    printf("%s|%5d|%-5d|%05d|%x|%X|%c|%e|%g|%%|%lld|%u\n", "text", sum, sum, n, 48879u, 48879u, 'k', 12345.678, 0.0001,
           (long long)sum << 33, 4000000000u);
  }
}
