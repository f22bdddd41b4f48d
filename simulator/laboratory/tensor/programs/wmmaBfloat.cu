// bfloat16 in tall tiles, B by columns, through shared memory.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmmaBfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  __shared__ __align__(32) __nv_bfloat16 tile[32 * 16];
  wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 32, 8, 16, float> sum;
  int row = blockIdx.y * 32, column = blockIdx.x * 8;
  wmma::load_matrix_sync(sum, c + row * n + column, n, wmma::mem_row_major);
  for (int at = 0; at < k; at += 16) {
    for (int i = threadIdx.x; i < 32 * 16; i += 32) tile[i] = a[(row + i / 16) * k + at + i % 16];
    __syncwarp();
    wmma::load_matrix_sync(left, tile, 16);
    wmma::load_matrix_sync(right, b + column * k + at, k);
    wmma::mma_sync(sum, left, right, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
