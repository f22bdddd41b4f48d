// Kernels that tell a careful validator from a careless one.
#include "corpus.cuh"

// Reads odd elements and writes even ones of one array.
KERNEL oddToEven(float *a, idx pairs) {
  idx i = GLOBAL_ID;
  if (i < pairs) a[2 * i] = a[2 * i + 1] * 2.0f;
}

KERNEL writeThenRead(int *a, int *b, idx n) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  a[i] = (int)i * 3;
  __threadfence();
  b[i] = *(volatile int *)(a + i) + 1;
}

// No guard: the grid alone says how far it goes.
KERNEL unguarded(float *RESTRICT out, const float *RESTRICT in) { out[GLOBAL_ID] = in[GLOBAL_ID] + 1.0f; }

// The guard covers the store and not the load.
KERNEL guardedStore(float *RESTRICT out, const float *RESTRICT in, idx n) {
  idx i = GLOBAL_ID;
  float v = in[i];
  if (i < n) out[i] = v;
}

// Two accesses, each with a guard of its own.
KERNEL twoGuards(float *RESTRICT out, const float *RESTRICT in, idx n, idx m) {
  idx i = GLOBAL_ID;
  float v = 0.0f;
  if (i < m) v = in[i];
  if (i < n) out[i] = v;
}

// The index wraps at 2^32 and comes back to the start of the array.
KERNEL wrapIndex(int *RESTRICT out, const int *RESTRICT in, unsigned base, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = base + i;
  out[at & 1023u] = in[i];
}

KERNEL wrapOffset(int *RESTRICT out, const int *RESTRICT in, unsigned base, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[base + i] = in[i];
}

KERNEL negativeStride(int *RESTRICT out, const int *RESTRICT in, int stride, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = in[(int)i * stride];
}

KERNEL rotateModulo(int *RESTRICT out, const int *RESTRICT in, idx shift, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[(i + shift) % n] = in[i];
}

KERNEL maskedLookup(int *RESTRICT out, const int *RESTRICT in, const int *RESTRICT table, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = table[in[i] & 15];
}

KERNEL predicatedCopy(int *RESTRICT out, const int *RESTRICT in, int mode, idx n) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  if (mode == 1) out[i] = in[i];
  if (mode == 2) out[i] = -1;
}

typedef float (*Unary)(float);
__device__ float twice(float x) { return x + x; }
__device__ float square(float x) { return x * x; }
__device__ float negate(float x) { return -x; }
__device__ Unary unaries[4] = {twice, square, negate, twice};

KERNEL indirectCall(float *RESTRICT out, const float *RESTRICT in, int which, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = unaries[which & 3](in[i]);
}

__device__ float constants[64];
__device__ float *constantsAt = constants;

// The address of what it reads stands in the module's memory.
KERNEL modulePointer(float *RESTRICT out, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = constantsAt[i & 63] + 1.0f;
}

__device__ int launches[1];

KERNEL countLaunch(int *RESTRICT out, idx n) {
  idx i = GLOBAL_ID;
  if (i < n) out[i] = 7;
  if (i == 0) launches[0] += 1;
}

// Rows through a table of pointers.
KERNEL doublePointer(float *RESTRICT out, float *const *RESTRICT rows, idx count, idx width) {
  idx i = GLOBAL_ID;
  if (i < count * width) out[i] = rows[i / width][i % width] * 2.0f;
}

KERNEL chaseLinks(int *RESTRICT out, const int *RESTRICT next, idx n, idx most) {
  idx i = GLOBAL_ID;
  if (i >= n) return;
  int at = (int)i, steps = 0;
  LOOP while (next[at] != at && steps < most) {
    at = next[at];
    steps++;
  }
  out[i] = steps;
}

// Compacts through a counter in shared memory: who comes first says what is written where.
KERNEL compactShared(int *RESTRICT out, const int *RESTRICT in, idx n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  idx i = GLOBAL_ID;
  if (i < n && in[i] > 0) out[blockIdx.x * blockDim.x + atomicAdd(&count, 1)] = in[i];
}

// Of blocks with several warps, one thread of the first warp to arrive.
KERNEL firstComes(int *out, idx n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  idx i = GLOBAL_ID;
  if (atomicAdd(&count, 1) == 0 && i < n) out[i] = 1;
}

// Each block reads what the next one writes.
KERNEL shiftBlocks(int *a, idx n) {
  idx i = GLOBAL_ID, next = i + blockDim.x;
  int v = next < n ? a[next] : 0;
  if (i < n) a[i] = v + 1;
}

KERNEL volume(float *RESTRICT out, const float *RESTRICT in, idx nx, idx ny, idx nz) {
  idx x = (idx)blockIdx.x * blockDim.x + threadIdx.x, y = (idx)blockIdx.y * blockDim.y + threadIdx.y,
      z = (idx)blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = in[(x * ny + y) * nz + z];
}

// Swaps halves inside one array, each thread one pair: reads and writes the same two places.
KERNEL swapHalves(int *a, idx half) {
  idx i = GLOBAL_ID;
  if (i >= half) return;
  int first = a[i], second = a[half + i];
  a[i] = second;
  a[half + i] = first;
}

// One array, the front half of which is written from the back half.
KERNEL backToFront(int *a, idx half) {
  idx i = GLOBAL_ID;
  if (i < half) a[i] = a[half + i] + 1;
}

KERNEL triangle(float *RESTRICT out, const float *RESTRICT in, idx n) {
  idx row = GLOBAL_ID;
  if (row >= n) return;
  LOOP for (idx c = 0; c <= row; c++) out[row * n + c] = in[c * n + row];
}

// Counts down, and its pointers go along.
KERNEL countDown(float *RESTRICT out, const float *RESTRICT in, idx n, idx rows) {
  idx r = GLOBAL_ID;
  if (r >= rows) return;
  const float *from = in + r * n + n - 1;
  float *to = out + r * n;
  LOOP for (idx left = n; left > 0; left--) *to++ = *from--;
}

KERNEL strideTwoLoop(float *RESTRICT out, const float *RESTRICT in, idx n) {
  LOOP for (idx i = 2 * GLOBAL_ID; i + 1 < n; i += 2 * (idx)blockDim.x * gridDim.x) out[i / 2] = in[i] + in[i + 1];
}

// The product of three 32-bit numbers wraps: for a scale of 65536 nothing but the thread's number is left of the index.
KERNEL wrapProduct(float *RESTRICT out, const float *RESTRICT in, int scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[(i + 1) * scale * scale + i] = in[i] + 1.0f;
}

// The sum is unsigned and wraps: an offset just below 2^32 goes back.
KERNEL wrapBack(float *RESTRICT out, const float *RESTRICT in, unsigned back, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[(i + 64u) + back] = in[i] + 1.0f;
}
