// f64 with fused multiply-adds, two columns a thread as double2.
extern "C" __global__ void doubleGemm(const double* a, const double2* b, double2* c, int m, int n2, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n2) return;
  double2 sum = {0.0, 0.0};
  for (int i = 0; i < k; i++) {
    double2 v = b[i * n2 + column];
    sum.x = fma(a[row * k + i], v.x, sum.x);
    sum.y = fma(a[row * k + i], v.y, sum.y);
  }
  c[row * n2 + column] = sum;
}
