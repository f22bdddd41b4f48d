// Kernels bound by how they reach memory: orders, widths, tiles and chases.
#include <cuda_pipeline.h>
#define AT int i = blockIdx.x * blockDim.x + threadIdx.x
extern "C" __global__ void gather(const float* values, const int* index, float* out, int n) { AT; if (i < n) out[i] = values[index[i]]; }
extern "C" __global__ void scatter(const int* index, int* out, int n) { AT; if (i < n) { int at = index[i]; out[at] = at * 2; } }
extern "C" __global__ void stencil_5(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int at = y * w + x;
  out[at] = 0.5f * in[at] + 0.125f * (in[at - 1] + in[at + 1] + in[at - w] + in[at + w]);
}
extern "C" __global__ void stencil_7(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  int at = (z * n + y) * n + x;
  out[at] = 0.4f * in[at] + 0.1f * (in[at - 1] + in[at + 1] + in[at - n] + in[at + n] + in[at - n * n] + in[at + n * n]);
}
// Each thread walks along z and keeps the two planes it has passed in registers.
extern "C" __global__ void stencil_7_column(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int at = y * n + x, plane = n * n;
  float below = in[at], here = in[at + plane];
  for (int z = 1; z < n - 1; z++) {
    at += plane;
    float above = in[at + plane];
    out[at] = 0.4f * here + 0.1f * (in[at - 1] + in[at + 1] + in[at - n] + in[at + n] + below + above);
    below = here; here = above;
  }
}
extern "C" __global__ void copy_float4(const float4* in, float4* out, int n) { AT; if (i < n) out[i] = in[i]; }
extern "C" __global__ void copy_bytes(const unsigned char* in, unsigned char* out, int n) { AT; if (i < n) out[i] = in[i] + 1; }
extern "C" __global__ void write_strided(const float* in, float* out, int n, int stride) { AT; if (i < n) out[(long long)i * stride] = in[i]; }
extern "C" __global__ void transpose_naive(const float* in, float* out, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cols && y < rows) out[x * rows + y] = in[y * cols + x];
}
// A tile without padding: its columns lie in one bank.
extern "C" __global__ void transpose_conflicts(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void bank_conflicts(float* out, int stride, int rounds) {
  __shared__ float s[4096];
  for (int j = threadIdx.x; j < 4096; j += blockDim.x) s[j] = j;
  __syncthreads();
  float a = 0;
  int at = threadIdx.x * stride;
  for (int r = 0; r < rounds; r++) a += s[(at + r) & 4095];
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
// Every thread follows a chain of its own; `at` takes the round in, so that chains do not close.
extern "C" __global__ void pointer_chase(const unsigned* next, unsigned* out, unsigned mask, int rounds) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = (i * 2654435761u) & mask;
  for (int r = 0; r < rounds; r++) at = (next[at] + r * 977) & mask;
  out[i] = at;
}
extern "C" __global__ void triad_persistent(const float* a, const float* b, float* c, float s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + s * b[i];
}
extern "C" __global__ void triad_float4(const float4* a, const float4* b, float4* c, float s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 u = a[i], v = b[i];
    c[i] = make_float4(u.x + s * v.x, u.y + s * v.y, u.z + s * v.z, u.w + s * v.w);
  }
}
// Tiles of 256 x 16 bytes come by cp.async, three in flight; every thread reads its neighbour's part.
extern "C" __global__ void cp_async_sum(const float4* in, float* out, int tiles) {
  __shared__ float4 s[3][256];
  int t = threadIdx.x;
  const float4* from = in + (size_t)blockIdx.x * tiles * 256;
  for (int k = 0; k < 2; k++) { if (k < tiles) __pipeline_memcpy_async(&s[k][t], &from[k * 256 + t], 16); __pipeline_commit(); }
  float a = 0;
  for (int k = 0; k < tiles; k++) {
    if (k + 2 < tiles) __pipeline_memcpy_async(&s[(k + 2) % 3][t], &from[(k + 2) * 256 + t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    float4 v = s[k % 3][t ^ 1];
    a += v.x * v.y + v.z * v.w;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = a;
}
// The columns of a row-major matrix summed by one thread each.
extern "C" __global__ void column_sums(const float* in, float* out, int rows, int cols) {
  AT; if (i >= cols) return; float a = 0; for (int r = 0; r < rows; r++) a += in[(size_t)r * cols + i]; out[i] = a;
}
// The rows of a row-major matrix summed by one thread each: no access is coalesced.
extern "C" __global__ void row_sums(const float* in, float* out, int rows, int cols) {
  AT; if (i >= rows) return; float a = 0; for (int c = 0; c < cols; c++) a += in[(size_t)i * cols + c]; out[i] = a;
}
extern "C" __global__ void soa_to_aos(const float* x, const float* y, const float* z, float* out, int n) { AT; if (i < n) { out[3 * i] = x[i]; out[3 * i + 1] = y[i]; out[3 * i + 2] = z[i]; } }
__constant__ float table[1024];
extern "C" __global__ void constant_uniform(float* out, int rounds) { AT; float a = i; for (int r = 0; r < rounds; r++) a = a * table[r & 1023] + 1.f; out[i] = a; }
extern "C" __global__ void constant_divergent(float* out, int rounds) { AT; float a = i; for (int r = 0; r < rounds; r++) a = a * table[(r + threadIdx.x * 5) & 1023] + 1.f; out[i] = a; }
// An array that is indexed by data lies in local memory.
extern "C" __global__ void local_array(const int* in, int* out, int n) {
  AT; if (i >= n) return;
  int counts[32];
#pragma unroll
  for (int k = 0; k < 32; k++) counts[k] = 0;
  unsigned v = in[i];
  for (int k = 0; k < 24; k++) { counts[v & 31]++; v = v * 1664525u + 1013904223u; v ^= v >> 15; }
  int best = 0;
  for (int k = 0; k < 32; k++) if (counts[k] > counts[best]) best = k;
  out[i] = best;
}
