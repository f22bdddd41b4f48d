/* OpenACC by GCC: registers by number, .param.u64 without a space, labels with $, its own way to loop over blocks. */
#pragma acc routine seq
static int weigh(int x, int n) {
  switch (x & 7) {
  case 0: return x + n;
  case 1: return x ^ 7;
  case 2: return x << 3;
  case 3: return __builtin_popcount(x);
  case 4: return __builtin_clz(x | 1);
  default: return x / 3 - n % 5;
  }
}
void weights(int *restrict x, const float *restrict y, int n) {
#pragma acc parallel loop gang vector copy(x[0:n]) copyin(y[0:n])
  for (int i = 0; i < n; i++) x[i] = weigh(x[i], i) + (int)(y[i] * 4.0f);
}
