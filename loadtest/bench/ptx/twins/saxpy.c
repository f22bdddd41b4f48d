#include "twin.h"

static void saxpy(int n, float a, const float *x, float *y) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

static void twin(void) {
  saxpy(INT(0), FLOAT(1), FLOATS(2), FLOATS(3));
}
