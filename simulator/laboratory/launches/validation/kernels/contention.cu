// Threads that want the same words: operations, widths, number of words, lanes of a warp, blocks. `words` is a power of two,
// `stride` the elements from one word to the next.
template <class T> __device__ T* wordOf(T* a, int words, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  return a + (long long)(i & (words - 1)) * stride;
}
#define MANY(name, T, step) \
  extern "C" __global__ void name(T* a, int words, int stride, int lanes, int rounds) { \
    if ((threadIdx.x & 31) >= lanes) return; \
    T* at = wordOf(a, words, stride); \
    T v = (T)(threadIdx.x + 1); \
    for (int r = 0; r < rounds; r++) { step; } \
    if (v == (T)0x12345) a[0] = v; \
  }
typedef unsigned u32;
typedef unsigned long long u64;
typedef long long s64;
// Nobody waits for the result.
MANY(red_add_u32, u32, atomicAdd(at, 1u + r))
MANY(red_max_u32, u32, atomicMax(at, v + r))
MANY(red_add_u64, u64, atomicAdd(at, 1ull + r))
MANY(red_min_s64, s64, atomicMin(at, v - r))
MANY(red_add_f32, float, atomicAdd(at, 1.0f))
MANY(red_add_f64, double, atomicAdd(at, 1.0))
// The next operation takes the result.
MANY(atom_add_u32, u32, v = atomicAdd(at, v | 1u))
MANY(atom_add_u64, u64, v = atomicAdd(at, v | 1ull))
MANY(atom_exch_u32, u32, v = atomicExch(at, v))
MANY(atom_exch_u64, u64, v = atomicExch(at, v))
MANY(atom_or_u64, u64, v = atomicOr(at, v))
MANY(atom_add_f64, double, v = atomicAdd(at, v))
MANY(atom_cas_u32, u32, v = atomicCAS(at, v, v + 1))
MANY(atom_cas_u64, u64, v = atomicCAS(at, v, v + 1))
// Loops of compare and swap.
MANY(cas_loop_f32, float, u32* w = (u32*)at; u32 old = *w; u32 seen;
     do { seen = old; old = atomicCAS(w, seen, __float_as_uint(__uint_as_float(seen) + v)); } while (old != seen))
MANY(cas_loop_f64, double, u64* w = (u64*)at; u64 old = *w; u64 seen;
     do { seen = old; old = atomicCAS(w, seen, (u64)__double_as_longlong(__longlong_as_double(seen) + v)); } while (old != seen))
MANY(cas_loop_u64, u64, u64 old = *at; u64 seen; do { seen = old; old = atomicCAS(at, seen, seen * 3 + v); } while (old != seen))
// One word that the compiler knows to be one.
extern "C" __global__ void count_u64(const u32* x, u64* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && (x[i] & 1)) atomicAdd(total, 1ull);
}
extern "C" __global__ void sum_u64(const u32* x, u64* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(total, (u64)x[i]);
}
extern "C" __global__ void most_u64(const u32* x, u64* best, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicMax(best, ((u64)x[i] << 32) | (u32)i);
}
extern "C" __global__ void sum_f64(const u32* x, double* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(total, (double)x[i]);
}
extern "C" __global__ void histogram_u64(const u32* x, u64* bins, int n, int many) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&bins[x[i] % many], (u64)x[i]);
}
// A lock that one thread a block takes.
extern "C" __global__ void lock_add(int* lock, volatile int* sum, int rounds) {
  if (threadIdx.x != 0) return;
  for (int r = 0; r < rounds; r++) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *sum = *sum + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void shared_add_u64(const u32* x, u64* out, int n, int bins) {
  __shared__ u64 s[1024];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) s[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[x[i] % bins], (u64)x[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) if (s[i]) atomicAdd(&out[i], s[i]);
}
