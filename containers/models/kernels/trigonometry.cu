// Trigonometric and hyperbolic functions, element by element, computed in double precision and rounded once.
// grid = ceilDiv(count, 128), block = 128. `op` is a place in the list of mathLayers.ts.
#include "geometry.cuh"

__device__ __noinline__ double turned(double x, int op) {
  switch (op) {
    case 0: return sin(x);
    case 1: return cos(x);
    case 2: return tan(x);
    case 3: return asin(x);
    case 4: return acos(x);
    case 5: return atan(x);
    case 6: return sinh(x);
    case 7: return cosh(x);
    case 8: return asinh(x);
    case 9: return acosh(x);
    case 10: return atanh(x);
  }
  return x;
}

extern "C" __global__ void turn_f32(const float* __restrict__ x, float* __restrict__ y, int count, int op) {
  ELEMENT
  y[index] = static_cast<float>(turned(x[index], op));
}
extern "C" __global__ void turn_f64(const double* __restrict__ x, double* __restrict__ y, int count, int op) {
  ELEMENT
  y[index] = turned(x[index], op);
}
