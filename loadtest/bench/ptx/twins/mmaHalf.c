#include "twin.h"
#include "halves.h"

/* f32 throughout, in the order that a compiler makes vectors of; c += a b as a card's kernel does it starts from 0. */
static void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
  for (int row = 0; row < m; ++row) {
    float *line = c + (size_t)row * n;
    for (int col = 0; col < n; ++col) line[col] = 0.f;
    for (int at = 0; at < k; ++at) {
      float left = a[(size_t)row * k + at];
      for (int col = 0; col < n; ++col) line[col] += left * b[(size_t)at * n + col];
    }
  }
}

static void twin(void) {
  static float *a, *b;
  if (a == NULL) a = widened(0), b = widened(1);
  int n = INT(3), k = INT(4);
  gemm(a, b, FLOATS(2), arguments[0].bytes / 2 / k, n, k);
}
