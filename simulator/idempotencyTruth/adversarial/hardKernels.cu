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
