// nvcc: -fmad=false
// Compensated sums in f64: Kahan a thread, Neumaier over the threads; naive sums beside them.
extern "C" __global__ void kahanSum(const double* x, double* compensated, double* naive, double* total, int n) {
  __shared__ double sums[64], rests[64];
  double sum = 0.0, rest = 0.0, plain = 0.0;
  for (int i = threadIdx.x; i < n; i += 64) {
    double y = x[i] - rest;
    double t = sum + y;
    rest = (t - sum) - y;
    sum = t;
    plain += x[i];
  }
  compensated[threadIdx.x] = sum;
  naive[threadIdx.x] = plain;
  sums[threadIdx.x] = sum;
  rests[threadIdx.x] = -rest;
  __syncthreads();
  if (threadIdx.x == 0) {
    double s = 0.0, c = 0.0;
    for (int t = 0; t < 64; t++) {
      double v = sums[t], next = s + v;
      c += fabs(s) >= fabs(v) ? (s - next) + v : (v - next) + s;
      c += rests[t];
      s = next;
    }
    *total = s + c;
  }
}
