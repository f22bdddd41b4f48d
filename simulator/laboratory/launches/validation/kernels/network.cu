// Layers of neural networks.
#include <cuda_fp16.h>
extern "C" __global__ void depthwise_3x3(const float* X, const float* W, float* Y, int C, int H, int Wd) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z % C;
  if (x >= Wd || y >= H) return;
  const float* in = X + (size_t)blockIdx.z * H * Wd;
  float a = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      int u = x + dx, v = y + dy;
      if (u >= 0 && v >= 0 && u < Wd && v < H) a += in[v * Wd + u] * W[c * 9 + (dy + 1) * 3 + dx + 1];
    }
  Y[(size_t)blockIdx.z * H * Wd + y * Wd + x] = a;
}
extern "C" __global__ void im2col_3x3(const float* X, float* out, int C, int H, int W) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= C * H * W) return;
  int x = t % W, y = t / W % H, c = t / (W * H);
  for (int k = 0; k < 9; k++) {
    int u = x + k % 3 - 1, v = y + k / 3 - 1;
    out[((size_t)c * 9 + k) * H * W + y * W + x] = u >= 0 && v >= 0 && u < W && v < H ? X[(c * H + v) * W + u] : 0.f;
  }
}
extern "C" __global__ void maxpool_3x3_s2(const float* X, float* Y, int C, int H, int W) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, oh = H / 2, ow = W / 2;
  if (t >= C * oh * ow) return;
  int x = t % ow * 2, y = t / ow % oh * 2, c = t / (ow * oh);
  float m = -3.4e38f;
  for (int dy = 0; dy < 3; dy++) for (int dx = 0; dx < 3; dx++) if (x + dx < W && y + dy < H) m = fmaxf(m, X[(c * H + y + dy) * W + x + dx]);
  Y[t] = m;
}
// Global average: a block a channel.
extern "C" __global__ void avgpool_global(const float* X, float* Y, int area) {
  __shared__ float s[256];
  float a = 0;
  for (int i = threadIdx.x; i < area; i += blockDim.x) a += X[(size_t)blockIdx.x * area + i];
  s[threadIdx.x] = a;
  __syncthreads();
  for (int d = blockDim.x / 2; d; d >>= 1) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
  if (threadIdx.x == 0) Y[blockIdx.x] = s[0] / area;
}
extern "C" __global__ void batchnorm(const float* X, const float* mean, const float* var, const float* g, const float* b, float* Y, int C, int area, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = i / area % C;
  Y[i] = (X[i] - mean[c]) * rsqrtf(var[c] + 1e-5f) * g[c] + b[c];
}
extern "C" __global__ void layernorm_warp(const float* X, const float* g, const float* b, float* Y, int rows, int cols) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, l = threadIdx.x & 31;
  if (r >= rows) return;
  const float* x = X + (size_t)r * cols;
  float s = 0, q = 0;
  for (int i = l; i < cols; i += 32) { s += x[i]; q += x[i] * x[i]; }
  for (int d = 16; d; d >>= 1) { s += __shfl_xor_sync(~0u, s, d); q += __shfl_xor_sync(~0u, q, d); }
  float m = s / cols, k = rsqrtf(q / cols - m * m + 1e-5f);
  for (int i = l; i < cols; i += 32) Y[(size_t)r * cols + i] = (x[i] - m) * k * g[i] + b[i];
}
extern "C" __global__ void rmsnorm_half(const __half2* X, const __half2* g, __half2* Y, int cols2) {
  __shared__ float part[32];
  const __half2* x = X + (size_t)blockIdx.x * cols2;
  float q = 0;
  for (int i = threadIdx.x; i < cols2; i += blockDim.x) { float2 v = __half22float2(x[i]); q += v.x * v.x + v.y * v.y; }
  for (int d = 16; d; d >>= 1) q += __shfl_xor_sync(~0u, q, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = q;
  __syncthreads();
  q = 0;
  for (int w = 0; w < blockDim.x / 32; w++) q += part[w];
  float k = rsqrtf(q / (2 * cols2) + 1e-6f);
  for (int i = threadIdx.x; i < cols2; i += blockDim.x) {
    float2 v = __half22float2(x[i]), w = __half22float2(g[i]);
    Y[(size_t)blockIdx.x * cols2 + i] = __floats2half2_rn(v.x * k * w.x, v.y * k * w.y);
  }
}
// Softmax of a row in one pass over it, the row in registers of a warp.
extern "C" __global__ void softmax_warp(const float* X, float* Y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, l = threadIdx.x & 31;
  if (r >= rows) return;
  float v[8], m = -3.4e38f, s = 0;
  for (int k = 0; k < 8; k++) { v[k] = X[(size_t)r * 256 + k * 32 + l]; m = fmaxf(m, v[k]); }
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  for (int k = 0; k < 8; k++) { v[k] = __expf(v[k] - m); s += v[k]; }
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  for (int k = 0; k < 8; k++) Y[(size_t)r * 256 + k * 32 + l] = v[k] / s;
}
// Attention with online softmax, a query row a thread, keys and values of 64 floats in shared tiles of 32.
extern "C" __global__ void __launch_bounds__(64) attention_row(const float* Q, const float* K, const float* V, float* O, int n) {
  __shared__ float k[32][64], v[32][64];
  size_t head = (size_t)blockIdx.y * n * 64;
  int row = blockIdx.x * 64 + threadIdx.x;
  float q[64], o[64], m = -3.4e38f, l = 0;
#pragma unroll
  for (int d = 0; d < 64; d++) { q[d] = Q[head + (size_t)row * 64 + d] * 0.125f; o[d] = 0; }
  for (int t = 0; t < n; t += 32) {
    for (int j = 0; j < 32; j++) { k[j][threadIdx.x] = K[head + (size_t)(t + j) * 64 + threadIdx.x]; v[j][threadIdx.x] = V[head + (size_t)(t + j) * 64 + threadIdx.x]; }
    __syncthreads();
    for (int j = 0; j < 32; j++) {
      float s = 0;
#pragma unroll
      for (int d = 0; d < 64; d++) s += q[d] * k[j][d];
      float next = fmaxf(m, s), keep = __expf(m - next), p = __expf(s - next);
      l = l * keep + p; m = next;
#pragma unroll
      for (int d = 0; d < 64; d++) o[d] = o[d] * keep + p * v[j][d];
    }
    __syncthreads();
  }
#pragma unroll
  for (int d = 0; d < 64; d++) O[head + (size_t)row * 64 + d] = o[d] / l;
}
// One query against all keys, as decoding does: a block a head, scores in dynamic shared memory.
extern "C" __global__ void attention_decode(const float* Q, const float* K, const float* V, float* O, int n) {
  extern __shared__ float score[];
  __shared__ float part[8], q[64];
  const float* k = K + (size_t)blockIdx.x * n * 64;
  const float* v = V + (size_t)blockIdx.x * n * 64;
  int t = threadIdx.x, w = t >> 5, l = t & 31;
  if (t < 64) q[t] = Q[blockIdx.x * 64 + t] * 0.125f;
  __syncthreads();
  float m = -3.4e38f, s = 0;
  for (int j = w; j < n; j += 8) {
    float a = q[l] * k[j * 64 + l] + q[l + 32] * k[j * 64 + l + 32];
    for (int d = 16; d; d >>= 1) a += __shfl_xor_sync(~0u, a, d);
    if (l == 0) score[j] = a;
    m = fmaxf(m, a);
  }
  if (l == 0) part[w] = m;
  __syncthreads();
  m = part[0];
  for (int j = 1; j < 8; j++) m = fmaxf(m, part[j]);
  __syncthreads();
  for (int j = t; j < n; j += 256) { float e = __expf(score[j] - m); score[j] = e; s += e; }
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (l == 0) part[w] = s;
  __syncthreads();
  s = 0;
  for (int j = 0; j < 8; j++) s += part[j];
  __shared__ float sums[4][64];
  float a = 0;
  for (int j = t >> 6; j < n; j += 4) a += score[j] * v[j * 64 + (t & 63)];
  sums[t >> 6][t & 63] = a;
  __syncthreads();
  if (t < 64) O[blockIdx.x * 64 + t] = (sums[0][t] + sums[1][t] + sums[2][t] + sums[3][t]) / s;
}
extern "C" __global__ void lstm_cell(const float* gates, const float* c, float* cOut, float* h, int n, int units) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int b = i / units, u = i % units;
  const float* g = gates + (size_t)b * 4 * units + u;
  float in = 1 / (1 + expf(-g[0])), f = 1 / (1 + expf(-g[units])), o = 1 / (1 + expf(-g[3 * units]));
  float next = f * c[i] + in * tanhf(g[2 * units]);
  cOut[i] = next;
  h[i] = o * tanhf(next);
}
extern "C" __global__ void argmax_rows(const float* X, int* out, int cols) {
  __shared__ float best[256];
  __shared__ int at[256];
  float m = -3.4e38f; int k = 0;
  for (int i = threadIdx.x; i < cols; i += 256) { float v = X[(size_t)blockIdx.x * cols + i]; if (v > m) { m = v; k = i; } }
  best[threadIdx.x] = m; at[threadIdx.x] = k;
  __syncthreads();
  for (int d = 128; d; d >>= 1) {
    if (threadIdx.x < d && best[threadIdx.x + d] > best[threadIdx.x]) { best[threadIdx.x] = best[threadIdx.x + d]; at[threadIdx.x] = at[threadIdx.x + d]; }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = at[0];
}
extern "C" __global__ void embedding_bag(const float* table, const int* index, float* out, int dim, int bag) {
  float a = 0;
  for (int k = 0; k < bag; k++) a += table[(size_t)index[blockIdx.x * bag + k] * dim + threadIdx.x];
  out[(size_t)blockIdx.x * dim + threadIdx.x] = a;
}
extern "C" __global__ void quantise(const float* x, signed char* out, float scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (signed char)max(-127, min(127, __float2int_rn(x[i] * scale)));
}
extern "C" __global__ void rotary(const float2* x, float2* out, int heads, int pairs) {
  int p = threadIdx.x, position = blockIdx.x;
  float angle = position * __powf(10000.f, -(float)p / pairs), s, c;
  sincosf(angle, &s, &c);
  for (int h = 0; h < heads; h++) {
    size_t at = ((size_t)position * heads + h) * pairs + p;
    float2 v = x[at];
    out[at] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
  }
}
extern "C" __global__ void conv_1x1(const float* X, const float* W, float* Y, int C, int K, int area) {
  int p = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
  if (p >= area) return;
  float a = 0;
  for (int c = 0; c < C; c++) a += X[c * area + p] * W[k * C + c];
  Y[(size_t)k * area + p] = fmaxf(a, 0.f);
}
