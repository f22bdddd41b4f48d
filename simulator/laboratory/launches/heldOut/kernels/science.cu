// Simulation and finance.
#include <cuda_fp16.h>
#define AT int i = blockIdx.x * blockDim.x + threadIdx.x
__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
// A radix-4 stage of a Fourier transform of n points, in memory (Stockham).
extern "C" __global__ void fft_radix_4(const float2* X, float2* Y, int quarter, int span) {
  AT;
  if (i >= quarter) return;
  int k = i & (span - 1);
  float s, c;
  sincospif(-k / (2.f * span), &s, &c);
  float2 w = make_float2(c, s), w2 = times(w, w), w3 = times(w2, w);
  float2 a = X[i], b = times(w, X[i + quarter]), d = times(w2, X[i + 2 * quarter]), e = times(w3, X[i + 3 * quarter]);
  float2 p = make_float2(a.x + d.x, a.y + d.y), q = make_float2(a.x - d.x, a.y - d.y);
  float2 r = make_float2(b.x + e.x, b.y + e.y), t = make_float2(b.y - e.y, e.x - b.x);
  int to = ((i - k) << 2) + k;
  Y[to] = make_float2(p.x + r.x, p.y + r.y);
  Y[to + span] = make_float2(q.x + t.x, q.y + t.y);
  Y[to + 2 * span] = make_float2(p.x - r.x, p.y - r.y);
  Y[to + 3 * span] = make_float2(q.x - t.x, q.y - t.y);
}
// 512 points a block in shared memory, radix 2.
extern "C" __global__ void fft_512_shared(const float2* X, float2* Y) {
  __shared__ float2 s[512];
  int t = threadIdx.x;
  size_t at = (size_t)blockIdx.x * 512;
  s[__brev(t) >> 23] = X[at + t];
  s[__brev(t + 256) >> 23] = X[at + t + 256];
  for (int half = 1; half < 512; half <<= 1) {
    __syncthreads();
    int k = t & (half - 1), p = ((t - k) << 1) + k;
    float sn, cs;
    __sincosf(-3.14159265f * k / half, &sn, &cs);
    float2 a = s[p], b = times(make_float2(cs, sn), s[p + half]);
    s[p] = make_float2(a.x + b.x, a.y + b.y);
    s[p + half] = make_float2(a.x - b.x, a.y - b.y);
  }
  __syncthreads();
  Y[at + t] = s[t];
  Y[at + t + 256] = s[t + 256];
}
// Lennard-Jones forces over lists of neighbours, stored by columns.
extern "C" __global__ void lennard_jones(const float4* place, const int* neighbour, float4* force, int n, int most, float cut) {
  AT;
  if (i >= n) return;
  float4 me = place[i], f = make_float4(0, 0, 0, 0);
  for (int k = 0; k < most; k++) {
    float4 o = place[neighbour[(size_t)k * n + i]];
    float dx = me.x - o.x, dy = me.y - o.y, dz = me.z - o.z, r = dx * dx + dy * dy + dz * dz + 0.05f;
    if (r < cut) {
      float v = 1.f / r, v6 = v * v * v, g = 24.f * v * v6 * (2.f * v6 - 1.f);
      f.x += g * dx; f.y += g * dy; f.z += g * dz; f.w += 4.f * v6 * (v6 - 1.f);
    }
  }
  force[i] = f;
}
// Bodies passed round a warp by shuffles.
extern "C" __global__ void bodies_by_shuffle(const float4* p, float4* a, int n) {
  AT;
  float4 me = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int t = 0; t < n; t += 32) {
    float4 o = p[t + (threadIdx.x & 31)];
#pragma unroll 8
    for (int k = 0; k < 32; k++) {
      float dx = __shfl_sync(~0u, o.x, k) - me.x, dy = __shfl_sync(~0u, o.y, k) - me.y, dz = __shfl_sync(~0u, o.z, k) - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.02f), f = __shfl_sync(~0u, o.w, k) * r * r * r;
      ax += f * dx; ay += f * dy; az += f * dz;
    }
  }
  a[i] = make_float4(ax, ay, az, 0);
}
// Asian options: paths with normal steps of a generator of its own.
extern "C" __global__ void asian_paths(float* out, int steps, float drift, float vol) {
  AT;
  unsigned s = i * 747796405u + 2891336453u;
  float logp = 0, sum = 0;
  for (int t = 0; t < steps; t++) {
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    float u = (s >> 8) * 5.9604645e-8f + 1e-7f;
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    float v = (s >> 8) * 3.7450703e-7f;
    logp += drift + vol * sqrtf(-2.f * __logf(u)) * __cosf(v);
    sum += __expf(logp);
  }
  out[i] = fmaxf(sum / steps - 1.f, 0.f);
}
// Binomial tree of an option a block, level by level.
extern "C" __global__ void binomial_tree(const float* strike, float* price, int levels, float up, float discount) {
  __shared__ float v[512];
  int t = threadIdx.x;
  float s = 100.f * exp2f((2 * t - levels) * up);
  float k = strike[blockIdx.x];
  v[t] = t <= levels ? fmaxf(s - k, 0.f) : 0.f;
  for (int l = levels; l > 0; l--) {
    __syncthreads();
    float a = 0;
    if (t < l) a = discount * (0.51f * v[t + 1] + 0.49f * v[t]);
    __syncthreads();
    if (t < l) v[t] = a;
  }
  __syncthreads();
  if (t == 0) price[blockIdx.x] = v[0];
}
// Wave equation, eighth order: planes in shared memory, the column kept in registers.
extern "C" __global__ void wave_star_25(const float* now, const float* before, float* next, int n, int depth) {
  __shared__ float s[16 + 8][32 + 8];
  int x = blockIdx.x * 32 + threadIdx.x + 4, y = blockIdx.y * 16 + threadIdx.y + 4, w = n + 8, tx = threadIdx.x + 4, ty = threadIdx.y + 4;
  size_t plane = (size_t)w * w, at = (size_t)y * w + x;
  const float c[5] = {-2.847f, 1.6f, -0.2f, 0.0254f, -0.00179f};
  float col[9];
#pragma unroll
  for (int k = 0; k < 8; k++) col[k + 1] = now[at + k * plane];
  for (int z = 4; z < depth + 4; z++) {
#pragma unroll
    for (int k = 0; k < 8; k++) col[k] = col[k + 1];
    col[8] = now[at + (z + 4) * plane];
    __syncthreads();
    s[ty][tx] = col[4];
    if (threadIdx.y < 4) { s[threadIdx.y][tx] = now[at + z * plane - 4 * w]; s[threadIdx.y + 20][tx] = now[at + z * plane + 16 * w]; }
    if (threadIdx.x < 4) { s[ty][threadIdx.x] = now[at + z * plane - 4]; s[ty][threadIdx.x + 36] = now[at + z * plane + 32]; }
    __syncthreads();
    float a = 3 * c[0] * col[4];
#pragma unroll
    for (int k = 1; k < 5; k++) a += c[k] * (s[ty][tx - k] + s[ty][tx + k] + s[ty - k][tx] + s[ty + k][tx] + col[4 - k] + col[4 + k]);
    next[at + z * plane] = 2 * col[4] - before[at + z * plane] + 0.1f * a;
  }
}
// 3-D stencil of 27 points, nothing shared.
extern "C" __global__ void stencil_27(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1, z = blockIdx.z + 1;
  if (x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  float a = 0;
#pragma unroll
  for (int k = -1; k < 2; k++)
#pragma unroll
    for (int j = -1; j < 2; j++)
#pragma unroll
      for (int i = -1; i < 2; i++) a += in[((size_t)(z + k) * n + y + j) * n + x + i] * (k * k + j * j + i * i == 0 ? 0.5f : 0.019f);
  out[((size_t)z * n + y) * n + x] = a;
}
// Nine points in double precision.
extern "C" __global__ void stencil_9_double(const double* in, double* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= w - 1 || y >= h - 1) return;
  const double* p = in + (size_t)y * w + x;
  out[(size_t)y * w + x] = 0.25 * p[0] + 0.125 * (p[-1] + p[1] + p[-w] + p[w]) + 0.0625 * (p[-w - 1] + p[-w + 1] + p[w - 1] + p[w + 1]);
}
// Jacobi sweep with the sum of squared changes.
extern "C" __global__ void jacobi_residual(const float* u, const float* f, float* v, float* norm, int n) {
  __shared__ float part[8];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float d = 0;
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
    float a = 0.25f * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x] - f[y * n + x]);
    d = a - u[y * n + x];
    v[y * n + x] = a;
  }
  d *= d;
  for (int s = 16; s; s >>= 1) d += __shfl_down_sync(~0u, d, s);
  if (threadIdx.x == 0) part[threadIdx.y] = d;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    for (int w = 1; w < 8; w++) d += part[w];
    atomicAdd(norm, d);
  }
}
// Lattice Boltzmann, nine directions: gather, collide, write.
extern "C" __global__ void lattice_d2q9(const float* f, float* g, int w, int h, float omega) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const float t[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
  float v[9], rho = 0, ux = 0, uy = 0;
  size_t all = (size_t)w * h;
#pragma unroll
  for (int k = 0; k < 9; k++) {
    int u = x - cx[k], q = y - cy[k];
    u = u < 0 ? w - 1 : u >= w ? 0 : u;
    q = q < 0 ? h - 1 : q >= h ? 0 : q;
    v[k] = f[k * all + (size_t)q * w + u];
    rho += v[k]; ux += cx[k] * v[k]; uy += cy[k] * v[k];
  }
  float inv = 1.f / (rho + 2.f);
  ux *= inv; uy *= inv;
  float e = 1.f - 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int k = 0; k < 9; k++) {
    float c = 3.f * (cx[k] * ux + cy[k] * uy);
    g[k * all + (size_t)y * w + x] = v[k] + omega * (t[k] * rho * (e + c + 0.5f * c * c) - v[k]);
  }
}
// Nearest of k centres held in shared memory, points of eight values by columns.
extern "C" __global__ void kmeans_assign(const float* P, const float* centre, int* out, float* distance, int n, int k) {
  extern __shared__ float c[];
  for (int j = threadIdx.x; j < k * 8; j += blockDim.x) c[j] = centre[j];
  __syncthreads();
  AT;
  if (i >= n) return;
  float p[8], least = 3e38f;
  int best = 0;
#pragma unroll
  for (int d = 0; d < 8; d++) p[d] = P[(size_t)d * n + i];
  for (int j = 0; j < k; j++) {
    float s = 0;
#pragma unroll
    for (int d = 0; d < 8; d++) { float x = p[d] - c[j * 8 + d]; s += x * x; }
    if (s < least) { least = s; best = j; }
  }
  out[i] = best;
  distance[i] = least;
}
// Nearest of many points in the plane, tile by tile.
extern "C" __global__ void nearest_point(const float2* query, const float2* point, int* out, int points) {
  __shared__ float2 s[128];
  AT;
  float2 q = query[i];
  float least = 3e38f;
  int best = -1;
  for (int t = 0; t < points; t += 128) {
    __syncthreads();
    s[threadIdx.x] = point[t + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 128; j++) {
      float dx = s[j].x - q.x, dy = s[j].y - q.y, d = dx * dx + dy * dy;
      if (d < least) { least = d; best = t + j; }
    }
  }
  out[i] = best;
}
// An antidiagonal of local alignment.
extern "C" __global__ void align_diagonal(const unsigned char* a, const unsigned char* b, const int* two, const int* one, int* now, int length, int diagonal) {
  AT;
  if (i < 1 || i >= length || diagonal - i < 1 || diagonal - i >= length) return;
  int match = a[i] == b[diagonal - i] ? 3 : -2;
  now[i] = max(max(0, two[i - 1] + match), max(one[i - 1], one[i]) - 2);
}
// Runge-Kutta steps of the Lorenz system, a trajectory a thread.
extern "C" __global__ void lorenz_rk4(const float* start, float* out, int n, int steps, float h) {
  AT;
  if (i >= n) return;
  float y[3] = {start[i] + 1.f, start[n + i] + 2.f, start[2 * n + i] + 20.f};
  for (int s = 0; s < steps; s++) {
    float k[3] = {0, 0, 0}, sum[3] = {0, 0, 0};
#pragma unroll
    for (int r = 0; r < 4; r++) {
      float f = r == 0 ? 0.f : r == 3 ? h : 0.5f * h, u[3];
#pragma unroll
      for (int d = 0; d < 3; d++) u[d] = y[d] + f * k[d];
      k[0] = 10.f * (u[1] - u[0]);
      k[1] = u[0] * (28.f - u[2]) - u[1];
      k[2] = u[0] * u[1] - 2.6666667f * u[2];
#pragma unroll
      for (int d = 0; d < 3; d++) sum[d] += (r == 0 || r == 3 ? 1.f : 2.f) * k[d];
    }
#pragma unroll
    for (int d = 0; d < 3; d++) y[d] += h / 6.f * sum[d];
  }
#pragma unroll
  for (int d = 0; d < 3; d++) out[d * n + i] = y[d];
}
// A step of all-pairs shortest paths.
extern "C" __global__ void shortest_paths_step(const float* D, float* out, int n, int k) {
  __shared__ float through;
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (threadIdx.x == 0) through = D[(size_t)r * n + k];
  __syncthreads();
  if (c < n) out[(size_t)r * n + c] = fminf(D[(size_t)r * n + c], through + D[(size_t)k * n + c]);
}
// Horner's rule in pairs of halves.
extern "C" __global__ void half2_horner(const __half2* x, __half2* y, int n2, int rounds) {
  AT;
  if (i >= n2) return;
  __half2 v = x[i], a = __float2half2_rn(0.5f), b = __float2half2_rn(0.25f);
  for (int r = 0; r < rounds; r++) {
    a = __hfma2(a, v, b);
    b = __hfma2(b, v, a);
    a = __hmax2(a, __hneg2(b));
  }
  y[i] = __hadd2(a, b);
}
// Counts that each thread keeps in an array of its own, placed by data.
extern "C" __global__ void own_histogram(const unsigned* x, unsigned* out, int n, int each) {
  AT;
  unsigned h[16];
#pragma unroll
  for (int k = 0; k < 16; k++) h[k] = 0;
  int all = gridDim.x * blockDim.x;
  for (int j = 0; j < each; j++) h[x[(size_t)j * all + i] & 15]++;
#pragma unroll
  for (int k = 0; k < 16; k++) out[(size_t)k * all + i] = h[k];
}
