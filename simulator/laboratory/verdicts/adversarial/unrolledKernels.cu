// Loops whose counters are not regular. PTX: nvcc -ptx -O3 -arch=sm_90 (13.0).

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// The left edge of a tree in an array, from each thread's node.
KERNEL doubling(const int *in, int *out, int n) {
  for (int i = THREAD; i < n; i = 2 * i + 1) out[i] = in[i];
}

// Strides of a scan.
KERNEL strides(const int *in, int *out, int n) {
  const int i = THREAD;
  for (int s = 1; s < n; s <<= 1)
    if (i + s < n) out[i + s] = in[i];
}

// Halves of a reduction.
KERNEL halving(const int *a, int *b, int n) {
  const int i = THREAD;
  for (int s = n; s > 0; s >>= 1)
    if (i < s) b[i + s] = a[i];
}

// Up a tree of sums by the lowest bit.
KERNEL lowestBit(const int *in, int *out, int from, int n) {
  for (int i = from; i < n; i += i & -i) out[i] = in[i + threadIdx.x];
}

// Down past zero, which is far up.
KERNEL countDown(const int *in, int *out, unsigned n) {
  for (unsigned i = n - 1 - threadIdx.x; i < n; i -= 32) out[i] = in[i];
}

// Three buffers that change places.
KERNEL threeBuffers(int *a, int *b, int *c, int turns) {
#pragma unroll 1
  for (int k = 0; k < turns; k++) {
    b[THREAD] = a[THREAD] + k;
    int *t = a;
    a = b;
    b = c;
    c = t;
  }
}

// A counter that memory tells.
KERNEL followed(const int *in, int *out, int n) {
  for (int i = THREAD; i < n; i = 2 * i + 1 + (in[i] & 3)) out[i] = 1;
}

// Any of 64 words, however long it goes on.
KERNEL scattered(const int *in, int *out, int n) {
  int x = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < n; k++) {
    out[x & 63] = in[k];
    x = x * x + 3;
  }
}

// A row each turn of a regular loop around.
KERNEL rows(const int *in, int *out, int n, int m) {
#pragma unroll 1
  for (int row = 0; row < m; row++)
    for (int s = n; s > 0; s >>= 1) out[row * 64 + s] = in[row * 64 + threadIdx.x];
}

// A column each turn of an irregular one.
KERNEL columns(const int *in, int *out, int n, int m) {
  for (int s = 1; s < n; s = 3 * s + 1)
#pragma unroll 1
    for (int k = 0; k < m; k++) out[s + 64 * k] = in[k];
}

// Where a search for a size ends.
KERNEL behindIt(const int *in, int *out, int n) {
  int s = 1;
#pragma unroll 1
  while (s < n) {
    out[s] = in[threadIdx.x];
    s = 2 * s + (s & 1);
  }
  out[s] = in[s & 7];
}

// Sorting by exchanges, all of whose turns are too many.
KERNEL exchanges(const int *in, int *out, int n) {
  const int i = threadIdx.x;
  for (int k = 2; k <= n; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1)
      if ((i ^ j) > i) out[i ^ j] = in[i];
}
