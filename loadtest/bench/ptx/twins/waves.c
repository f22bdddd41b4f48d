#include <math.h>
#include "twin.h"

static void waves(const float *x, float *y, int n, int count) {
  for (int i = 0; i < n; ++i) {
    float at = x[i], sum = 0.f;
    for (int k = 1; k <= count; k++) sum += sinf(at * k) * exp2f(-0.25f * k * fabsf(at));
    y[i] = sum;
  }
}

static void twin(void) {
  waves(FLOATS(0), FLOATS(1), INT(2), INT(3));
}
