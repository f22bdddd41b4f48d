// Copies whose lanes lie far apart. Element i of the far side is row i mod 2^rows of i / 2^rows; rows lie `stride` elements apart.
__device__ long long farPlace(long long i, int rows, int stride) {
  return (i & ((1ll << rows) - 1)) * stride + (i >> rows);
}
#define COPY(name, T, from, to) \
  extern "C" __global__ void name(const T* in, T* out, int n, int rows, int stride) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i < n) { long long j = farPlace(i, rows, stride); out[to] = in[from]; } \
  }
COPY(far_read, float, j, i)
COPY(far_write, float, i, j)
COPY(far_copy, float, j, j)
COPY(far_read_double, double, j, i)
COPY(far_read_quad, float4, j, i)
// The same by few blocks that go through all of it.
extern "C" __global__ void far_sum(const float* in, float* out, int n, int rows, int stride) {
  float sum = 0;
  int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n; i += gridDim.x * blockDim.x) sum += in[farPlace(i, rows, stride)];
  out[first] = sum;
}
// Neighbours lie `leap` elements apart, modulo n, a power of two; `leap` is odd.
extern "C" __global__ void leap_copy(const float* in, float* out, int n, int leap) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { unsigned j = ((unsigned)i * (unsigned)leap) & (unsigned)(n - 1); out[j] = in[j]; }
}
extern "C" __global__ void leap_read(const float* in, float* out, int n, int leap) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[((unsigned)i * (unsigned)leap) & (unsigned)(n - 1)];
}
