// The usual f16 GEMM: tiles of 64 by 64 in shared memory, ldmatrix, four warps of 16 rows each.
#include "fragments.cuh"

extern "C" __global__ void mmaHalf(const __half* a, const __half* b, float* c, int n, int k) {
  __shared__ __align__(16) __half left[64][40], right[32][72];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[8][4] = {};
  for (int at = 0; at < k; at += 32) {
    for (int i = threadIdx.x; i < 64 * 4; i += 128)
      *(uint4*)&left[i / 4][i % 4 * 8] = *(const uint4*)&a[(row + i / 4) * k + at + i % 4 * 8];
    for (int i = threadIdx.x; i < 32 * 8; i += 128)
      *(uint4*)&right[i / 8][i % 8 * 8] = *(const uint4*)&b[(at + i / 8) * n + column + i % 8 * 8];
    __syncthreads();
    for (int inner = 0; inner < 32; inner += 16) {
      unsigned x[4];
      loadMatrix4(x, &left[warp * 16 + lane % 16][inner + lane / 16 * 8]);
#pragma unroll
      for (int tile = 0; tile < 8; tile++) {
        unsigned y[2];
        loadMatrix2Transposed(y, &right[inner + lane % 16][tile * 8]);
        multiplyHalf(sum[tile], x, y);
      }
    }
    __syncthreads();
  }
  for (int tile = 0; tile < 8; tile++) {
    float* at = c + (row + warp * 16 + lane / 4) * n + column + tile * 8 + lane % 4 * 2;
    *(float2*)at = make_float2(sum[tile][0], sum[tile][1]);
    *(float2*)(at + 8 * n) = make_float2(sum[tile][2], sum[tile][3]);
  }
}
