// Dense and sparse matrices.
#include <cuda_fp16.h>
// 64 x 64 tile, 4 x 4 results a thread, loads of 16 bytes, the next tile fetched while this one is used.
extern "C" __global__ void __launch_bounds__(256) sgemm_two_stages(const float* A, const float* B, float* C, int n) {
  __shared__ float a[2][16][68], b[2][16][64];
  int t = threadIdx.x, tx = t & 15, ty = t >> 4, row = blockIdx.y * 64, col = blockIdx.x * 64;
  int ar = t >> 2, ac = (t & 3) * 4, br = t >> 4, bc = (t & 15) * 4;
  float4 fa = *(const float4*)&A[(size_t)(row + ar) * n + ac], fb = *(const float4*)&B[(size_t)br * n + col + bc];
  float c[4][4] = {};
  a[0][ac][ar] = fa.x; a[0][ac + 1][ar] = fa.y; a[0][ac + 2][ar] = fa.z; a[0][ac + 3][ar] = fa.w;
  *(float4*)&b[0][br][bc] = fb;
  __syncthreads();
  int use = 0;
  for (int k = 0; k < n; k += 16) {
    if (k + 16 < n) {
      fa = *(const float4*)&A[(size_t)(row + ar) * n + k + 16 + ac];
      fb = *(const float4*)&B[(size_t)(k + 16 + br) * n + col + bc];
    }
#pragma unroll
    for (int j = 0; j < 16; j++) {
      float4 u = *(const float4*)&a[use][j][ty * 4], v = *(const float4*)&b[use][j][tx * 4];
      float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++) c[p][q] += us[p] * vs[q];
    }
    if (k + 16 < n) {
      int to = use ^ 1;
      a[to][ac][ar] = fa.x; a[to][ac + 1][ar] = fa.y; a[to][ac + 2][ar] = fa.z; a[to][ac + 3][ar] = fa.w;
      *(float4*)&b[to][br][bc] = fb;
      __syncthreads();
      use = to;
    }
  }
