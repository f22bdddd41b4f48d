// Two functions that call one another, and one that calls itself twice within an argument.
__device__ __noinline__ int ackermann(int m, int n, int* calls) {
  ++*calls;
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1, calls);
  return ackermann(m - 1, ackermann(m, n - 1, calls), calls);
}

__device__ __noinline__ bool isOdd(unsigned n, unsigned step);
__device__ __noinline__ bool isEven(unsigned n, unsigned step) { return n == 0 ? true : isOdd(n - 1, step * 3 + n); }
__device__ __noinline__ bool isOdd(unsigned n, unsigned step) {
  if (step == 0xffffffffu) return true;
  return n == 0 ? false : isEven(n - 1, step ^ n);
}

extern "C" __global__ void ackermannTable(int* values, int* calls, int* parities) {
  int m = threadIdx.x & 3, n = threadIdx.x >> 2, count = 0;
  if (m == 3 && n > 2) m = 2;
  values[threadIdx.x] = ackermann(m, n, &count);
  calls[threadIdx.x] = count;
  parities[threadIdx.x] = isEven(threadIdx.x * 3, 1) ? 2 : isOdd(threadIdx.x, 1);
}
