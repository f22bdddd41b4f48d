// Scans, sorts, compactions, and what is written around them.
#include "unseen.cuh"

K scanBlocks(int *R out, int *R sums, const int *R in, int n) {
  extern __shared__ int s[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int o = 1; o < (int)blockDim.x; o *= 2) {
    const int v = (int)threadIdx.x >= o ? s[threadIdx.x - o] : 0;
    __syncthreads();
    s[threadIdx.x] += v;
    __syncthreads();
  }
  if (i < n) out[i] = s[threadIdx.x];
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = s[threadIdx.x];
}
K scanBlelloch(int *R out, const int *R in, int n) {
  __shared__ int t[128];
  const int d0 = threadIdx.x, base = blockIdx.x * 128;
  t[2 * d0] = base + 2 * d0 < n ? in[base + 2 * d0] : 0;
  t[2 * d0 + 1] = base + 2 * d0 + 1 < n ? in[base + 2 * d0 + 1] : 0;
  int offset = 1;
  for (int d = 64; d > 0; d >>= 1) {
    __syncthreads();
    if (d0 < d) t[offset * (2 * d0 + 2) - 1] += t[offset * (2 * d0 + 1) - 1];
    offset *= 2;
  }
  if (d0 == 0) t[127] = 0;
  for (int d = 1; d < 128; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (d0 < d) {
      const int x = t[offset * (2 * d0 + 1) - 1];
      t[offset * (2 * d0 + 1) - 1] = t[offset * (2 * d0 + 2) - 1];
      t[offset * (2 * d0 + 2) - 1] += x;
    }
  }
  __syncthreads();
  if (base + 2 * d0 < n) out[base + 2 * d0] = t[2 * d0];
  if (base + 2 * d0 + 1 < n) out[base + 2 * d0 + 1] = t[2 * d0 + 1];
}
K scanAddSums(int *data, const int *R sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < n) data[i] += sums[blockIdx.x - 1];
}
K scanWarpExclusive(int *R out, const int *R in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, own = i < n ? in[i] : 0;
  int v = own;
#pragma unroll
  for (int o = 1; o < 32; o <<= 1) {
    const int up = __shfl_up_sync(~0u, v, o);
    if (lane >= o) v += up;
  }
  if (i < n) out[i] = v - own;
}
K bitonicStep(float *x, int n, int j, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, ij = i ^ j;
  if (ij <= i || ij >= n) return;
  const float a = x[i], b = x[ij];
  if ((i & k) == 0 ? a > b : a < b) x[i] = b, x[ij] = a;
}
K bitonicShared(float *R out, const float *R in, int n) {
  __shared__ float s[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 3.4e38f;
  for (int k = 2; k <= 128; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      const int o = threadIdx.x ^ j;
      if (o > (int)threadIdx.x) {
        const float a = s[threadIdx.x], b = s[o];
        if (((threadIdx.x & k) == 0) == (a > b)) s[threadIdx.x] = b, s[o] = a;
      }
    }
  __syncthreads();
  if (i < n) out[i] = s[threadIdx.x];
}
K radixHistogram(unsigned *R hist, const unsigned *R keys, int n, int shift) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&bins[keys[i] >> shift & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) hist[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
K radixScatter(unsigned *R out, const unsigned *R in, const unsigned *R starts, int n, int shift) {
  // one warp a block of 32 keys; place = start of the digit in this block + equals before
  const int i = blockIdx.x * 32 + threadIdx.x;
  const bool valid = i < n;
  const unsigned key = valid ? in[i] : 0, digit = valid ? key >> shift & 15 : 16;
  unsigned before = 0;
  for (unsigned d = 0; d < 16; d++) {
    const unsigned same = __ballot_sync(~0u, digit == d);
    if (digit == d) before = __popc(same & ((1u << threadIdx.x) - 1));
  }
  if (valid) out[starts[digit * gridDim.x + blockIdx.x] + before] = key;
}
K compactWarp(int *R out, int *R counts, const int *R in, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  const bool take = i < n && in[i] > 0;
  const unsigned votes = __ballot_sync(~0u, take);
  if (take) out[blockIdx.x * 32 + __popc(votes & ((1u << threadIdx.x) - 1))] = in[i];
  if (threadIdx.x == 0) counts[blockIdx.x] = __popc(votes);
}
K compactGiven(int *R out, const int *R in, const int *R places, int n, int limit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || in[i] <= 0) return;
  const unsigned at = places[i];
  if (at < limit) out[at] = in[i];
}
K mergePath(int *R out, const int *R a, const int *R b, int na, int nb) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= na + nb) return;
  int lo = max(0, i - nb), hi = min(i, na);
  while (lo < hi) {
    const int mid = (lo + hi) >> 1;
    if (a[mid] <= b[i - 1 - mid]) lo = mid + 1;
    else hi = mid;
  }
  const int j = i - lo;
  out[i] = j >= nb || (lo < na && a[lo] <= b[j]) ? a[lo] : b[j];
}
K lowerBound(int *R out, const int *R sorted, const int *R queries, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  int from = 0, count = n;
  const int q = queries[i];
  while (count > 0) {
    const int half = count / 2;
    if (sorted[from + half] < q) from += half + 1, count -= half + 1;
    else count = half;
  }
  out[i] = from;
}
K segmentedSum(float *R out, const float *R values, const int *R starts, int segments) {
  const int s = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (s >= segments) return;
  float v = 0;
  for (int i = starts[s] + lane; i < starts[s + 1]; i += 32) v += values[i];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (lane == 0) out[s] = v;
}
K reduceRedux(unsigned *R out, const unsigned *R in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned most = __reduce_max_sync(~0u, i < n ? in[i] : 0);
  if ((threadIdx.x & 31) == 0) out[i >> 5] = most;
}
K reduceUnrolled(float *R out, const float *R in, unsigned n) {
  // sixth version of the well-known slides
  extern __shared__ volatile float sd[];
  const unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * (128 * 2) + tid;
  const unsigned step = 128 * 2 * gridDim.x;
  float s = 0;
  while (i < n) {
    s += in[i];
    if (i + 128 < n) s += in[i + 128];
    i += step;
  }
  sd[tid] = s;
  __syncthreads();
  if (tid < 64) sd[tid] += sd[tid + 64];
  __syncthreads();
  if (tid < 32) {
    sd[tid] += sd[tid + 32];
    sd[tid] += sd[tid + 16];
    sd[tid] += sd[tid + 8];
    sd[tid] += sd[tid + 4];
    sd[tid] += sd[tid + 2];
    sd[tid] += sd[tid + 1];
  }
  if (tid == 0) out[blockIdx.x] = sd[0];
}
K bitReverse(float2 *R out, const float2 *R in, int logN) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 1u << logN) return;
  out[__brev(i) >> (32 - logN)] = in[i];
}
K fftStage(float2 *R out, const float2 *R in, int n, int ns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n / 2) return;
  const float angle = -3.14159265f * (j % ns) / ns;
  const float2 u = in[j], v = in[j + n / 2];
  const float2 w = make_float2(v.x * __cosf(angle) - v.y * __sinf(angle), v.x * __sinf(angle) + v.y * __cosf(angle));
  const int d = (j / ns) * ns * 2 + j % ns;
  out[d] = make_float2(u.x + w.x, u.y + w.y);
  out[d + ns] = make_float2(u.x - w.x, u.y - w.y);
}
K mandelbrot(unsigned char *R out, int w, int h, float x0, float y0, float step, int most) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  float zr = 0, zi = 0;
  int i = 0;
  while (i < most && zr * zr + zi * zi < 4) {
    const float t = zr * zr - zi * zi + x0 + x * step;
    zi = 2 * zr * zi + y0 + y * step;
    zr = t;
    i++;
  }
  out[y * w + x] = i;
}
K blackScholes(float *R call, float *R put, const float *R price, const float *R strike, const float *R years, float rate, float vol,
               int n) {
  for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    const float sq = sqrtf(years[i]), d1 = (__logf(price[i] / strike[i]) + (rate + 0.5f * vol * vol) * years[i]) / (vol * sq);
    const float c = 1.0f / (1.0f + __expf(-1.702f * d1)), e = __expf(-rate * years[i]);
    call[i] = price[i] * c - strike[i] * e * c;
    put[i] = strike[i] * e * (1 - c) - price[i] * (1 - c);
  }
}
K convolutionSeparable(float *R dst, const float *R src, int w, int h, int pitch) {
  __shared__ float s[4][16 * 4];
  const int bx = (blockIdx.x * 2 - 1) * 16 + threadIdx.x, by = blockIdx.y * 4 + threadIdx.y;
  src += by * pitch + bx;
  dst += by * pitch + bx;
  for (int i = 1; i < 3; i++) s[threadIdx.y][threadIdx.x + i * 16] = src[i * 16];
  s[threadIdx.y][threadIdx.x] = bx >= 0 ? src[0] : 0;
  s[threadIdx.y][threadIdx.x + 48] = w - bx > 48 ? src[48] : 0;
  __syncthreads();
  for (int i = 1; i < 3; i++) {
    float v = 0;
    for (int j = -4; j <= 4; j++) v += s[threadIdx.y][threadIdx.x + i * 16 + j];
    dst[i * 16] = v;
  }
}
struct Particle { float3 position; float mass; float3 velocity; int id; };
K particlesToSoa(float *R px, float *R py, float *R pz, float *R mass, const Particle *R p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  px[i] = p[i].position.x, py[i] = p[i].position.y, pz[i] = p[i].position.z, mass[i] = p[i].mass;
}
K nbodyTiled(float4 *R out, const float4 *R in, int n) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = in[i];
  float3 a = {0, 0, 0};
  for (int t = 0; t < (int)gridDim.x; t++) {
    tile[threadIdx.x] = in[(blockIdx.x + t < gridDim.x ? blockIdx.x + t : blockIdx.x + t - gridDim.x) * blockDim.x + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < (int)blockDim.x; j++) {
      const float4 o = tile[j];
      const float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
      a.x += dx * r, a.y += dy * r, a.z += dz * r;
    }
    __syncthreads();
  }
  if (i < n) out[i] = make_float4(a.x, a.y, a.z, me.w);
}
K medianFilter(unsigned char *R out, const unsigned char *R in, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  unsigned char v[9];
  int k = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) v[k++] = in[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)];
