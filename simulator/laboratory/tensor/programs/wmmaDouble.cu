// f64 on tensor cores: four products at a time, exact enough for factorisations.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmmaDouble(const double* a, const double* b, double* c, int n, int k) {
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  int row = blockIdx.y * 8, column = blockIdx.x * 8;
  wmma::load_matrix_sync(sum, c + row * n + column, n, wmma::mem_row_major);
  for (int at = 0; at < k; at += 4) {
    wmma::load_matrix_sync(left, a + row * k + at, k);
    wmma::load_matrix_sync(right, b + column * k + at, k);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
