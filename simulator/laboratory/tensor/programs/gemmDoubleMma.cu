// D = α·A·B + β·C in doubles: sixteen steps of k a product, what is left by fours on the smaller shape.
#include "fragments.cuh"

static __device__ __forceinline__ void multiply16(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

static __device__ __forceinline__ void multiply4(double& d0, double& d1, double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d0), "+d"(d1) : "d"(a), "d"(b));
}

extern "C" __global__ void gemmDoubleMma(const double* a, const double* b, double* c, int n, int k, double alpha, double beta) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int row = blockIdx.y * 32 + warp / 2 * 16, column = blockIdx.x * 16 + warp % 2 * 8;
  double sum[4] = {};
  int at = 0;
  for (; at + 16 <= k; at += 16) {
    double x[8], y[4];
    for (int i = 0; i < 8; i++) x[i] = a[(row + g + i % 2 * 8) * k + at + i / 2 * 4 + t];
    for (int i = 0; i < 4; i++) y[i] = b[(at + i * 4 + t) * n + column + g];
    multiply16(sum, x, y);
  }
  for (; at < k; at += 4) {
    double y = b[(at + t) * n + column + g];
    multiply4(sum[0], sum[1], a[(row + g) * k + at + t], y);
    multiply4(sum[2], sum[3], a[(row + g + 8) * k + at + t], y);
  }
  for (int i = 0; i < 4; i++) {
    double* out = c + (row + g + i / 2 * 8) * n + column + t * 2 + i % 2;
    *out = alpha * sum[i] + beta * *out;
  }
}