#pragma unroll
  for (int p = 0; p < 4; p++) *(float4*)&C[(size_t)(row + ty * 4 + p) * n + col + tx * 4] = make_float4(c[p][0], c[p][1], c[p][2], c[p][3]);
}
// 128 x 128 tile, 8 x 8 results a thread, C = A^T B: both operands are read along rows.
extern "C" __global__ void __launch_bounds__(256) sgemm_transposed_8x8(const float* A, const float* B, float* C, int m, int n, int k) {
  __shared__ float a[8][128], b[8][128];
  int t = threadIdx.x, tx = t & 15, ty = t >> 4, row = blockIdx.y * 128, col = blockIdx.x * 128;
  int lr = t >> 5, lc = (t & 31) * 4;
  float c[8][8] = {};
  for (int s = 0; s < k; s += 8) {
    *(float4*)&a[lr][lc] = *(const float4*)&A[(size_t)(s + lr) * m + row + lc];
    *(float4*)&b[lr][lc] = *(const float4*)&B[(size_t)(s + lr) * n + col + lc];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; j++) {
      float u[8], v[8];
#pragma unroll
      for (int p = 0; p < 8; p++) { u[p] = a[j][ty * 8 + p]; v[p] = b[j][(p >> 2) * 64 + tx * 4 + (p & 3)]; }
#pragma unroll
      for (int p = 0; p < 8; p++)
#pragma unroll
        for (int q = 0; q < 8; q++) c[p][q] += u[p] * v[q];
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 8; p++)
#pragma unroll
    for (int q = 0; q < 8; q++) C[(size_t)(row + ty * 8 + p) * n + col + (q >> 2) * 64 + tx * 4 + (q & 3)] = c[p][q];
}
// Many products of 32 x 32, a block each.
extern "C" __global__ void batched_32(const float* A, const float* B, float* C) {
  __shared__ float a[32][33], b[32][33];
  size_t at = (size_t)blockIdx.x * 1024;
  int x = threadIdx.x, y = threadIdx.y;
  for (int r = y; r < 32; r += 8) { a[r][x] = A[at + r * 32 + x]; b[r][x] = B[at + r * 32 + x]; }
  __syncthreads();
  for (int r = y; r < 32; r += 8) {
    float s = 0;
#pragma unroll 8
    for (int k = 0; k < 32; k++) s += a[r][k] * b[k][x];
    C[at + r * 32 + x] = s;
  }
}
// Lower half of A A^T: the other blocks leave at once.
extern "C" __global__ void syrk_lower(const float* A, float* C, int n, int k) {
  __shared__ float u[16][17], v[16][17];
  if (blockIdx.x > blockIdx.y) return;
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16, col = blockIdx.x * 16;
  float s = 0;
  for (int t = 0; t < k; t += 16) {
    u[y][x] = A[(size_t)(row + y) * k + t + x];
    v[y][x] = A[(size_t)(col + y) * k + t + x];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; j++) s += u[y][j] * v[x][j];
    __syncthreads();
  }
  C[(size_t)(row + y) * n + col + x] = s;
}
// One step of LU: what is right of and below pivot p.
extern "C" __global__ void lu_update(const float* A, float* out, int n, int p) {
  int c = p + 1 + blockIdx.x * blockDim.x + threadIdx.x, r = p + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= n || r >= n) return;
  float factor = A[(size_t)r * n + p] / A[(size_t)p * n + p];
  out[(size_t)r * n + c] = A[(size_t)r * n + c] - factor * A[(size_t)p * n + c];
}
// Cholesky of 16 x 16 matrices, half a warp each, in shared memory.
extern "C" __global__ void cholesky_16(const float* A, float* L, int count) {
  __shared__ float s[8][16][17];
  int which = threadIdx.x >> 4, i = threadIdx.x & 15, m = blockIdx.x * 8 + which;
  if (m >= count) return;
  for (int j = 0; j < 16; j++) s[which][j][i] = A[(size_t)m * 256 + j * 16 + i] * 0.01f + (i == j ? 16.f : 0.f);
  __syncwarp();
  for (int k = 0; k < 16; k++) {
    float d = sqrtf(s[which][k][k]);
    __syncwarp();
    if (i == k) s[which][k][k] = d;
    else if (i > k) s[which][i][k] /= d;
    __syncwarp();
    if (i > k) for (int j = k + 1; j <= i; j++) s[which][i][j] -= s[which][i][k] * s[which][j][k];
    __syncwarp();
  }
  for (int j = 0; j < 16; j++) L[(size_t)m * 256 + j * 16 + i] = i <= j ? s[which][j][i] : 0.f;
}
// Matrix by columns times a vector held in shared memory, a thread a row.
extern "C" __global__ void gemv_columns(const float* A, const float* x, float* y, int rows, int cols) {
  extern __shared__ float v[];
  for (int i = threadIdx.x; i < cols; i += blockDim.x) v[i] = x[i];
  __syncthreads();
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int c = 0; c < cols; c++) s += A[(size_t)c * rows + r] * v[c];
  y[r] = s;
}
// Rows of unequal length, one after the other: row r starts at r * mean + jitter[r].
extern "C" __global__ void csr_warp(const int* jitter, const int* column, const float* value, const float* x, float* y, int rows, int mean) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (r >= rows) return;
  int begin = r * mean + jitter[r], end = (r + 1) * mean + jitter[r + 1];
  float s = 0;
  for (int i = begin + lane; i < end; i += 32) s += value[i] * __ldg(&x[column[i]]);
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) y[r] = s;
}
extern "C" __global__ void csr_thread(const int* jitter, const int* column, const double* value, const double* x, double* y, int rows, int mean) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int begin = r * mean + jitter[r], end = (r + 1) * mean + jitter[r + 1];
  double s = 0;
  for (int i = begin; i < end; i++) s += value[i] * x[column[i]];
  y[r] = s;
}
// ELL: rows padded to one width, stored by columns.
extern "C" __global__ void ell_rows(const int* column, const float* value, const float* x, float* y, int rows, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int k = 0; k < width; k++) {
    int c = column[k * rows + r];
    if (c >= 0) s += value[k * rows + r] * x[c];
  }
  y[r] = s;
}
// Band matrix by diagonals.
extern "C" __global__ void band_matvec(const float* D, const float* x, float* y, int n, int band) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float s = 0;
  for (int k = -band; k <= band; k++) {
    int c = r + k;
    if (c >= 0 && c < n) s += D[(size_t)(k + band) * n + r] * x[c];
  }
  y[r] = s;
}
// Transposes: padded tile of doubles, exclusive-or in place of padding, bytes by fours.
extern "C" __global__ void transpose_double_padded(const double* in, double* out, int n) {
  __shared__ double t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) t[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(size_t)(y + j) * n + x] = t[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_half_swizzled(const __half2* in, __half2* out, int n) {
  // 64 x 64 halves, as 64 rows of 32 pairs.
  __shared__ unsigned t[64][32];
  int w = n >> 1;
  for (int j = threadIdx.y; j < 64; j += 8) t[j][threadIdx.x ^ (j >> 1)] = ((const unsigned*)in)[(size_t)(blockIdx.y * 64 + j) * w + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < 64; j += 8) {
    int c = j >> 1, r = threadIdx.x * 2;
    unsigned a = t[r][c ^ threadIdx.x], b = t[r + 1][c ^ threadIdx.x];
    ((unsigned*)out)[(size_t)(blockIdx.x * 64 + j) * w + blockIdx.y * 32 + threadIdx.x] = __byte_perm(a, b, j & 1 ? 0x7632 : 0x5410);
  }
}
// Batched triangular solve, a warp a system of 32 unknowns, by shuffles.
extern "C" __global__ void solve_lower_32(const float* L, const float* b, float* x, int count) {
  int m = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, i = threadIdx.x & 31;
  if (m >= count) return;
  float v = b[m * 32 + i];
  for (int k = 0; k < 32; k++) {
    float l = L[(size_t)m * 1024 + k * 32 + i];
    float xk = __shfl_sync(~0u, v / (l + 4.f), k);
    if (i == k) v = xk;
    else if (i > k) v -= l * xk;
  }
  x[m * 32 + i] = v;
}
