// Tables with initialisers in constant and global memory: numbers of every width, pointers to others, a text, and a
// structure; a kernel reads them at computed places, and another changes the global ones.
struct Entry {
  short code;
  float weight;
  const char* name;
};

__constant__ signed char bytes[7] = {-1, 2, -3, 4, -5, 6, -7};
__constant__ double reciprocals[5] = {1.0, 0.5, 1.0 / 3, 0.25, 0.2};
__device__ unsigned long long powers[4] = {1ull, 1000000007ull, 1000000014000000049ull, 0xdeadbeefcafef00dull};
__device__ const char first[] = "alpha";
__device__ const char second[] = "be";
__device__ Entry entries[3] = {{7, 1.5f, first}, {-9, 2.25f, second}, {11, -0.75f, first + 2}};
__device__ int counter = 100;
__device__ int* counterAddress = &counter;

extern "C" __global__ void readTables(long long* out, double* weights, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Entry& e = entries[i % 3];
  int length = 0, sum = 0;
  for (const char* c = e.name; *c; c++) {
    length++;
    sum += *c;
  }
  out[i] = (long long)powers[i % 4] + bytes[i % 7] * 1000 + e.code + length * 100000 + sum;
  weights[i] = __dmul_rn(reciprocals[i % 5], (double)e.weight);
}

extern "C" __global__ void changeTables(int* seen) {
  atomicAdd(counterAddress, threadIdx.x);
  if (threadIdx.x < 3) entries[threadIdx.x].code += 1000;
  __syncthreads();
  seen[threadIdx.x] = *(volatile int*)&counter;
}
