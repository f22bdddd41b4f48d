#include "twin.h"
#include <math.h>

static void rbf_svm(const float *X, const float *SV, const float *alpha, float *score, int batch, int nsv, int dim, float gamma) {
  for (int b = 0; b < batch; ++b) {
    const float *x = X + b * dim;
    float acc = 0.f;
    for (int v = 0; v < nsv; ++v) {
      float d2 = 0.f;
      for (int k = 0; k < dim; ++k) {
        float d = x[k] - SV[v * dim + k];
        d2 += d * d;
      }
      acc += alpha[v] * expf(-gamma * d2);
    }
    score[b] = acc;
  }
}

/* As many queries as there are blocks, one a score. */
static void twin(void) {
  int batch = arguments[3].bytes / sizeof(float);
  rbf_svm(FLOATS(0), FLOATS(1), FLOATS(2), FLOATS(3), batch, INT(4), INT(5), FLOAT(6));
}
