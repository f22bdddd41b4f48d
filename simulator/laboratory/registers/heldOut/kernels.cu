// Kernels that the estimate of registers was not tuned on: see registers.csv.
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cassert>
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
namespace cg = cooperative_groups;
KERNEL b_scale2d(const float* in, float* out, int pitch, int w, int h, float s) {
  int x = THREAD, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) out[y * pitch + x] = in[y * pitch + x] * s;
}
KERNEL b_unroll8(const float* a, float* b, int n) {
  int i = THREAD * 8;
  float v[8];
  for (int k = 0; k < 8; k++) v[k] = a[i + k];
  for (int k = 0; k < 8; k++) b[i + k] = v[k] * v[7 - k];
}
KERNEL b_strided_unroll(const float* a, float* o, int n) {
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int st = gridDim.x * blockDim.x;
  int i = THREAD;
  for (; i + 3 * st < n; i += 4 * st) {
    s0 += a[i];
    s1 += a[i + st];
    s2 += a[i + 2 * st];
    s3 += a[i + 3 * st];
  }
  for (; i < n; i += st) s0 += a[i];
  o[THREAD] = s0 + s1 + s2 + s3;
}
KERNEL b_dot64(const double* a, const double* b, double* o, size_t n) {
  double s = 0;
  for (size_t i = THREAD; i < n; i += (size_t)gridDim.x * blockDim.x) s += a[i] * b[i];
  for (int k = 16; k; k >>= 1) s += __shfl_down_sync(~0u, s, k);
  if ((threadIdx.x & 31) == 0) atomicAdd(o, s);
}
KERNEL b_sigmoidd(const double* x, double* y, int n) {
  int i = THREAD;
  if (i < n) y[i] = 1.0 / (1.0 + exp(-x[i]));
}
KERNEL b_norm3(const float3* v, float3* o, int n) {
  int i = THREAD;
  if (i < n) {
    float3 a = v[i];
    float l = sqrtf(a.x * a.x + a.y * a.y + a.z * a.z);
    o[i] = make_float3(a.x / l, a.y / l, a.z / l);
  }
}
KERNEL b_quat(const float4* q, const float3* p, float3* o, int n) {
  int i = THREAD;
  if (i >= n) return;
  float4 r = q[i];
  float3 v = p[i];
  float tx = 2 * (r.y * v.z - r.z * v.y), ty = 2 * (r.z * v.x - r.x * v.z), tz = 2 * (r.x * v.y - r.y * v.x);
  o[i] = make_float3(v.x + r.w * tx + r.y * tz - r.z * ty, v.y + r.w * ty + r.z * tx - r.x * tz,
                     v.z + r.w * tz + r.x * ty - r.y * tx);
}
KERNEL b_mat4(const float* m, const float4* v, float4* o, int n) {
  int i = THREAD;
  if (i >= n) return;
  float4 a = v[i];
  o[i] = make_float4(m[0] * a.x + m[1] * a.y + m[2] * a.z + m[3] * a.w,
                     m[4] * a.x + m[5] * a.y + m[6] * a.z + m[7] * a.w,
                     m[8] * a.x + m[9] * a.y + m[10] * a.z + m[11] * a.w,
                     m[12] * a.x + m[13] * a.y + m[14] * a.z + m[15] * a.w);
}
KERNEL b_sobel(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = THREAD, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const unsigned char* p = in + y * w + x;
  int gx = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1];
  int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
  int m = abs(gx) + abs(gy);
  out[y * w + x] = m > 255 ? 255 : m;
}
KERNEL b_median3(const float* in, float* out, int w, int h) {
  int x = THREAD, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  float v[9];
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) v[j * 3 + i] = in[(y + j - 1) * w + x + i - 1];
  for (int i = 0; i < 5; i++)
    for (int j = i + 1; j < 9; j++)
      if (v[j] < v[i]) {
        float t = v[i];
        v[i] = v[j];
        v[j] = t;
      }
  out[y * w + x] = v[4];
}
KERNEL b_bilateral(const float* in, float* out, int w, int h, float sr) {
  int x = THREAD, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float c = in[y * w + x], s = 0, ws = 0;
  for (int j = -3; j <= 3; j++)
    for (int i = -3; i <= 3; i++) {
      int xx = min(max(x + i, 0), w - 1), yy = min(max(y + j, 0), h - 1);
      float v = in[yy * w + xx], d = v - c;
      float wt = __expf(-(i * i + j * j) * 0.05f - d * d * sr);
      s += wt * v;
      ws += wt;
    }
  out[y * w + x] = s / ws;
}
KERNEL b_wave2d(const float* p, const float* c, float* n, int nx, int ny, float k) {
  int x = THREAD, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1) {
    int i = y * nx + x;
    n[i] = 2 * c[i] - p[i] + k * (c[i - 1] + c[i + 1] + c[i - nx] + c[i + nx] - 4 * c[i]);
  }
}
KERNEL b_shared_stencil(const float* in, float* out, int n) {
  __shared__ float s[256 + 8];
  int g = THREAD, l = threadIdx.x + 4;
  s[l] = g < n ? in[g] : 0;
  if (threadIdx.x < 4) {
    s[l - 4] = g >= 4 ? in[g - 4] : 0;
    s[l + 256] = g + 256 < n ? in[g + 256] : 0;
  }
  __syncthreads();
  float r = 0;
  for (int k = -4; k <= 4; k++) r += s[l + k];
  if (g < n) out[g] = r;
}
template <typename T, int TILE>
__device__ void gemmBody(const T* A, const T* B, T* C, int m, int n, int k) {
  __shared__ T a[TILE][TILE], b[TILE][TILE + 1];
  int r = blockIdx.y * TILE + threadIdx.y, c = blockIdx.x * TILE + threadIdx.x;
  T s = 0;
  for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
    int ka = t * TILE + threadIdx.x, kb = t * TILE + threadIdx.y;
    a[threadIdx.y][threadIdx.x] = (r < m && ka < k) ? A[r * k + ka] : T(0);
    b[threadIdx.y][threadIdx.x] = (kb < k && c < n) ? B[kb * n + c] : T(0);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < TILE; q++) s += a[threadIdx.y][q] * b[q][threadIdx.x];
    __syncthreads();
  }
  if (r < m && c < n) C[r * n + c] = s;
}
KERNEL b_gemm_f8(const float* A, const float* B, float* C, int m, int n, int k) {
  gemmBody<float, 8>(A, B, C, m, n, k);
}
KERNEL b_gemm_f32(const float* A, const float* B, float* C, int m, int n, int k) {
  gemmBody<float, 32>(A, B, C, m, n, k);
}
KERNEL b_gemm_d16(const double* A, const double* B, double* C, int m, int n, int k) {
  gemmBody<double, 16>(A, B, C, m, n, k);
}
KERNEL b_gemm_i16(const int* A, const int* B, int* C, int m, int n, int k) {
  gemmBody<int, 16>(A, B, C, m, n, k);
}
KERNEL b_gemm_reg8(const float* A, const float* B, float* C, int n) {
  __shared__ float as[8][128], bs[8][128];
  int t = threadIdx.x, tx = t % 16, ty = t / 16;
  float acc[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
    for (int q = 0; q < 4; q++) {
      int e = t + q * 256;
      as[e % 8][e / 8] = A[(blockIdx.y * 128 + e / 8) * n + k0 + e % 8];
      bs[e / 128][e % 128] = B[(k0 + e / 128) * n + blockIdx.x * 128 + e % 128];
    }
    __syncthreads();
    for (int k = 0; k < 8; k++) {
      float a[8], b[8];
      for (int q = 0; q < 8; q++) {
        a[q] = as[k][ty * 8 + q];
        b[q] = bs[k][tx * 8 + q];
      }
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      C[(blockIdx.y * 128 + ty * 8 + i) * n + blockIdx.x * 128 + tx * 8 + j] = acc[i][j];
}
KERNEL b_matvec_warp(const float* A, const float* x, float* y, int m, int n) {
  int w = THREAD / 32, l = threadIdx.x % 32;
  if (w >= m) return;
  float s = 0;
  for (int c = l; c < n; c += 32) s += A[(size_t)w * n + c] * x[c];
  for (int k = 16; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
  if (l == 0) y[w] = s;
}
KERNEL b_matvec_vec4(const float4* A, const float4* x, float* y, int n4) {
  const float4* r = A + (size_t)blockIdx.x * n4;
  float s = 0;
  for (int c = threadIdx.x; c < n4; c += blockDim.x) {
    float4 a = r[c], b = x[c];
    s += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  __shared__ float red[8];
  for (int k = 16; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; k++) s += red[k];
    y[blockIdx.x] = s;
  }
}
KERNEL b_argmin(const float* x, int* o, int n) {
  __shared__ float v[128];
  __shared__ int id[128];
  float b = 3e38f;
  int bi = 0;
  for (int i = threadIdx.x; i < n; i += 128)
    if (x[i] < b) {
      b = x[i];
      bi = i;
    }
  v[threadIdx.x] = b;
  id[threadIdx.x] = bi;
  __syncthreads();
  for (int k = 64; k; k /= 2) {
    if (threadIdx.x < k && v[threadIdx.x + k] < v[threadIdx.x]) {
      v[threadIdx.x] = v[threadIdx.x + k];
      id[threadIdx.x] = id[threadIdx.x + k];
    }
    __syncthreads();
  }
  if (!threadIdx.x) *o = id[0];
}
KERNEL b_variance(const float* x, float* m, float* v, int n) {
  float mean = 0, m2 = 0;
  int c = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    c++;
    float d = x[i] - mean;
    mean += d / c;
    m2 += d * (x[i] - mean);
  }
  m[threadIdx.x] = mean;
  v[threadIdx.x] = m2 / c;
}
KERNEL b_layernorm(const float* x, const float* g, const float* b, float* y, int d) {
  __shared__ float s1[32], s2[32];
  float a = 0, q = 0;
  const float* r = x + (size_t)blockIdx.x * d;
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    float v = r[i];
    a += v;
    q += v * v;
  }
  for (int k = 16; k; k >>= 1) {
    a += __shfl_xor_sync(~0u, a, k);
    q += __shfl_xor_sync(~0u, q, k);
  }
  int w = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    s1[w] = a;
    s2[w] = q;
  }
  __syncthreads();
  a = q = 0;
  for (int k = 0; k < (blockDim.x + 31) / 32; k++) {
    a += s1[k];
    q += s2[k];
  }
  float mu = a / d, rs = rsqrtf(q / d - mu * mu + 1e-5f);
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    y[(size_t)blockIdx.x * d + i] = (r[i] - mu) * rs * g[i] + b[i];
}
KERNEL b_gelu_tanh(const float* x, float* y, int n) {
  int i = THREAD;
  if (i < n) {
    float v = x[i];
    y[i] = 0.5f * v * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
  }
}
KERNEL b_silu_mul(const __half* a, const __half* b, __half* o, int n) {
  int i = THREAD;
  if (i < n) {
    float v = __half2float(a[i]);
    o[i] = __float2half(v / (1 + __expf(-v)) * __half2float(b[i]));
  }
}
KERNEL b_dropout(const float* x, float* y, unsigned seed, float p, int n) {
  int i = THREAD;
  if (i < n) {
    unsigned s = i * 2654435761u ^ seed;
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    y[i] = (s * 2.3283064e-10f) < p ? 0 : x[i] / (1 - p);
  }
}
KERNEL b_xent(const float* lg, const int* t, float* loss, int c) {
  int r = THREAD;
  const float* p = lg + r * c;
  float m = p[0];
  for (int k = 1; k < c; k++) m = fmaxf(m, p[k]);
  float s = 0;
  for (int k = 0; k < c; k++) s += expf(p[k] - m);
  loss[r] = logf(s) + m - p[t[r]];
}
KERNEL b_rope(float* q, int hd, int pos) {
  int h = blockIdx.x, i = threadIdx.x;
  float f = powf(10000.f, -2.f * i / hd);
  float s, c;
  __sincosf(pos * f, &s, &c);
  float* p = q + h * hd;
  float a = p[i], b = p[i + hd / 2];
  p[i] = a * c - b * s;
  p[i + hd / 2] = a * s + b * c;
}
KERNEL b_im2col(const float* im, float* col, int C, int H, int W, int k, int oh, int ow, int st, int pad) {
  int i = THREAD;
  if (i >= C * oh * ow) return;
  int x = i % ow, y = (i / ow) % oh, c = i / ow / oh;
  for (int a = 0; a < k; a++)
    for (int b = 0; b < k; b++) {
      int yy = y * st - pad + a, xx = x * st - pad + b;
      col[((c * k + a) * k + b) * oh * ow + y * ow + x] =
          (yy >= 0 && yy < H && xx >= 0 && xx < W) ? im[(c * H + yy) * W + xx] : 0;
    }
}
KERNEL b_conv_direct(const float* x, const float* w, const float* bias, float* y, int ci, int h, int wd) {
  int ox = threadIdx.x, oy = blockIdx.x, co = blockIdx.y;
  float s = bias[co];
  for (int c = 0; c < ci; c++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        int yy = oy + i - 1, xx = ox + j - 1;
        if (yy >= 0 && yy < h && xx >= 0 && xx < wd)
          s += x[(c * h + yy) * wd + xx] * w[((co * ci + c) * 3 + i) * 3 + j];
      }
  y[(co * h + oy) * wd + ox] = s > 0 ? s : 0;
}
KERNEL b_upsample(const float* x, float* y, int w, int h) {
  int ox = THREAD, oy = blockIdx.y;
  float sx = (ox + 0.5f) * 0.5f - 0.5f, sy = (oy + 0.5f) * 0.5f - 0.5f;
  int x0 = max((int)floorf(sx), 0), y0 = max((int)floorf(sy), 0), x1 = min(x0 + 1, w - 1),
      y1 = min(y0 + 1, h - 1);
  float fx = sx - x0, fy = sy - y0;
  y[oy * w * 2 + ox] = (x[y0 * w + x0] * (1 - fx) + x[y0 * w + x1] * fx) * (1 - fy) +
                       (x[y1 * w + x0] * (1 - fx) + x[y1 * w + x1] * fx) * fy;
}
KERNEL b_radix_count(const unsigned* k, unsigned* c, int shift, int n) {
  __shared__ unsigned h[16];
  if (threadIdx.x < 16) h[threadIdx.x] = 0;
  __syncthreads();
  int i = THREAD;
  if (i < n) atomicAdd(&h[(k[i] >> shift) & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) c[threadIdx.x * gridDim.x + blockIdx.x] = h[threadIdx.x];
}
KERNEL b_oddeven(int* d, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = d[t];
  __syncthreads();
  for (int p = 0; p < n; p++) {
    int j = 2 * t + (p & 1);
    if (j + 1 < n && s[j] > s[j + 1]) {
      int x = s[j];
      s[j] = s[j + 1];
      s[j + 1] = x;
    }
    __syncthreads();
  }
  d[t] = s[t];
}
KERNEL b_merge(const int* a, const int* b, int* o, int n, int m) {
  int i = THREAD;
  if (i >= n) return;
  int v = a[i], lo = 0, hi = m;
  while (lo < hi) {
    int md = (lo + hi) / 2;
    if (b[md] < v)
      lo = md + 1;
    else
      hi = md;
  }
  o[i + lo] = v;
}
KERNEL b_gol(const uint8_t* a, uint8_t* b, int w, int h) {
  int x = THREAD, y = blockIdx.y;
  int c = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      if (i || j) c += a[((y + j + h) % h) * w + (x + i + w) % w];
  b[y * w + x] = c == 3 || (c == 2 && a[y * w + x]);
}
KERNEL b_julia(uchar4* im, int w, int h, float cr, float ci) {
  int x = THREAD, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float zx = 3.f * (x - w / 2) / w, zy = 2.f * (y - h / 2) / h;
  int i = 0;
  while (zx * zx + zy * zy < 4 && i < 255) {
    float t = zx * zx - zy * zy + cr;
    zy = 2 * zx * zy + ci;
    zx = t;
    i++;
  }
  im[y * w + x] = make_uchar4(i, i * 2, i * 4, 255);
}
KERNEL b_lcg64(uint64_t* s, double* o, int n) {
  int i = THREAD;
  uint64_t x = s[i];
  double a = 0;
  for (int k = 0; k < n; k++) {
    x = x * 6364136223846793005ull + 1442695040888963407ull;
    a += (x >> 11) * (1.0 / 9007199254740992.0);
  }
  s[i] = x;
  o[i] = a;
}
KERNEL b_pcg(uint64_t* st, uint32_t* o, int n) {
  int i = THREAD;
  uint64_t s = st[i];
  for (int k = 0; k < n; k++) {
    uint64_t p = s;
    s = p * 6364136223846793005ull + (i | 1);
    uint32_t x = ((p >> 18) ^ p) >> 27, r = p >> 59;
    o[i * n + k] = (x >> r) | (x << ((-r) & 31));
  }
  st[i] = s;
}
KERNEL b_modpow(const uint64_t* b, const uint64_t* e, uint64_t* o, uint64_t m, int n) {
  int i = THREAD;
  if (i >= n) return;
  uint64_t r = 1, x = b[i] % m, y = e[i];
  while (y) {
    if (y & 1) r = r * x % m;
    x = x * x % m;
    y >>= 1;
  }
  o[i] = r;
}
KERNEL b_mul128(const ulonglong2* a, const ulonglong2* b, ulonglong2* o, int n) {
  int i = THREAD;
  if (i < n) {
    auto x = a[i], y = b[i];
    uint64_t lo = x.x * y.x, hi = __umul64hi(x.x, y.x) + x.x * y.y + x.y * y.x;
    o[i] = make_ulonglong2(lo, hi);
  }
}
KERNEL b_crc(const uint8_t* d, uint32_t* o, int len, int n) {
  int i = THREAD;
  if (i >= n) return;
  uint32_t c = ~0u;
  for (int k = 0; k < len; k++) {
    c ^= d[i * len + k];
    for (int b = 0; b < 8; b++) c = (c >> 1) ^ (0xEDB88320u & -(c & 1));
  }
  o[i] = ~c;
}
KERNEL b_popc_sum(const uint64_t* a, const uint64_t* q, int* d, int words, int n) {
  int i = THREAD;
  if (i < n) {
    int s = 0;
    for (int k = 0; k < words; k++) s += __popcll(a[i * words + k] ^ q[k]);
    d[i] = s;
  }
}
KERNEL b_hashins(unsigned long long* t, const unsigned* k, const unsigned* v, int cap, int n) {
  int i = THREAD;
  if (i >= n) return;
  unsigned long long kv = ((unsigned long long)k[i] << 32) | v[i];
  unsigned h = k[i] * 2654435761u % cap;
  while (1) {
    unsigned long long o = atomicCAS(&t[h], 0ull, kv);
    if (o == 0 || (o >> 32) == k[i]) break;
    h = (h + 1) % cap;
  }
}
KERNEL b_list_rank(int* nx, int* rk, int n) {
  int i = THREAD;
  if (i >= n) return;
  while (nx[i] != nx[nx[i]]) {
    rk[i] += rk[nx[i]];
    nx[i] = nx[nx[i]];
    __threadfence();
  }
}
KERNEL b_triangles(const int* rp, const int* ci, unsigned long long* c, int n) {
  int u = THREAD;
  if (u >= n) return;
  unsigned long long s = 0;
  for (int e = rp[u]; e < rp[u + 1]; e++) {
    int v = ci[e];
    int a = rp[u], b = rp[v];
    while (a < rp[u + 1] && b < rp[v + 1]) {
      int x = ci[a], y = ci[b];
      if (x == y) s++;
      a += x <= y;
      b += y <= x;
    }
  }
  atomicAdd(c, s);
}
KERNEL b_sssp(const int* rp, const int* ci, const float* w, float* d, int* ch, int n) {
  int u = THREAD;
  if (u < n) {
    float du = d[u];
    for (int e = rp[u]; e < rp[u + 1]; e++) {
      float nd = du + w[e];
      int v = ci[e];
      if (nd < d[v]) {
        atomicMin((int*)&d[v], __float_as_int(nd));
        *ch = 1;
      }
    }
  }
}
KERNEL b_coop(float* x, int n, int it) {
  auto g = cg::this_grid();
  int i = THREAD;
  for (int k = 0; k < it; k++) {
    if (i < n) x[i] = x[i] * 0.5f + 1;
    g.sync();
  }
}
KERNEL b_tile_reduce(const int* x, int* o, int n) {
  auto t = cg::tiled_partition<8>(cg::this_thread_block());
  int i = THREAD;
  int v = i < n ? x[i] : 0;
  for (int k = 4; k; k >>= 1) v += t.shfl_down(v, k);
  if (t.thread_rank() == 0) atomicAdd(&o[blockIdx.x], v);
}
KERNEL b_match(const int* k, unsigned* m, int n) {
  int i = THREAD;
  m[i] = __match_any_sync(~0u, k[i]);
}
KERNEL b_assert(const int* x, int n) {
  int i = THREAD;
  assert(i >= n || x[i] >= 0);
}
KERNEL b_print4(const float* x) { printf("%d %f %f %s\n", threadIdx.x, x[0], x[1], "end"); }
struct Particle {
  float px, py, pz, vx, vy, vz, m;
  int id;
};
KERNEL b_particles(Particle* p, float dt, float3 g, int n) {
  int i = THREAD;
  if (i >= n) return;
  Particle a = p[i];
  a.vx += g.x * dt;
  a.vy += g.y * dt;
  a.vz += g.z * dt;
  a.px += a.vx * dt;
  a.py += a.vy * dt;
  a.pz += a.vz * dt;
  if (a.py < 0) {
    a.py = -a.py;
    a.vy *= -0.8f;
  }
  p[i] = a;
}
KERNEL b_lj(const double3* r, double3* f, const int* nl, int nn, int n) {
  int i = THREAD;
  if (i >= n) return;
  double3 a = r[i];
  double fx = 0, fy = 0, fz = 0;
  for (int k = 0; k < nn; k++) {
    double3 b = r[nl[k * n + i]];
    double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    double r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < 6.25) {
      double ir = 1 / r2, i6 = ir * ir * ir, s = 48 * i6 * (i6 - 0.5) * ir;
      fx += dx * s;
      fy += dy * s;
      fz += dz * s;
    }
  }
  f[i] = make_double3(fx, fy, fz);
}
KERNEL b_rk4(double* y, double h, int steps, int n) {
  int i = THREAD;
  if (i >= n) return;
  double v = y[i];
  for (int k = 0; k < steps; k++) {
    double k1 = -v * v, k2 = -(v + h / 2 * k1) * (v + h / 2 * k1), k3 = -(v + h / 2 * k2) * (v + h / 2 * k2),
           k4 = -(v + h * k3) * (v + h * k3);
    v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  y[i] = v;
}
KERNEL b_newton(const float* c, float* r, int n) {
  int i = THREAD;
  if (i >= n) return;
  float x = 1, a = c[i];
  for (int k = 0; k < 20; k++) {
    float f = x * x * x - a;
    if (fabsf(f) < 1e-6f) break;
    x -= f / (3 * x * x);
  }
  r[i] = x;
}
KERNEL b_tridiag(const float* a, const float* b, const float* c, float* d, float* x, float* cp, int n,
                 int s) {
  int i = THREAD;
  if (i >= s) return;
  float m = c[i] / b[i], q = d[i] / b[i];
  cp[i] = m;
  d[i] = q;
  for (int k = 1; k < n; k++) {
    int j = k * s + i;
    float r = 1 / (b[j] - a[j] * m);
    m = c[j] * r;
    q = (d[j] - a[j] * q) * r;
    cp[j] = m;
    d[j] = q;
  }
  for (int k = n - 1; k >= 0; k--) {
    int j = k * s + i;
    q = k == n - 1 ? d[j] : d[j] - cp[j] * q;
    x[j] = q;
  }
}
KERNEL b_chol4(const float* A, float* L, int n) {
  int t = THREAD;
  if (t >= n) return;
  float a[4][4];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j <= i; j++) a[i][j] = A[t * 16 + i * 4 + j];
  for (int j = 0; j < 4; j++) {
    for (int k = 0; k < j; k++) a[j][j] -= a[j][k] * a[j][k];
    a[j][j] = sqrtf(a[j][j]);
    for (int i = j + 1; i < 4; i++) {
      for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j <= i; j++) L[t * 16 + i * 4 + j] = a[i][j];
}
KERNEL b_interp(const float* xs, const float* ys, const float* q, float* o, int n, int m) {
  int i = THREAD;
  if (i < m) {
    float v = q[i];
    int k = 0;
    while (k < n - 2 && xs[k + 1] < v) k++;
    o[i] = ys[k] + (ys[k + 1] - ys[k]) * (v - xs[k]) / (xs[k + 1] - xs[k]);
  }
}
KERNEL b_csr_block(const int* rp, const int* ci, const float* v, const float* x, float* y, int nb) {
  int br = blockIdx.x, t = threadIdx.x, r = t / 4, c = t % 4;
  float s = 0;
  for (int k = rp[br]; k < rp[br + 1]; k++) s += v[k * 16 + r * 4 + c] * x[ci[k] * 4 + c];
  s += __shfl_xor_sync(0xffff, s, 1);
  s += __shfl_xor_sync(0xffff, s, 2);
  if (c == 0) y[br * 4 + r] = s;
}
__device__ __noinline__ double ext(double a, int k) {
  double r = a;
  for (int i = 0; i < k; i++) r = r * a + i;
  return r;
}
KERNEL b_calld(const double* x, double* y, int k, int n) {
  int i = THREAD;
  if (i < n) y[i] = ext(x[i], k) * ext(x[i] + 1, k + 1);
}
__device__ float sq(float a) { return a * a; }
__device__ float cu(float a) { return a * a * a; }
typedef float (*F)(float);
__device__ F tab[2] = {sq, cu};
KERNEL b_fptr(const float* x, float* y, const int* s, int n) {
  int i = THREAD;
  if (i < n) y[i] = tab[s[i]](x[i]);
}
KERNEL b_switch(const int* op, const float* a, const float* b, float* o, int n) {
  int i = THREAD;
  if (i >= n) return;
  float x = a[i], y = b[i], r;
  switch (op[i]) {
    case 0:
      r = x + y;
      break;
    case 1:
      r = x - y;
      break;
    case 2:
      r = x * y;
      break;
    case 3:
      r = x / y;
      break;
    case 4:
      r = fminf(x, y);
      break;
    case 5:
      r = sqrtf(x * y);
      break;
    default:
      r = x;
  }
  o[i] = r;
}
__constant__ float coef[64];
KERNEL b_fir(const float* x, float* y, int n) {
  int i = THREAD;
  if (i < n) {
    float s = 0;
    for (int k = 0; k < 64; k++) s += coef[k] * x[i + k];
    y[i] = s;
  }
}
KERNEL __launch_bounds__(128, 10) b_lb48(const float* x, float* y, int n) {
  int i = THREAD;
  float v[24];
  for (int k = 0; k < 24; k++) v[k] = x[i + k * n];
  for (int k = 0; k < 24; k++)
    for (int j = 0; j < 24; j++) v[k] = fmaf(v[k], v[j], 0.5f);
  for (int k = 0; k < 24; k++) y[i + k * n] = v[k];
}
KERNEL b_iir(const double* x, double* y, int n, int ch) {
  int c = THREAD;
  if (c >= ch) return;
  double z1 = 0, z2 = 0;
  for (int k = 0; k < n; k++) {
    double v = x[k * ch + c];
    double o = 0.1 * v + z1;
    z1 = 0.2 * v - 1.5 * o + z2;
    z2 = 0.1 * v - 0.6 * o;
    y[k * ch + c] = o;
  }
}
