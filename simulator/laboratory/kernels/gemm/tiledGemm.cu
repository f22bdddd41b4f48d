// Tiles of 16 by 16 in shared memory; edges filled with zeros.
extern "C" __global__ void tiledGemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tileA[16][17], tileB[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int first = 0; first < k; first += 16) {
    tileA[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0.0f;
    tileB[ty][tx] = first + ty < k && column < n ? b[(first + ty) * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; i++) sum = __fmaf_rn(tileA[ty][i], tileB[i][tx], sum);
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
