// Calls through pointers: a table of functions in constant memory, one chosen by each thread, and one passed down.
typedef int (*Operation)(int, int);

__device__ __noinline__ int addTo(int a, int b) { return a + b; }
__device__ __noinline__ int takeFrom(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int larger(int a, int b) { return a > b ? a : b; }

__constant__ Operation operations[4] = {addTo, takeFrom, times, larger};
__device__ Operation chosen = larger;

__device__ __noinline__ int foldWith(Operation operation, const int* values, int count) {
  int result = values[0];
  for (int i = 1; i < count; i++) result = operation(result, values[i]);
  return result;
}

extern "C" __global__ void functionTable(const int* programs, const int* values, int* results, int* folds, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, result = i;
  for (int step = 0; step < length; step++) result = operations[programs[i * length + step] & 3](result, values[i * length + step]);
  results[i] = result;
  folds[i] = foldWith(i % 3 == 0 ? chosen : operations[i & 3], values + i * length, length);
}
