extern "C" __global__ void naiveGemm(const float* a, const float* b, float* c, int m, int n, int k, float alpha,
                                     float beta) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = __fmaf_rn(alpha, sum, __fmul_rn(beta, c[row * n + column]));
}
