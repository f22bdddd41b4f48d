// Matrix products in many forms.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
extern "C" __global__ void gemv_warp(const float* A, const float* x, float* y, int rows, int cols) {
  int w = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, l = threadIdx.x & 31;
  if (w >= rows) return;
  float a = 0;
  for (int c = l; c < cols; c += 32) a += A[(size_t)w * cols + c] * x[c];
  for (int d = 16; d; d >>= 1) a += __shfl_down_sync(~0u, a, d);
  if (l == 0) y[w] = a;
}
extern "C" __global__ void gemv_block4(const float4* A, const float4* x, float* y, int cols4) {
  __shared__ float part[32];
  float a = 0;
  for (int c = threadIdx.x; c < cols4; c += blockDim.x) {
    float4 u = A[(size_t)blockIdx.x * cols4 + c], v = x[c];
    a += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  for (int d = 16; d; d >>= 1) a += __shfl_down_sync(~0u, a, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = a;
  __syncthreads();
  if (threadIdx.x < 32) {
    a = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.f;
    for (int d = 16; d; d >>= 1) a += __shfl_down_sync(~0u, a, d);
    if (threadIdx.x == 0) y[blockIdx.x] = a;
  }
}
extern "C" __global__ void gemv_transposed(const float* A, const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int each = (rows + gridDim.y - 1) / gridDim.y, from = blockIdx.y * each, to = min(rows, from + each);
  if (c >= cols) return;
  float a = 0;
  for (int r = from; r < to; r++) a += A[(size_t)r * cols + c] * x[r];
  atomicAdd(&y[c], a);
}
extern "C" __global__ void gemm_batched_16(const float* A, const float* B, float* C) {
  __shared__ float a[16][16], b[16][17];
  size_t at = (size_t)blockIdx.x * 256 + threadIdx.y * 16 + threadIdx.x;
  a[threadIdx.y][threadIdx.x] = A[at];
  b[threadIdx.y][threadIdx.x] = B[at];
  __syncthreads();
  float s = 0;
  for (int k = 0; k < 16; k++) s += a[threadIdx.y][k] * b[k][threadIdx.x];
  C[at] = s;
}
// 64 x 64 of C a block, 4 x 4 a thread.
extern "C" __global__ void __launch_bounds__(256) gemm_64(const float* A, const float* B, float* C, int n) {
  __shared__ float a[16][65], b[16][64];
  int t = threadIdx.x, tx = t & 15, ty = t >> 4, row = blockIdx.y * 64, col = blockIdx.x * 64;
  float c[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int j = 0; j < 4; j++) {
      a[t & 15][(t >> 4) + 16 * j] = A[(row + (t >> 4) + 16 * j) * n + k0 + (t & 15)];
      b[(t >> 6) + 4 * j][t & 63] = B[(k0 + (t >> 6) + 4 * j) * n + col + (t & 63)];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      float u[4], v[4];
      for (int j = 0; j < 4; j++) { u[j] = a[k][ty * 4 + j]; v[j] = b[k][tx * 4 + j]; }
      for (int y = 0; y < 4; y++) for (int x = 0; x < 4; x++) c[y][x] += u[y] * v[x];
    }
    __syncthreads();
  }
  for (int y = 0; y < 4; y++) for (int x = 0; x < 4; x++) C[(row + ty * 4 + y) * n + col + tx * 4 + x] = c[y][x];
}
// 128 x 128 of C a block, 8 x 8 a thread: many registers, tiles by cp.async.
extern "C" __global__ void __launch_bounds__(256) gemm_128_async(const float* A, const float* B, float* C, int n) {
  __shared__ float a[2][128][8], b[2][8][128];
  int t = threadIdx.x, tx = t & 15, ty = t >> 4, row = blockIdx.y * 128, col = blockIdx.x * 128;
  const float* fromA = A + (row + (t >> 1)) * n + (t & 1) * 4;
  const float* fromB = B + (t >> 5) * n + col + (t & 31) * 4;
  float c[8][8] = {};
  __pipeline_memcpy_async(&a[0][t >> 1][(t & 1) * 4], fromA, 16);
  __pipeline_memcpy_async(&b[0][t >> 5][(t & 31) * 4], fromB, 16);
  __pipeline_commit();
  for (int k0 = 0; k0 < n; k0 += 8) {
    int now = (k0 >> 3) & 1;
    if (k0 + 8 < n) {
      __pipeline_memcpy_async(&a[now ^ 1][t >> 1][(t & 1) * 4], fromA + k0 + 8, 16);
      __pipeline_memcpy_async(&b[now ^ 1][t >> 5][(t & 31) * 4], fromB + (k0 + 8) * n, 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float u[8], v[8];
#pragma unroll
      for (int j = 0; j < 8; j++) { u[j] = a[now][ty * 8 + j][k]; v[j] = b[now][k][tx + 16 * j]; }
#pragma unroll
      for (int y = 0; y < 8; y++)
#pragma unroll
        for (int x = 0; x < 8; x++) c[y][x] += u[y] * v[x];
    }
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < 8; y++)
#pragma unroll
    for (int x = 0; x < 8; x++) C[(row + ty * 8 + y) * n + col + tx + 16 * x] = c[y][x];
}
extern "C" __global__ void gemm_half2(const __half2* A, const __half2* B, __half2* C, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, w = n / 2;
  __half2 s = __float2half2_rn(0.f);
  for (int k = 0; k < w; k++) {
    __half2 a = A[y * w + k];
    s = __hfma2(__low2half2(a), B[2 * k * w + x], s);
    s = __hfma2(__high2half2(a), B[(2 * k + 1) * w + x], s);
  }
  C[y * w + x] = s;
}
extern "C" __global__ void gemm_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int n) {
  __shared__ __nv_bfloat16 a[16][16], b[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    a[threadIdx.y][threadIdx.x] = A[y * n + k0 + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; k++) s += __bfloat162float(a[threadIdx.y][k]) * __bfloat162float(b[k][threadIdx.x]);
    __syncthreads();
  }
  C[y * n + x] = __float2bfloat16(s);
}
// A by rows, B by columns, four bytes a word.
extern "C" __global__ void gemm_dp4a(const int* A, const int* B, int* C, int n, int words) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int s = 0;
  for (int k = 0; k < words; k++) s = __dp4a(A[y * words + k], B[k * n + x], s);
  C[y * n + x] = s;
}
extern "C" __global__ void gemm_double(const double* A, const double* B, double* C, int n) {
  __shared__ double a[16][16], b[16][16];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  double s = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    a[threadIdx.y][threadIdx.x] = A[y * n + k0 + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; k++) s += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  C[y * n + x] = s;
}
extern "C" __global__ void outer_update(const float* x, const float* y, float* A, float s, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  A[(size_t)r * n + c] += s * x[r] * y[c];
}
// Rows of `width` slots, of which the first `lengths[r]` are in use.
extern "C" __global__ void spmv_scalar(const float* values, const int* columns, const int* lengths, const float* x, float* y, int rows, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float a = 0;
  for (int k = 0; k < lengths[r]; k++) a += values[(size_t)r * width + k] * x[columns[(size_t)r * width + k]];
  y[r] = a;
}
extern "C" __global__ void spmv_vector(const float* values, const int* columns, const int* lengths, const float* x, float* y, int rows, int width) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, l = threadIdx.x & 31;
  if (r >= rows) return;
  float a = 0;
  for (int k = l; k < lengths[r]; k += 32) a += values[(size_t)r * width + k] * x[columns[(size_t)r * width + k]];
  for (int d = 16; d; d >>= 1) a += __shfl_xor_sync(~0u, a, d);
  if (l == 0) y[r] = a;
}
extern "C" __global__ void spmm(const float* values, const int* columns, const int* lengths, const float* X, float* Y, int width, int dim) {
  int r = blockIdx.x, c = threadIdx.x;
  float a = 0;
  for (int k = 0; k < lengths[r]; k++) a += values[r * width + k] * X[(size_t)columns[r * width + k] * dim + c];
  Y[(size_t)r * dim + c] = a;
}
