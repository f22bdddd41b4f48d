// Kernels on which a verdict is easily wrong. PTX: nvcc -ptx -O3 -arch=sm_90 (13.0).

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// A limit that is large as an unsigned number and negative as a signed one, before a loop with another.
KERNEL unsignedLimits(const int *in, int *out, int n, int m) {
  const unsigned x = THREAD;
  if (x < (unsigned)n)
    for (unsigned i = x; i < (unsigned)m; i += 4) out[i] = in[x];
}

// The same of a quotient, before a condition on a digit.
KERNEL unsignedQuotient(const int *in, int *out, int n, int m) {
  const unsigned x = THREAD;
  if (x / 60 <= (unsigned)(2 * n))
    if ((int)(x & 63) < m) out[x] = in[x];
}

// The same before a condition on a coarser number.
KERNEL unsignedQuarter(const int *in, int *out, int n, int m) {
  const unsigned x = THREAD;
  if (x <= (unsigned)(2 * n))
    if ((int)(x / 4) < m) out[x] = in[x];
}

// A value of an iteration long ago.
KERNEL lastSeen(const int *in, int *out, int n) {
  int last = 200;
#pragma unroll 1
  for (int k = 0; k < n; k++)
    if (in[k] > 7) last = k;
  out[last] = THREAD;
}

// An index of eight bits with a sign.
KERNEL signedByte(const int *in, int *out, int n) {
  const signed char c = (signed char)(THREAD * 3);
  if (n > 0) out[c] = in[c + n];
}

// Which buffer depends on the thread.
KERNEL byParity(const int *a, const int *b, int *c, int n) {
  const int *from = (THREAD & 1) ? a : b;
  int *to = (THREAD & 2) ? c : c + n;
  if (THREAD < n) to[THREAD] = from[THREAD];
}

// A table of jumps.
KERNEL jumps(const int *in, int *out, int n) {
  const int i = THREAD;
  switch (i & 7) {
    case 0: out[i] = in[i]; break;
    case 1: out[i + 64] = in[i + 1]; break;
    case 2: out[i] = 1; break;
    case 3: out[2 * i] = in[1]; break;
    case 4: out[i * 3] = in[i]; break;
    case 5: out[0] = in[i * 4]; break;
    case 6: out[100 - i] = in[7]; break;
    default: out[n] = in[n + 1];
  }
}

// Two pointers that walk toward each other.
KERNEL backward(const int *in, int *out, int n, int m) {
  const int *end = in + n;
  int *to = out + m;
  for (const int *from = in + threadIdx.x; from < end; from += blockDim.x) *--to = *from;
}

// Rows of growing length, one behind the other.
KERNEL triangle(const int *in, int *out, int n) {
  int row = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++) {
#pragma unroll 1
    for (int j = 0; j < i; j++) out[row + j] = in[THREAD];
    row += i;
  }
}

// Halves of a product of 64 bits.
KERNEL halves(const int *in, int *out, int n) {
  const long long i = (long long)THREAD * 0x100000001LL;
  if (THREAD < n) out[i >> 32] = in[(int)i];
}

// A value of eight bits that wraps around in a loop.
KERNEL wrapsAround(const int *in, int *out, int n) {
  unsigned char c = 0;
  for (int i = 0; i < n; i++) {
    out[c] = in[i];
    c += 100;
  }
}

// Pointers that change places.
KERNEL pingPong(int *a, int *b, int n) {
  for (int i = 0; i < n; i++) {
    b[THREAD] = a[THREAD] + i;
    int *t = a;
    a = b;
    b = t;
  }
}

// The parts of a structure, with a gap between them.
struct Fields {
  char shift;
  short ahead;
  float *out;
  const float *in;
  unsigned char count;
};
KERNEL structure(Fields f) {
  const int i = THREAD;
  if (i < f.count) f.out[i + f.ahead] = f.in[i + (signed char)f.shift];
}

// Bytes from the end.
KERNEL reversed(const unsigned char *in, unsigned char *out, int n) {
  const int i = THREAD;
  if (i < n) out[i] = in[n - i - 1];
}

// A store under a predicate, at a negative offset, below a value from memory.
KERNEL predicated(const int *in, int *out, int n) {
  const int i = THREAD;
  if (i < n) {
    const int v = in[i];
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 5; @p st.global.b32 [%1+-4], %0; }"
                 :: "r"(v), "l"(out + i + 1) : "memory");
  }
}

// Where a variable of the block is counted up, places depend on who comes first.
KERNEL compacted(const int *in, int *out, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const int i = THREAD;
  if (i < n && in[i] > 3) out[blockIdx.x * 64 + atomicAdd(&count, 1)] = in[i];
}

// A variable of the module, read ahead.
__device__ int ring[64];
KERNEL readsAhead(int n) {
  const int i = THREAD & 31;
  if (i < n) ring[i] = ring[i + n];
}

