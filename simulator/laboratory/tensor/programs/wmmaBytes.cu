// Bytes in wide tiles with a shift and a clamp at the end, as quantised layers do.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmmaBytes(const signed char* a, const signed char* b, int* c, int n, int k, int shift) {
  wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
  int row = blockIdx.y * 8, column = blockIdx.x * 32;
  wmma::fill_fragment(sum, 0);
  for (int at = 0; at < k; at += 16) {
    wmma::load_matrix_sync(left, a + row * k + at, k);
    wmma::load_matrix_sync(right, b + at * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] = min(127, max(-128, sum.x[i] >> shift));
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
