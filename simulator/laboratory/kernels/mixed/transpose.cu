// Transposition through padded tiles, 32 by 32 elements by 32 by 8 threads; bytes, words and 16-byte vectors.
template <class T>
__device__ void transposeTile(const T* in, T* out, int width, int height) {
  __shared__ T tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transposeBytes(const unsigned char* in, unsigned char* out, int w, int h) { transposeTile(in, out, w, h); }
extern "C" __global__ void transposeWords(const double* in, double* out, int w, int h) { transposeTile(in, out, w, h); }
extern "C" __global__ void transposeVectors(const int4* in, int4* out, int w, int h) { transposeTile(in, out, w, h); }
