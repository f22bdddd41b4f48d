// Steps of a language model.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define FULL 0xffffffffu
__device__ float warp_sum(float v) { for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(FULL, v, d); return v; }
__device__ float warp_most(float v) { for (int d = 16; d; d >>= 1) v = fmaxf(v, __shfl_xor_sync(FULL, v, d)); return v; }
__device__ float block_sum(float v, float* part) {
  v = warp_sum(v);
  __syncthreads();
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
  __syncthreads();
  v = (threadIdx.x & 31) < blockDim.x / 32 ? part[threadIdx.x & 31] : 0.f;
  return warp_sum(v);
}
// Residual added, then layer norm; a row of 1024 stays in registers of its block.
extern "C" __global__ void add_layernorm_1024(const float4* X, const float4* R, const float4* g, const float4* b, float4* sum, float4* Y) {
  __shared__ float part[8];
  size_t at = (size_t)blockIdx.x * 256 + threadIdx.x;
  float4 x = X[at], r = R[at];
  x.x += r.x; x.y += r.y; x.z += r.z; x.w += r.w;
  sum[at] = x;
  float mean = block_sum(x.x + x.y + x.z + x.w, part) / 1024.f;
  x.x -= mean; x.y -= mean; x.z -= mean; x.w -= mean;
  float k = rsqrtf(block_sum(x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w, part) / 1024.f + 1e-5f);
  float4 s = g[threadIdx.x], t = b[threadIdx.x];
  Y[at] = make_float4(x.x * k * s.x + t.x, x.y * k * s.y + t.y, x.z * k * s.z + t.z, x.w * k * s.w + t.w);
}
// RMS norm of bf16 rows, a warp a row, 16 bytes a load.
extern "C" __global__ void rmsnorm_bf16_rows(const uint4* X, const uint4* g, uint4* Y, int rows, int words) {
  int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  if (row >= rows) return;
  const uint4* x = X + (size_t)row * words;
  float q = 0;
  for (int i = lane; i < words; i += 32) {
    uint4 v = x[i];
    const __nv_bfloat162* p = (const __nv_bfloat162*)&v;
#pragma unroll
    for (int k = 0; k < 4; k++) { float2 f = __bfloat1622float2(p[k]); q += f.x * f.x + f.y * f.y; }
  }
  float k = rsqrtf(warp_sum(q) / (words * 8) + 1e-6f);
  for (int i = lane; i < words; i += 32) {
    uint4 v = x[i], w = g[i], o;
    const __nv_bfloat162 *p = (const __nv_bfloat162*)&v, *s = (const __nv_bfloat162*)&w;
    __nv_bfloat162* y = (__nv_bfloat162*)&o;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float2 f = __bfloat1622float2(p[j]), t = __bfloat1622float2(s[j]);
      y[j] = __floats2bfloat162_rn(f.x * k * t.x, f.y * k * t.y);
    }
    Y[(size_t)row * words + i] = o;
  }
}
__device__ float gelu_of(float v) { return 0.5f * v * (1.f + erff(v * 0.70710678f)); }
extern "C" __global__ void gelu_exact(const float4* X, const float4* bias, float4* Y, int n4, int cols4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 v = X[i], b = bias[i % cols4];
    Y[i] = make_float4(gelu_of(v.x + b.x), gelu_of(v.y + b.y), gelu_of(v.z + b.z), gelu_of(v.w + b.w));
  }
}
extern "C" __global__ void swiglu_half(const __half2* gate, const __half2* up, __half2* out, int n2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n2) return;
  float2 g = __half22float2(gate[i]);
  __half2 s = __floats2half2_rn(g.x / (1.f + __expf(-g.x)), g.y / (1.f + __expf(-g.y)));
  out[i] = __hmul2(s, up[i]);
}
// Scores Q K^T under a causal mask, tiles of 32 x 32; blocks above the diagonal have nothing to do.
extern "C" __global__ void causal_scores(const float* Q, const float* K, float* S, int n) {
  __shared__ float q[32][65], k[32][65];
  int rows = blockIdx.y * 32, cols = blockIdx.x * 32, tx = threadIdx.x, ty = threadIdx.y;
  if (cols > rows) return;
  size_t head = (size_t)blockIdx.z * n * 64;
  for (int r = ty; r < 32; r += 8)
    for (int c = tx; c < 64; c += 32) {
      q[r][c] = Q[head + (size_t)(rows + r) * 64 + c];
      k[r][c] = K[head + (size_t)(cols + r) * 64 + c];
    }
  __syncthreads();
  float a[4] = {0, 0, 0, 0};
  for (int d = 0; d < 64; d++) {
    float other = k[tx][d];
#pragma unroll
    for (int j = 0; j < 4; j++) a[j] += q[ty + 8 * j][d] * other;
  }
#pragma unroll
  for (int j = 0; j < 4; j++) {
    int r = rows + ty + 8 * j;
    S[((size_t)blockIdx.z * n + r) * n + cols + tx] = cols + tx <= r ? a[j] * 0.125f : -1e30f;
  }
}
// Softmax of the first r + 1 entries of row r: rows are of unequal length.
extern "C" __global__ void causal_softmax(float* S, float* P, int n) {
  __shared__ float part[8];
  int r = blockIdx.x % n;
  const float* s = S + (size_t)blockIdx.x * n;
  float m = -3e38f;
  for (int i = threadIdx.x; i <= r; i += blockDim.x) m = fmaxf(m, s[i]);
  m = warp_most(m);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = m;
  __syncthreads();
  for (int w = 0; w < blockDim.x / 32; w++) m = fmaxf(m, part[w]);
  float sum = 0;
  for (int i = threadIdx.x; i <= r; i += blockDim.x) sum += __expf(s[i] - m);
  float k = 1.f / block_sum(sum, part);
  for (int i = threadIdx.x; i < n; i += blockDim.x) P[(size_t)blockIdx.x * n + i] = i <= r ? __expf(s[i] - m) * k : 0.f;
}
// Rotary embedding, halves of the head against each other, angles computed.
extern "C" __global__ void rope_halves(const __half* X, __half* Y, int heads, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int d = i & 63, h = i >> 6, position = h / heads;
  float angle = position * exp2f(d * (-13.2877f / 64)), s, c;
  __sincosf(angle, &s, &c);
  size_t at = (size_t)h * 128 + d;
  float a = __half2float(X[at]), b = __half2float(X[at + 64]);
  Y[at] = __float2half(a * c - b * s);
  Y[at + 64] = __float2half(b * c + a * s);
}
// New keys and values go where a page table says: pages of 16 tokens of 128 values.
extern "C" __global__ void append_pages(const uint4* K, const uint4* V, const int* page, uint4* keys, uint4* values, int tokens) {
  int token = blockIdx.x * (blockDim.x >> 4) + (threadIdx.x >> 4), part = threadIdx.x & 15;
  if (token >= tokens) return;
  size_t to = ((size_t)page[token >> 4] * 16 + (token & 15)) * 16 + part;
  keys[to] = K[(size_t)token * 16 + part];
  values[to] = V[(size_t)token * 16 + part];
}
// One query a block against keys in pages, a warp a key.
extern "C" __global__ void paged_scores(const float* q, const float4* keys, const int* page, float* out, int n) {
  int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
  float4 mine = ((const float4*)q)[blockIdx.x * 32 + lane];
  for (int t = threadIdx.x >> 5; t < n; t += warps) {
    float4 k = keys[((size_t)page[blockIdx.x * (n >> 4) + (t >> 4)] * 16 + (t & 15)) * 32 + lane];
    float a = warp_sum(mine.x * k.x + mine.y * k.y + mine.z * k.z + mine.w * k.w);
    if (lane == 0) out[(size_t)blockIdx.x * n + t] = a * 0.0884f;
  }
}
extern "C" __global__ void embed_positions(const int* token, const float4* words, const float4* places, float4* out, int length, int cols4) {
  int t = blockIdx.x;
  const float4 *w = words + (size_t)token[t] * cols4, *p = places + (size_t)(t % length) * cols4;
  for (int i = threadIdx.x; i < cols4; i += blockDim.x) {
    float4 a = w[i], b = p[i];
    out[(size_t)t * cols4 + i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
}
// The eight largest of a row: one after the other, the taken one struck out in shared memory.
extern "C" __global__ void top_8(const float* X, int* at, float* value, int cols) {
  extern __shared__ float row[];
  __shared__ float best[8];
  __shared__ int place[8];
  for (int i = threadIdx.x; i < cols; i += blockDim.x) row[i] = X[(size_t)blockIdx.x * cols + i];
  for (int k = 0; k < 8; k++) {
    __syncthreads();
    float m = -3e38f;
    int p = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) if (row[i] > m) { m = row[i]; p = i; }
    for (int d = 16; d; d >>= 1) {
      float om = __shfl_down_sync(FULL, m, d);
      int op = __shfl_down_sync(FULL, p, d);
      if (om > m) { m = om; p = op; }
    }
    if ((threadIdx.x & 31) == 0) { best[threadIdx.x >> 5] = m; place[threadIdx.x >> 5] = p; }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < blockDim.x / 32; w++) if (best[w] > best[0]) { best[0] = best[w]; place[0] = place[w]; }
      at[blockIdx.x * 8 + k] = place[0];
      value[blockIdx.x * 8 + k] = best[0];
      row[place[0]] = -3e38f;
    }
  }
}
// Cross entropy with the maximum kept along, a block a row.
extern "C" __global__ void cross_entropy(const float* X, const int* label, float* loss, int cols) {
  __shared__ float ms[8], ss[8];
  const float* x = X + (size_t)blockIdx.x * cols;
  float m = -3e38f, s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float v = x[i];
    if (v > m) { s = s * __expf(m - v) + 1.f; m = v; } else s += __expf(v - m);
  }
  for (int d = 16; d; d >>= 1) {
    float om = __shfl_xor_sync(FULL, m, d), os = __shfl_xor_sync(FULL, s, d), big = fmaxf(m, om);
    s = s * __expf(m - big) + os * __expf(om - big);
    m = big;
  }
  if ((threadIdx.x & 31) == 0) { ms[threadIdx.x >> 5] = m; ss[threadIdx.x >> 5] = s; }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; w++) {
      float big = fmaxf(m, ms[w]);
      s = s * __expf(m - big) + ss[w] * __expf(ms[w] - big);
      m = big;
    }
    loss[blockIdx.x] = m + __logf(s) - x[label[blockIdx.x]];
  }
}
// Matrix of 8-bit weights with a scale a row, times a vector of halves.
extern "C" __global__ void matvec_int8(const int4* W, const float* scale, const __half2* x, float* y, int rows, int cols16) {
  int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  if (row >= rows) return;
  float a = 0;
  for (int i = lane; i < cols16; i += 32) {
    int4 w = W[(size_t)row * cols16 + i];
    const char2* c = (const char2*)&w;
#pragma unroll
    for (int k = 0; k < 8; k++) { float2 v = __half22float2(x[i * 8 + k]); a += c[k].x * v.x + c[k].y * v.y; }
  }
  a = warp_sum(a);
  if (lane == 0) y[row] = a * scale[row];
}
