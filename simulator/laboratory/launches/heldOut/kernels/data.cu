// Scans, sorts, graphs, tables.
#define AT int i = blockIdx.x * blockDim.x + threadIdx.x
#define FULL 0xffffffffu
// Inclusive sums of 1024 values a block, four a thread, and each block's total.
extern "C" __global__ void scan_by_four(const int4* in, int4* out, int* totals) {
  __shared__ int sums[8];
  int at = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int4 v = in[at];
  v.y += v.x; v.z += v.y; v.w += v.z;
  int s = v.w;
  for (int d = 1; d < 32; d <<= 1) { int o = __shfl_up_sync(FULL, s, d); if (lane >= d) s += o; }
  if (lane == 31) sums[warp] = s;
  __syncthreads();
  int base = s - v.w;
  for (int w = 0; w < warp; w++) base += sums[w];
  out[at] = make_int4(v.x + base, v.y + base, v.z + base, v.w + base);
  if (threadIdx.x == 255) totals[blockIdx.x] = base + v.w;
}
// Counts of a digit of four bits, one row of counters a warp.
extern "C" __global__ void radix_count(const unsigned* key, unsigned* counts, int n, int shift) {
  __shared__ unsigned c[8][16];
  int warp = threadIdx.x >> 5;
  if (threadIdx.x < 128) c[threadIdx.x >> 4][threadIdx.x & 15] = 0;
  __syncthreads();
  for (int j = blockIdx.x * 2048 + threadIdx.x; j < min(n, (int)(blockIdx.x + 1) * 2048); j += 256) atomicAdd(&c[warp][(key[j] >> shift) & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) {
    unsigned s = 0;
    for (int w = 0; w < 8; w++) s += c[w][threadIdx.x];
    counts[threadIdx.x * gridDim.x + blockIdx.x] = s;
  }
}
// Places of keys within their block by votes on each bit of the digit, then out to where the digit starts.
extern "C" __global__ void radix_scatter(const unsigned* key, const unsigned* starts, unsigned* out, int n, int shift) {
  __shared__ unsigned before[8][16], first[16];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  if (t < 128) before[t >> 4][t & 15] = 0;
  if (t < 16) first[t] = starts[t * gridDim.x + blockIdx.x];
  __syncthreads();
  int i = blockIdx.x * 256 + t;
  unsigned k = key[i], d = (k >> shift) & 15, same = FULL;
#pragma unroll
  for (int b = 0; b < 4; b++) {
    unsigned v = __ballot_sync(FULL, (d >> b) & 1);
    same &= (d >> b) & 1 ? v : ~v;
  }
  unsigned rank = __popc(same & ((1u << lane) - 1));
  if (rank == 0) before[warp][d] = __popc(same);
  __syncthreads();
  if (t < 16) {
    unsigned s = 0;
    for (int w = 0; w < 8; w++) { unsigned v = before[w][t]; before[w][t] = s; s += v; }
  }
  __syncthreads();
  unsigned to = first[d] + before[warp][d] + rank;
  out[to % n] = k;
}
// Compaction with one addition to the counter a block.
extern "C" __global__ void keep_positive(const int* in, int* out, int* count, int n, int least) {
  __shared__ int base, offset[8];
  AT;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, v = i < n ? in[i] : 0;
  bool keep = i < n && v >= least;
  unsigned votes = __ballot_sync(FULL, keep);
  if (lane == 0) offset[warp] = __popc(votes);
  __syncthreads();
  if (threadIdx.x == 0) {
    int s = 0;
    for (int w = 0; w < 8; w++) { int o = offset[w]; offset[w] = s; s += o; }
    base = atomicAdd(count, s) % n;
  }
  __syncthreads();
  if (keep) out[(base + offset[warp] + __popc(votes & ((1u << lane) - 1))) % n] = v;
}
__device__ unsigned scramble(unsigned k) { k ^= k >> 16; k *= 0x7feb352du; k ^= k >> 15; k *= 0x846ca68bu; return k ^ (k >> 16); }
// Keys into a table of open addresses, by compare and swap.
extern "C" __global__ void table_insert(const unsigned* key, unsigned* table, int n, unsigned mask) {
  AT;
  if (i >= n) return;
  unsigned k = key[i] + 1, at = scramble(k) & mask;
  while (true) {
    unsigned old = atomicCAS(&table[at], 0u, k);
    if (old == 0u || old == k) break;
    at = (at + 1) & mask;
  }
}
// Two places a key may be at (cuckoo): pairs of key and value.
extern "C" __global__ void table_two_places(const uint2* table, const unsigned* key, unsigned* out, int n, unsigned mask) {
  AT;
  if (i >= n) return;
  unsigned k = key[i], h = scramble(k);
  uint2 a = table[h & mask];
  unsigned v = 0;
  if (a.x == k) v = a.y;
  else {
    uint2 b = table[scramble(h + 0x9e3779b9u) & mask];
    if (b.x == k) v = b.y;
  }
  out[i] = v;
}
extern "C" __global__ void bloom_insert(const unsigned* key, unsigned* bits, int n, unsigned mask) {
  AT;
  if (i >= n) return;
  unsigned h = scramble(key[i]), g = scramble(h ^ 0x5bd1e995u) | 1;
#pragma unroll
  for (int k = 0; k < 4; k++) { unsigned b = (h + k * g) & mask; atomicOr(&bits[b >> 5], 1u << (b & 31)); }
}
// Merge of two sorted lists: each thread finds its diagonal and merges eight. Lists are arithmetic progressions.
extern "C" __global__ void merge_diagonals(const int* a, const int* b, int* out, int n) {
  int d = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (d >= 2 * n) return;
  int lo = max(0, d - n), hi = min(d, n);
  while (lo < hi) {
    int m = (lo + hi) >> 1;
    // What lies in the lists is noise; their order comes from their places.
    if (a[m] % 7 + m * 8 <= b[d - 1 - m] % 7 + (d - 1 - m) * 8) lo = m + 1; else hi = m;
  }
  int p = lo, q = d - lo;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    bool first = q >= n || (p < n && a[p] % 7 + p * 8 <= b[q] % 7 + q * 8);
    out[d + k] = first ? a[p++] : b[q++];
  }
}
// A level of breadth-first search: vertices of this level look at their neighbours.
extern "C" __global__ void bfs_level(const int* jitter, const int* neighbour, const int* level, int* next, int* found, int n, int mean, int now) {
  AT;
  if (i >= n || level[i] != now) return;
  int begin = i * mean + jitter[i], end = (i + 1) * mean + jitter[i + 1];
  for (int e = begin; e < end; e++) {
    int v = neighbour[e];
    if (level[v] > now + 1) { next[v] = now + 1; *found = 1; }
  }
}
extern "C" __global__ void pagerank_pull(const int* jitter, const int* source, const float* share, float* rank, int n, int mean) {
  AT;
  if (i >= n) return;
  int begin = i * mean + jitter[i], end = (i + 1) * mean + jitter[i + 1];
  float s = 0;
  for (int e = begin; e < end; e++) s += share[source[e]];
  rank[i] = 0.15f / n + 0.85f * s;
}
extern "C" __global__ void pagerank_push(const int* from, const int* to, const float* rank, float* sum, int edges) {
  AT;
  if (i < edges) atomicAdd(&sum[to[i]], rank[from[i]] * 0.125f);
}
extern "C" __global__ void hook_components(const int* u, const int* v, const int* parent, int* next, int edges) {
  AT;
  if (i >= edges) return;
  int a = parent[u[i]], b = parent[v[i]];
  if (a != b) atomicMin(&next[max(a, b)], min(a, b));
}
// Histogram of pairs, 16 x 16 bins, private to a warp, then together.
extern "C" __global__ void histogram_pairs(const uchar2* x, unsigned* out, int n) {
  __shared__ unsigned h[4][256];
  for (int j = threadIdx.x; j < 1024; j += 128) ((unsigned*)h)[j] = 0;
  __syncthreads();
  for (int j = blockIdx.x * 128 + threadIdx.x; j < n; j += gridDim.x * 128) {
    uchar2 p = x[j];
    atomicAdd(&h[threadIdx.x >> 5][(p.x >> 4) * 16 + (p.y >> 4)], 1u);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < 256; j += 128) {
    unsigned s = h[0][j] + h[1][j] + h[2][j] + h[3][j];
    if (s) atomicAdd(&out[j], s);
  }
}
// Largest with its place, packed into 64 bits.
extern "C" __global__ void largest_packed(const float* x, unsigned long long* best, int n) {
  unsigned long long m = 0;
  for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x) {
    unsigned b = __float_as_uint(x[j]);
    b = b & 0x80000000u ? ~b : b | 0x80000000u;
    unsigned long long v = (unsigned long long)b << 32 | (unsigned)j;
    m = v > m ? v : m;
  }
  for (int d = 16; d; d >>= 1) { unsigned long long o = __shfl_xor_sync(FULL, m, d); m = o > m ? o : m; }
  if ((threadIdx.x & 31) == 0) atomicMax(best, m);
}
// Sums of runs of equal keys: heads found by a shuffle, one addition a run and warp.
extern "C" __global__ void sum_runs(const float* x, float* out, int n, int length) {
  AT;
  int lane = threadIdx.x & 31, key = i / length;
  float v = i < n ? x[i] : 0.f;
  int left = __shfl_up_sync(FULL, key, 1);
  unsigned heads = __ballot_sync(FULL, lane == 0 || key != left);
  int head = 31 - __clz(heads & (FULL >> (31 - lane)));
  for (int d = 1; d < 32; d <<= 1) { float o = __shfl_up_sync(FULL, v, d); if (lane - d >= head) v += o; }
  if (i < n && (lane == 31 || ((heads >> (lane + 1)) & 1))) atomicAdd(&out[key], v);
}
// Lower bounds: the first 1023 pivots in shared memory, then the table.
extern "C" __global__ void lower_bounds(const unsigned* sortedGap, const unsigned* key, int* out, int n, unsigned size) {
  __shared__ unsigned top[1024];
  unsigned step = size >> 10;
  for (int j = threadIdx.x; j < 1024; j += blockDim.x) top[j] = j * step * 4 + (sortedGap[j * step] & 3);
  __syncthreads();
  AT;
  if (i >= n) return;
  unsigned k = key[i], lo = 0, hi = 1024;
  while (lo < hi) { unsigned m = (lo + hi) >> 1; if (top[m] < k) lo = m + 1; else hi = m; }
  unsigned from = lo ? (lo - 1) * step : 0, to = lo * step;
  while (from < to) { unsigned m = (from + to) >> 1; if (m * 4 + (sortedGap[m] & 3) < k) from = m + 1; else to = m; }
  out[i] = from;
}
// Sums of blocks; the block that comes last adds them up.
extern "C" __global__ void last_block_sum(const float* x, float* parts, unsigned* done, float* sum, int n) {
  __shared__ float s[8];
  __shared__ bool last;
  float a = 0;
  for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x) a += x[j];
  for (int d = 16; d; d >>= 1) a += __shfl_down_sync(FULL, a, d);
  if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = a;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; w++) a += s[w];
    parts[blockIdx.x] = a;
    __threadfence();
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  a = 0;
  for (int j = threadIdx.x; j < gridDim.x; j += blockDim.x) a += ((volatile float*)parts)[j];
  for (int d = 16; d; d >>= 1) a += __shfl_down_sync(FULL, a, d);
  if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = a;
  __syncthreads();
  if (threadIdx.x == 0) { for (int w = 1; w < 8; w++) a += s[w]; *sum = a; }
}
// Weighted choice by alias tables, random numbers made here.
extern "C" __global__ void alias_draw(const float* keep, const int* alias, int* out, unsigned size, int n, int draws) {
  AT;
  if (i >= n) return;
  unsigned long long s = i * 6364136223846793005ull + 1442695040888963407ull;
  int sum = 0;
  for (int d = 0; d < draws; d++) {
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    unsigned k = (unsigned)(s >> 33) % size;
    sum += (unsigned)(s >> 8 & 0xffff) * 1.5259e-5f < keep[k] ? k : alias[k];
  }
  out[i] = sum;
}
