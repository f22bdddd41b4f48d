// nvcc -ptx -O3 -arch=sm_90 boundary.cu -o boundary.ptx
#define I int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void add(float *c, const float *a, const float *b, int n) {
  I;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void copyUnguarded(float *c, const float *a) {
  I;
  c[i] = a[i];
}

extern "C" __global__ void addBytes(unsigned char *c, const unsigned char *a, int n) {
  I;
  if (i < n) c[i] = a[i] + 1;
}

extern "C" __global__ void secondHalf(float *x, int n) {
  I;
  if (i < n) x[n + i] = x[i];
}

extern "C" __global__ void sumFour(float *c, const float4 *a, int n) {
  I;
  if (i >= n) return;
  float4 v = a[i];
  c[i] = v.x + v.y + v.z + v.w;
}

extern "C" __global__ void oddToEven(float *x, int n) {
  I;
  if (i < n) x[2 * i] = x[2 * i + 1];
}

extern "C" __global__ void writeThenRead(volatile float *x, float *y, int n) {
  I;
  if (i >= n) return;
  x[i] = i;
  y[i] = x[i];
}

extern "C" __global__ void inPlace(float *x, int n) {
  I;
  if (i < n) x[i] += 1.0f;
}

extern "C" __global__ void spread(float *c, const float *a, unsigned stride, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i * stride] = a[i];
}

extern "C" __global__ void plane(float *c, const float *a, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) c[y * width + x] = a[y * width + x];
}

extern "C" __global__ void backwards(float *c, const float *a, int n) {
  I;
  if (i < n) c[n - 1 - i] = a[i];
}

extern "C" __global__ void gather(float *c, const float *a, const int *index, int n) {
  I;
  if (i < n) c[i] = a[index[i]];
}

extern "C" __global__ void firstOnly(float *c, const float *a, const float *b, int mode, int n) {
  I;
  if (i >= n) return;
  if (mode == 0) c[i] = a[i];
  else c[i] = b[i];
}

__device__ float table[64];
extern "C" __global__ void intoTable(const float *a) { table[threadIdx.x & 63] = a[threadIdx.x]; }

extern "C" __global__ void fill(float *c, int n) {
  I;
  if (i < n) c[i] = 1.0f;
}

extern "C" __global__ void count(int *c, int n) {
  I;
  if (i < n) atomicAdd(c, 1);
}

extern "C" __global__ void scatterFromZero(float *out, const float *a, const long long *indices) {
  I;
  long long j = indices[i];
  if (j >= 0) out[j] = a[i];
}
