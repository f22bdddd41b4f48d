#include "twin.h"

static void conv3x3(const float *X, const float *W, float *Y, int N, int C, int H, int Wd, int K) {
  for (int n = 0; n < N; ++n)
    for (int k = 0; k < K; ++k)
      for (int h = 0; h < H; ++h)
        for (int w = 0; w < Wd; ++w) {
          float acc = 0.f;
          for (int c = 0; c < C; ++c)
            for (int r = 0; r < 3; ++r)
              for (int q = 0; q < 3; ++q) {
                int y = h + r - 1, x = w + q - 1;
                if (y >= 0 && y < H && x >= 0 && x < Wd)
                  acc += X[((n * C + c) * H + y) * Wd + x] * W[((k * C + c) * 3 + r) * 3 + q];
              }
          Y[((n * K + k) * H + h) * Wd + w] = acc;
        }
}

static void twin(void) {
  conv3x3(FLOATS(0), FLOATS(1), FLOATS(2), INT(3), INT(4), INT(5), INT(6), INT(7));
}
