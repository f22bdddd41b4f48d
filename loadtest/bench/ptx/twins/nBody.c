#include <math.h>
#include "twin.h"

static void nBody(const float *bodies, float *accelerations, int n, float softening) {
  for (int i = 0; i < n; ++i) {
    const float *me = bodies + 4 * i;
    float ax = 0.f, ay = 0.f, az = 0.f;
    for (int j = 0; j < n; ++j) {
      const float *other = bodies + 4 * j;
      float dx = other[0] - me[0], dy = other[1] - me[1], dz = other[2] - me[2];
      float inverse = 1.f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
      float pull = other[3] * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    accelerations[i] = ax;
    accelerations[i + n] = ay;
    accelerations[i + 2 * n] = az;
  }
}

static void twin(void) {
  nBody(FLOATS(0), FLOATS(1), INT(2), FLOAT(3));
}
