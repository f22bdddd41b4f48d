// Threads that work together: atomics, shuffles, votes, scans, sorts.
extern "C" __global__ void histogram_global(const unsigned* x, unsigned* h, int n, int bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&h[x[i] % bins], 1u);
}
extern "C" __global__ void histogram_shared(const unsigned* x, unsigned* h, int n, int bins) {
  extern __shared__ unsigned s[];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) s[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[x[i] % bins], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) if (s[i]) atomicAdd(&h[i], s[i]);
}
extern "C" __global__ void count_same(const float* x, unsigned* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && x[i] > 0) atomicAdd(count, 1u);
}
extern "C" __global__ void sum_same(const float* x, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(sum, x[i]);
}
extern "C" __global__ void scatter_add(const float* x, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&out[index[i]], x[i]);
}
extern "C" __global__ void ticket(unsigned* counter, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = atomicAdd(&counter[i & 63], 1u);
}
// Sums by compare and swap, one a warp.
extern "C" __global__ void cas_add(const float* x, int* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.f;
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  if ((threadIdx.x & 31) != 0) return;
  int* at = &sums[blockIdx.x & 15];
  int old = *at, seen;
  do { seen = old; old = atomicCAS(at, seen, __float_as_int(__int_as_float(seen) + v)); } while (old != seen);
}
extern "C" __global__ void shared_float_atomics(const float* x, float* out, int n, int bins) {
  __shared__ float s[1024];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) s[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[(i * 7) % bins], x[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) atomicAdd(&out[i], s[i]);
}
extern "C" __global__ void reduce_shuffle(const float4* x, float* out, int n4) {
  float a = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) { float4 v = x[i]; a += v.x + v.y + v.z + v.w; }
  for (int d = 16; d; d >>= 1) a += __shfl_down_sync(~0u, a, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(out, a);
}
extern "C" __global__ void block_scan(const int* x, int* out, int n) {
  __shared__ int warps[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x & 31, w = threadIdx.x >> 5;
  int v = i < n ? x[i] : 0;
  for (int d = 1; d < 32; d <<= 1) { int u = __shfl_up_sync(~0u, v, d); if (l >= d) v += u; }
  if (l == 31) warps[w] = v;
  __syncthreads();
  if (w == 0) {
    int s = l < blockDim.x / 32 ? warps[l] : 0;
    for (int d = 1; d < 32; d <<= 1) { int u = __shfl_up_sync(~0u, s, d); if (l >= d) s += u; }
    warps[l] = s;
  }
  __syncthreads();
  if (i < n) out[i] = v + (w ? warps[w - 1] : 0);
}
// Hillis and Steele in shared memory: a barrier pair a step.
extern "C" __global__ void scan_shared(const float* x, float* out) {
  __shared__ float s[2][1024];
  int t = threadIdx.x, now = 0;
  s[0][t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d <<= 1) {
    s[now ^ 1][t] = t >= d ? s[now][t] + s[now][t - d] : s[now][t];
    now ^= 1;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = s[now][t];
}
extern "C" __global__ void bitonic_sort(const unsigned* in, unsigned* out) {
  __shared__ unsigned s[2048];
  int t = threadIdx.x, n = 2 * blockDim.x;
  s[t] = in[blockIdx.x * n + t];
  s[t + blockDim.x] = in[blockIdx.x * n + t + blockDim.x];
  for (int k = 2; k <= n; k <<= 1)
    for (int j = k >> 1; j; j >>= 1) {
      __syncthreads();
      int a = 2 * t - (t & (j - 1)), b = a + j;
      unsigned u = s[a], v = s[b];
      if ((u > v) == ((a & k) == 0)) { s[a] = v; s[b] = u; }
    }
  __syncthreads();
  out[blockIdx.x * n + t] = s[t];
  out[blockIdx.x * n + t + blockDim.x] = s[t + blockDim.x];
}
extern "C" __global__ void compact(const float* x, float* out, unsigned* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x & 31;
  bool keep = i < n && x[i] > 0.5f;
  unsigned ballot = __ballot_sync(~0u, keep), base = 0;
  if (l == 0 && ballot) base = atomicAdd(count, __popc(ballot)) % (unsigned)n;
  base = __shfl_sync(~0u, base, 0);
  unsigned at = base + __popc(ballot & ((1u << l) - 1));
  if (keep && at < n) out[at] = x[i];
}
extern "C" __global__ void heat_shared(const float* in, float* out, int rounds) {
  __shared__ float s[2][1026];
  int t = threadIdx.x + 1, now = 0;
  s[0][t] = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (threadIdx.x == 0) s[0][0] = s[1][0] = s[0][blockDim.x + 1] = s[1][blockDim.x + 1] = 0;
  __syncthreads();
  for (int r = 0; r < rounds; r++) {
    s[now ^ 1][t] = 0.5f * s[now][t] + 0.25f * (s[now][t - 1] + s[now][t + 1]);
    now ^= 1;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[now][t];
}
extern "C" __global__ void binary_search(const unsigned* keys, int* out, int n, unsigned size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i], low = 0, high = size;
  // The table is virtual (element k is 3k), so only the branches count.
  while (low < high) { unsigned mid = (low + high) >> 1; if (mid * 3 < key) low = mid + 1; else high = mid; }
  out[i] = low;
}
extern "C" __global__ void hash_probe(const unsigned* table, const unsigned* keys, unsigned* out, int n, unsigned mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i], at = (key * 2654435761u) & mask, probes = 0;
  while (probes < 16 && (table[at] & 7u) != (key & 7u)) { at = (at + 1) & mask; probes++; }
  out[i] = at + probes;
}