#pragma unroll
  for (int i = 0; i < 5; i++)
#pragma unroll
    for (int j = i + 1; j < 9; j++)
      if (v[j] < v[i]) {
        const unsigned char t = v[i];
        v[i] = v[j];
        v[j] = t;
      }
  out[y * w + x] = v[4];
}
K rgbToGray(unsigned char *R out, const uchar3 *R in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (in[i].x * 77 + in[i].y * 150 + in[i].z * 29) >> 8;
}
K jacobiPointers(const float *const *R rowsIn, float *const *R rowsOut, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y + 1;
  if (x >= n - 1) return;
  rowsOut[y][x] = 0.25f * (rowsIn[y - 1][x] + rowsIn[y + 1][x] + rowsIn[y][x - 1] + rowsIn[y][x + 1]);
}
K redBlack(float *u, int n, int colour) {
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + ((blockIdx.y + colour) & 1), y = blockIdx.y + 1;
  if (x < n - 1) u[y * n + x] = 0.25f * (u[(y - 1) * n + x] + u[(y + 1) * n + x] + u[y * n + x - 1] + u[y * n + x + 1]);
}
K monteCarloPi(unsigned *R hits, int turns, unsigned seed) {
  unsigned s = seed ^ (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u, h = 0;
  for (int i = 0; i < turns; i++) {
    s = s * 1664525u + 1013904223u;
    const float x = (s >> 8) * 5.96e-8f;
    s = s * 1664525u + 1013904223u;
    const float y = (s >> 8) * 5.96e-8f;
    h += x * x + y * y < 1;
  }
  hits[blockIdx.x * blockDim.x + threadIdx.x] = h;
}
K stringMatch(int *R found, const char *R text, int n, const char *R pattern, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - m) return;
  int j = 0;
  while (j < m && text[i + j] == pattern[j]) j++;
  found[i] = j == m;
}
