// nvcc -ptx -O3 -arch=sm_90 shapes.cu -o shapes.ptx

extern "C" __global__ void reluLoop(float *b, const float *a, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < n; i++) b[row * n + i] = a[row * n + i] > 0 ? a[row * n + i] : 0;
}

#define TILE 16
extern "C" __global__ void tiledGemm(float *c, const float *a, const float *b, int m, int n, int k) {
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int at = 0; at < k; at += TILE) {
    left[threadIdx.y][threadIdx.x] = row < m && at + threadIdx.x < k ? a[row * k + at + threadIdx.x] : 0;
    right[threadIdx.y][threadIdx.x] = column < n && at + threadIdx.y < k ? b[(at + threadIdx.y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void gridStride(float *b, const float *a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) b[i] = 2 * a[i];
}

extern "C" __global__ void stencil(float *b, const float *a, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int i = y * width + x;
  b[i] = a[i] + a[i - 1] + a[i + 1] + a[i - width] + a[i + width];
}

extern "C" __global__ void transpose(float *b, const float *a, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) b[x * height + y] = a[y * width + x];
}

extern "C" __global__ void modulo(float *b, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i % 10];
}

extern "C" __global__ void masked(float *b, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i & 7];
}

struct Job {
  float *out;
  const float *in;
  int n;
};
extern "C" __global__ void byStruct(Job job) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < job.n) job.out[i] = job.in[i];
}

extern "C" __global__ void restricted(float *__restrict__ b, const float *__restrict__ a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}
