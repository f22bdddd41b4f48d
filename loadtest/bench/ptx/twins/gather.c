#include "twin.h"

static void gather(const float *values, const int *index, float *out, int n) {
  for (int i = 0; i < n; ++i) out[i] = values[index[i]];
}

static void twin(void) {
  gather(FLOATS(0), INTS(1), FLOATS(2), INT(3));
}
