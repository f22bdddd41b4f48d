// nvcc: -fmad=false
// LU with partial pivoting of a 12 by 12 matrix a block in shared memory, and the determinant; f64.
extern "C" __global__ void luBlocks(double* matrices, int* pivots, double* determinants) {
  __shared__ double a[12][13];
  __shared__ int swap;
  int t = threadIdx.x, row = t / 12, column = t % 12;
  double* mine = matrices + blockIdx.x * 144;
  a[row][column] = mine[t];
  __syncthreads();
  double determinant = 1.0;
  for (int k = 0; k < 12; k++) {
    if (t == 0) {
      swap = k;
      for (int r = k + 1; r < 12; r++)
        if (fabs(a[r][k]) > fabs(a[swap][k])) swap = r;
      pivots[blockIdx.x * 12 + k] = swap;
    }
    __syncthreads();
    if (t < 12 && swap != k) {
      double kept = a[k][t];
      a[k][t] = a[swap][t];
      a[swap][t] = kept;
    }
    __syncthreads();
    determinant *= swap != k ? -a[k][k] : a[k][k];
    if (column == k && row > k) a[row][k] /= a[k][k];
    __syncthreads();
    if (row > k && column > k) a[row][column] -= a[row][k] * a[k][column];
    __syncthreads();
  }
  mine[t] = a[row][column];
  if (t == 0) determinants[blockIdx.x] = determinant;
}
