// Arrays by strides: copies in another order, functions of two values with broadcasting, choices and look-ups.
// One thread an element of y; grid = ceilDiv(count, 128), block = 128. Geometries are tables as geometry.cuh has them.
#include "geometry.cuh"

// y[yStart + ...] = x[xStart + ...], converted. Strides: x, y.
template <typename From, typename To>
__device__ __forceinline__ void copy(const From* __restrict__ x, To* __restrict__ y, const int* __restrict__ geometry,
                                     int count, int xStart, int yStart) {
  ELEMENT
  int at[2];
  locate(geometry, index, at);
  y[yStart + at[1]] = static_cast<To>(x[xStart + at[0]]);
}
#define COPY(from, to, From, To)                                                                                      \
  extern "C" __global__ void copy_##from##_##to(const From* x, To* y, const int* geometry, int count, int xStart, \
                                                int yStart) {                                                         \
    copy(x, y, geometry, count, xStart, yStart);                                                                      \
  }
COPY(f32, f32, float, float)
COPY(f64, f64, double, double)
COPY(f32, f64, float, double)
COPY(f64, f32, double, float)
COPY(i32, f32, int, float)
COPY(i32, f64, int, double)
COPY(u8, f32, unsigned char, float)
COPY(u8, f64, unsigned char, double)
COPY(f32, i32, float, int)
COPY(f64, i32, double, int)

// Places of each item are in a table: y[i] = x[table[i]], or `otherwise` where that is below 0.
// x[batch x stride] (stride 0: the same for every item), table[width], y[batch x width].
template <typename T>
__device__ __forceinline__ void take(const T* __restrict__ x, const int* __restrict__ table, T* __restrict__ y, int count,
                                     int width, int stride, T otherwise) {
  ELEMENT
  const int item = index / width;
  const int place = table[index - item * width];
  y[index] = place < 0 ? otherwise : x[item * stride + place];
}
extern "C" __global__ void take_f32(const float* x, const int* table, float* y, int count, int width, int stride,
                                    float otherwise) {
  take(x, table, y, count, width, stride, otherwise);
}
extern "C" __global__ void take_f64(const double* x, const int* table, double* y, int count, int width, int stride,
                                    double otherwise) {
  take(x, table, y, count, width, stride, otherwise);
}

// Functions of two values; `op` is a place in the list of stridedLayers.ts. Strides: a, b.
__device__ __noinline__ double joined(double a, double b, int op) {
  switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a / b;
    case 4: return trunc(a / b);
    case 5: return pow(a, b);
    case 6: {
      const double rest = fmod(a, b);
      return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
    }
    case 7: return fmod(a, b);
    case 8: return isnan(a) || a > b ? a : b;
    case 9: return isnan(a) || a < b ? a : b;
    case 10: return a < 0.0 ? a * b : a;
    case 11: return a == b ? 1.0 : 0.0;
    case 12: return a < b ? 1.0 : 0.0;
    case 13: return a <= b ? 1.0 : 0.0;
    case 14: return a > b ? 1.0 : 0.0;
    case 15: return a >= b ? 1.0 : 0.0;
    case 16: return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
    case 17: return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
    case 18: return (a != 0.0) != (b != 0.0) ? 1.0 : 0.0;
  }
  return a;
}
template <typename From, typename To>
__device__ __forceinline__ void pair(const From* __restrict__ a, const From* __restrict__ b, To* __restrict__ y,
                                     const int* __restrict__ geometry, int count, int op) {
  ELEMENT
  int at[2];
  locate(geometry, index, at);
  y[index] = static_cast<To>(joined(a[at[0]], b[at[1]], op));
}
#define PAIR(name, From, To)                                                                                          \
  extern "C" __global__ void name(const From* a, const From* b, To* y, const int* geometry, int count, int op) { \
    pair(a, b, y, geometry, count, op);                                                                               \
  }
PAIR(pair_f32, float, float)
PAIR(pair_f64, double, double)
PAIR(compare_f64, double, float)

// y = condition ? a : b. Strides: condition, a, b.
template <typename T>
__device__ __forceinline__ void choose(const float* __restrict__ condition, const T* __restrict__ a,
                                       const T* __restrict__ b, T* __restrict__ y, const int* __restrict__ geometry,
                                       int count) {
  ELEMENT
  int at[3];
  locate(geometry, index, at);
  y[index] = condition[at[0]] != 0.f ? a[at[1]] : b[at[2]];
}
extern "C" __global__ void choose_f32(const float* condition, const float* a, const float* b, float* y,
                                      const int* geometry, int count) {
  choose(condition, a, b, y, geometry, count);
}
extern "C" __global__ void choose_f64(const float* condition, const double* a, const double* b, double* y,
                                      const int* geometry, int count) {
  choose(condition, a, b, y, geometry, count);
}

// y = x[places[...]] along one axis of `extent` elements, `step` apart; a place below 0 counts from the end, one that
// is outside gives NaN. Strides: x (0 along what places choose), places.
template <typename T>
__device__ __forceinline__ void lookUp(const T* __restrict__ x, const double* __restrict__ places, T* __restrict__ y,
                                       const int* __restrict__ geometry, int count, int extent, int step) {
  ELEMENT
  int at[2];
  locate(geometry, index, at);
  double place = places[at[1]];
  if (place < 0.0) place += extent;
  const bool isThere = place >= 0.0 && place < extent;
  y[index] = isThere ? x[at[0] + static_cast<int>(place) * step] : static_cast<T>(__longlong_as_double(0x7ff8000000000000LL));
}
extern "C" __global__ void look_up_f32(const float* x, const double* places, float* y, const int* geometry, int count,
                                       int extent, int step) {
  lookUp(x, places, y, geometry, count, extent, step);
}
extern "C" __global__ void look_up_f64(const double* x, const double* places, double* y, const int* geometry, int count,
                                       int extent, int step) {
  lookUp(x, places, y, geometry, count, extent, step);
}

// y = values[1] where the place counted along one axis is the one that `places` says, otherwise values[0].
// Strides: places, the axis (1 along it, otherwise 0), values (an item's stride in the first axis).
extern "C" __global__ void one_hot_f64(const double* __restrict__ places, const double* __restrict__ values,
                                       double* __restrict__ y, const int* __restrict__ geometry, int count, int depth) {
  ELEMENT
  int at[3];
  locate(geometry, index, at);
  double place = places[at[0]];
  if (place < 0.0) place += depth;
  y[index] = values[at[2] + (place == at[1] ? 1 : 0)];
}
