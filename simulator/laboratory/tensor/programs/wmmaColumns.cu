// Everything by columns, accumulated in f16 and stored by columns: D is the transpose of what rows would give.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmmaColumns(const half* a, const half* b, half* c, int m, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum;
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fill_fragment(sum, __float2half(0.0f));
  for (int at = 0; at < k; at += 16) {
    wmma::load_matrix_sync(left, a + at * m + row, m);
    wmma::load_matrix_sync(right, b + column * k + at, k);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + column * m + row, sum, m, wmma::mem_col_major);
}
