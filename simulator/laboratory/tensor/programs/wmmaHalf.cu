// A warp a tile of 16 by 16, straight from global memory: what the CUDA guide shows first.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmmaHalf(const half* a, const half* b, float* c, int n, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fill_fragment(sum, 0.0f);
  for (int at = 0; at < k; at += 16) {
    wmma::load_matrix_sync(left, a + row * k + at, k);
    wmma::load_matrix_sync(right, b + at * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] > 0.0f ? sum.x[i] : 0.125f * sum.x[i];
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
