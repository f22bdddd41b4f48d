// ELLPACK: rows padded to one width, stored by columns so that threads read side by side; padding is column -1.
extern "C" __global__ void ellSpmv(const int* columns, const double* values, const double* x, double* y, int rows,
                                   int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0.0;
#pragma unroll 4
  for (int w = 0; w < width; w++) {
    int column = __ldg(&columns[w * rows + row]);
    if (column >= 0) sum = fma(values[w * rows + row], __ldg(&x[column]), sum);
  }
  y[row] = sum;
}
