#include "twin.h"

static void stencil(const float *in, float *out, int width, int height, float centre, float around) {
  for (int y = 1; y < height - 1; ++y)
    for (int x = 1; x < width - 1; ++x) {
      int at = y * width + x;
      out[at] = centre * in[at] + around * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
    }
}

static void twin(void) {
  stencil(FLOATS(0), FLOATS(1), INT(2), INT(3), FLOAT(4), FLOAT(5));
}