// Indices from memory that the kernel itself holds to a range.
KERNEL scatterBounded(const float *a, const int *idx, float *out, int n) {
  const int i = THREAD;
  const int j = idx[i];
  if (j >= 0 && j < n) out[j] = a[i];
}
KERNEL scatterReversed(const float *a, const int *idx, float *out, int n) {
  const int i = THREAD;
  const int j = idx[i];
  if (j < n)
    if (j >= 0) out[j] = a[i];
}
KERNEL scatterClamped(const float *a, const int *idx, float *out, int n) {
  const int i = THREAD;
  out[min(max(idx[i], 0), n - 1)] = a[i];
}
KERNEL scatterUnsigned(const float *a, const unsigned *idx, float *out, unsigned n) {
  const int i = THREAD;
  const unsigned j = idx[i];
  if (j < n) out[j] = a[i];
}
KERNEL scatterByCast(const float *a, const int *idx, float *out, int n) {
  const int i = THREAD;
  const int j = idx[i];
  if ((unsigned)j < (unsigned)n) out[j - 1] = a[i];
}
KERNEL gatherBounded(const float *a, const int *idx, float *out, int n) {
  const int i = THREAD;
  const int j = idx[i];
  out[i] = j >= 0 && j < n ? a[j] : 0.0f;
}
// The part of a table that is here: indices from `first` on.
KERNEL scatterFrom(const float *a, const int *idx, float *out, int first, int n) {
  const int i = THREAD;
  const int j = idx[i] - first;
  if (j >= 0 && j < n) out[j] = a[i];
}
KERNEL scatterFromUnsigned(const float *a, const unsigned *idx, float *out, unsigned first, unsigned n) {
  const int i = THREAD;
  const unsigned j = idx[i] - first;
  if (j < n) out[j] = a[i];
}
KERNEL scatterWide(const float *a, const long long *idx, float *out, long long n) {
  const int i = THREAD;
  const long long j = idx[i];
  if (j >= 0 && j < n) out[j] = a[i];
}
KERNEL scatterWideUnsigned(const float *a, const unsigned long long *idx, float *out, unsigned long long n) {
  const int i = THREAD;
  const unsigned long long j = idx[i];
  if (j < n) out[j] = a[i];
}
KERNEL scatterShort(const float *a, const short *idx, float *out, int n) {
  const int i = THREAD;
  const int j = idx[i];
  if (j >= 0 && j < n) out[j] = a[i];
}
// Only the upper end is held to a limit: a negative index is one all the same.
KERNEL scatterBelow(const float *a, const int *idx, float *out, int n) {
  const int i = THREAD;
  const int j = idx[i];
  if (j < n) out[j] = a[i];
}
// The sum wraps around to below the limit; the index itself does not.
KERNEL scatterWrapping(const float *a, const int *idx, float *out, int n) {
  const int i = THREAD;
  const unsigned j = (unsigned)idx[i];
  if (j + 40u < (unsigned)n) out[(int)j] = a[i];
}
// Tested with one sign, used with the other.
KERNEL scatterOtherSign(const float *a, const int *idx, float *out, unsigned n, int least) {
  const int i = THREAD;
  const int j = idx[i];
  if ((unsigned)j < n && j >= least) out[j] = a[i];
}
// Rows of a table by an index from memory, a column for each thread.
KERNEL rowsBounded(const float *a, const int *idx, float *out, int rows, int width) {
  const int j = idx[blockIdx.x];
  if (j < 0 || j >= rows) return;
  for (int k = threadIdx.x; k < width; k += blockDim.x) out[blockIdx.x * width + k] = a[j * width + k];
}
// The index of another iteration than the one that was tested.
KERNEL testedBefore(const float *a, const int *idx, float *out, int n, int m) {
  const int i = THREAD;
  int j = idx[i];
#pragma unroll 1
  for (int k = 1; k < m && j >= 0 && j < n; k++) {
    j = idx[i + k];
    out[j] = a[i];
  }
}
KERNEL testedBeforeUnsigned(const float *a, const unsigned *idx, float *out, unsigned n, int m) {
  const int i = THREAD;
  unsigned j = idx[i];
#pragma unroll 1
  for (int k = 1; k < m && j < n; k++) {
    j = idx[i + k];
    out[j] = a[i];
  }
}
// Rows in steps of a constant: unrolled with a remainder loop, whose length would wrap for threads beyond the row.
KERNEL rowsInSteps(const float *a, float *out, int width) {
  for (int k = threadIdx.x; k < width; k += 64) out[blockIdx.x * width + k] = 2.0f * a[blockIdx.x * width + k];
}
KERNEL rowsInLongSteps(const float *a, float *out, long long width) {
  for (long long k = threadIdx.x; k < width; k += 16) out[blockIdx.x * width + k] = 2.0f * a[blockIdx.x * width + k];
}
// The same without a test before the first.
KERNEL stepsAtLeastOne(const float *a, float *out, int width) {
  int k = threadIdx.x;
  do {
    out[k] = 2.0f * a[k];
    k += 16;
  } while (k < width);
}
// Indices that count from the end where they are negative, and the low half of a long one.
KERNEL scatterFromEnd(const float *a, const int *idx, float *out, int n) {
  const int i = THREAD;
  int j = idx[i];
  if (j < 0) j += n;
  if (j >= 0 && j < n) out[j] = a[i];
}
KERNEL scatterFromEndWide(const float *a, const long long *idx, float *out, long long n) {
  const int i = THREAD;
  long long j = idx[i];
  if (j < 0) j += n;
  if (j >= 0 && j < n) out[j] = a[i];
}
KERNEL scatterFromEndBelow(const float *a, const int *idx, float *out, int n) {
  const int i = THREAD;
  int j = idx[i];
  if (j < 0) j += n;
  if (j < n) out[j] = a[i];
}
KERNEL scatterLowHalf(const float *a, const long long *idx, float *out, int n) {
  const int i = THREAD;
  const int j = (int)idx[i];
  if (j >= 0 && j < n) out[j] = a[i];
}
KERNEL scatterLowHalfWide(const float *a, const long long *idx, float *out, int n) {
  const int i = THREAD;
  const long long j = idx[i];
  if ((int)j >= 0 && (int)j < n) out[j & 63] = a[i];
}
