// int8 by dp4a with a scale a column, saturated back to int8 by cvt.sat.
extern "C" __global__ void int8Gemm(const int* a, const int* b, const float* scales, int* sums, signed char* out, int m,
                                    int n, int kWords) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= n || row >= m) return;
  int sum = 0;
  for (int i = 0; i < kWords; i++) sum = __dp4a(a[row * kWords + i], b[column * kWords + i], sum);
  sums[row * n + column] = sum;
  float scaled = __fmul_rn((float)sum, scales[column]);
  int narrow;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(narrow) : "f"(scaled));
  out[row * n + column] = (signed char)narrow;
}
