#include "twin.h"

static void sgemm_naive(const float *A, const float *B, float *C, int M, int N, int K) {
  for (int row = 0; row < M; ++row)
    for (int col = 0; col < N; ++col) {
      float acc = 0.f;
      for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
      C[row * N + col] = acc;
    }
}

static void twin(void) {
  sgemm_naive(FLOATS(0), FLOATS(1), FLOATS(2), INT(3), INT(4), INT(5));
}
