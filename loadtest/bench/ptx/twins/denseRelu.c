#include "twin.h"

static void dense_relu(const float *X, const float *W, const float *b, float *Y, int batch, int in, int out) {
  for (int r = 0; r < batch; ++r)
    for (int o = 0; o < out; ++o) {
      float acc = 0.f;
      for (int k = 0; k < in; ++k) acc += X[r * in + k] * W[o * in + k];
      float v = acc + b[o];
      Y[r * out + o] = v > 0.f ? v : 0.f;
    }
}

static void twin(void) {
  dense_relu(FLOATS(0), FLOATS(1), FLOATS(2), FLOATS(3), INT(4), INT(5), INT(6));
}
