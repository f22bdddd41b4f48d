// Sums, extremes and their like over some axes, and what goes along one axis. Accumulated in double precision, in a
// fixed order. One thread a result; grid = ceilDiv(count, 128), block = 128.
#include "arithmetic.cuh"
#include "geometry.cuh"

// Called and not inlined: the text would be several times as long.
__device__ __noinline__ double logarithm(double x) { return log(x); }
__device__ __noinline__ double raised(double x) { return exponential(x); }

// y = the reduction over `terms` elements. Geometry of the results and of the terms, each with the strides of x.
// `op`: 0 sum, 1 largest, 2 smallest, 3 product, 4 sum of squares, 5 sum of sizes, 6 sum of exponentials above `shift`;
// `finish`: 0 nothing, 1 times factor, 2 square root, 3 logarithm, 4 logarithm and plus the shift
template <typename T>
__device__ __forceinline__ void reduce(const T* __restrict__ x, T* __restrict__ y, const int* __restrict__ results,
                                       const int* __restrict__ reduced, int count, int terms, int op, int finish,
                                       double factor) {
  ELEMENT
  int from[1], at[1];
  locate(results, index, from);
  double shift = 0.0;
  if (op == 6) {
    shift = x[from[0]];
#pragma unroll 1
    for (int term = 1; term < terms; term++) {
      locate(reduced, term, at);
      shift = fmax(shift, static_cast<double>(x[from[0] + at[0]]));
    }
    if (isinf(shift)) shift = 0.0;
  }
  double total = op == 3 ? 1.0 : op == 1 || op == 2 ? static_cast<double>(x[from[0]]) : 0.0;
#pragma unroll 1
  for (int term = 0; term < terms; term++) {
    locate(reduced, term, at);
    const double value = x[from[0] + at[0]];
    if (op == 0) total += value;
    else if (op == 1) total = isnan(value) || value > total ? value : total;
    else if (op == 2) total = isnan(value) || value < total ? value : total;
    else if (op == 3) total *= value;
    else if (op == 4) total += value * value;
    else if (op == 5) total += fabs(value);
    else total += raised(value - shift);
  }
  if (finish == 1) total *= factor;
  else if (finish == 2) total = sqrt(total);
  else if (finish >= 3) total = logarithm(total) + shift;
  y[index] = static_cast<T>(total);
}
extern "C" __global__ void reduce_f32(const float* x, float* y, const int* results, const int* reduced, int count,
                                      int terms, int op, int finish, double factor) {
  reduce(x, y, results, reduced, count, terms, op, finish, factor);
}
extern "C" __global__ void reduce_f64(const double* x, double* y, const int* results, const int* reduced, int count,
                                      int terms, int op, int finish, double factor) {
  reduce(x, y, results, reduced, count, terms, op, finish, factor);
}

// Where the largest (sign 1) or smallest (sign -1) of `extent` elements along an axis is, the first or last of equals.
// x[count / inner x extent x inner], y[count].
template <typename T>
__device__ __forceinline__ void placeOfExtreme(const T* __restrict__ x, double* __restrict__ y, int count, int extent,
                                               int inner, double sign, int last) {
  ELEMENT
  const T* from = x + index / inner * extent * inner + index % inner;
  double best = sign * from[0];
  int place = 0;
#pragma unroll 1
  for (int k = 1; k < extent; k++) {
    const double value = sign * from[k * inner];
    if (value > best || (last != 0 && value == best)) {
      best = value;
      place = k;
    }
  }
  y[index] = place;
}
extern "C" __global__ void arg_f32(const float* x, double* y, int count, int extent, int inner, double sign, int last) {
  placeOfExtreme(x, y, count, extent, inner, sign, last);
}
extern "C" __global__ void arg_f64(const double* x, double* y, int count, int extent, int inner, double sign, int last) {
  placeOfExtreme(x, y, count, extent, inner, sign, last);
}

// Softmax along an axis of `extent` elements, `inner` apart; one thread for all of them. `kind`: 0 softmax, 1 its
// logarithm, 2 one at the first largest. x, y: [count / inner x extent x inner].
template <typename T>
__device__ __forceinline__ void softmaxAlong(const T* __restrict__ x, T* __restrict__ y, int count, int extent, int inner,
                                             int kind) {
  ELEMENT
  const int start = index / inner * extent * inner + index % inner;
  const T* from = x + start;
  T* to = y + start;
  double largest = from[0];
  int place = 0;
#pragma unroll 1
  for (int k = 1; k < extent; k++) {
    const double value = from[k * inner];
    if (value > largest) {
      largest = value;
      place = k;
    }
  }
  if (kind == 2) {
#pragma unroll 1
    for (int k = 0; k < extent; k++) to[k * inner] = k == place ? 1 : 0;
    return;
  }
  double sum = 0.0;
#pragma unroll 1
  for (int k = 0; k < extent; k++) sum += raised(from[k * inner] - largest);
  const double offset = kind == 1 ? logarithm(sum) : 0.0;
#pragma unroll 1
  for (int k = 0; k < extent; k++) {
    const double above = from[k * inner] - largest;
    to[k * inner] = static_cast<T>(kind == 1 ? above - offset : raised(above) / sum);
  }
}
extern "C" __global__ void softmax_along_f32(const float* x, float* y, int count, int extent, int inner, int kind) {
  softmaxAlong(x, y, count, extent, inner, kind);
}
extern "C" __global__ void softmax_along_f64(const double* x, double* y, int count, int extent, int inner, int kind) {
  softmaxAlong(x, y, count, extent, inner, kind);
}

// Sums of all elements so far along an axis; `exclusive` leaves the element itself out, `reverse` begins at the end.
template <typename T>
__device__ __forceinline__ void sumsSoFar(const T* __restrict__ x, T* __restrict__ y, int count, int extent, int inner,
                                          int exclusive, int reverse) {
  ELEMENT
  const int start = index / inner * extent * inner + index % inner;
  double total = 0.0;
#pragma unroll 1
  for (int k = 0; k < extent; k++) {
    const int place = start + (reverse != 0 ? extent - 1 - k : k) * inner;
    const double value = x[place];
    if (exclusive == 0) total += value;
    y[place] = static_cast<T>(total);
    if (exclusive != 0) total += value;
  }
}
extern "C" __global__ void sums_so_far_f32(const float* x, float* y, int count, int extent, int inner, int exclusive,
                                           int reverse) {
  sumsSoFar(x, y, count, extent, inner, exclusive, reverse);
}
extern "C" __global__ void sums_so_far_f64(const double* x, double* y, int count, int extent, int inner, int exclusive,
                                           int reverse) {
  sumsSoFar(x, y, count, extent, inner, exclusive, reverse);
}

// The `chosen` largest (sign 1) or smallest (sign -1) of `extent` elements along an axis, in order, the first of equals
// first; y, places: [count / inner x chosen x inner].
template <typename T>
__device__ __forceinline__ void best(const T* __restrict__ x, T* __restrict__ y, double* __restrict__ places, int count,
                                     int extent, int inner, int chosen, double sign) {
  ELEMENT
  const T* from = x + index / inner * extent * inner + index % inner;
  const int to = index / inner * chosen * inner + index % inner;
  double before = 0.0;
  int beforePlace = -1;
#pragma unroll 1
  for (int n = 0; n < chosen; n++) {
    double found = 0.0;
    int place = -1;
#pragma unroll 1
    for (int k = 0; k < extent; k++) {
      const double value = sign * from[k * inner];
      const bool isLater = n == 0 || value < before || (value == before && k > beforePlace);
      if (isLater && (place < 0 || value > found)) {
        found = value;
        place = k;
      }
    }
    before = found;
    beforePlace = place;
    y[to + n * inner] = place < 0 ? static_cast<T>(0) : from[place * inner];
    places[to + n * inner] = place;
  }
}
extern "C" __global__ void best_f32(const float* x, float* y, double* places, int count, int extent, int inner, int chosen,
                                    double sign) {
  best(x, y, places, count, extent, inner, chosen, sign);
}
extern "C" __global__ void best_f64(const double* x, double* y, double* places, int count, int extent, int inner,
                                    int chosen, double sign) {
  best(x, y, places, count, extent, inner, chosen, sign);
}

// Each row to a mean of 0 and a variance of 1, then y = x * scale + offset; one thread a row of `width` elements. Scale and
// offset are chosen by (row * width + place) / inner % period, behind item * stride. means, deviations: [rows], the second
// one over the standard deviation.
template <typename T>
__device__ __forceinline__ void standardizeRows(const T* __restrict__ x, const T* __restrict__ scale,
                                                const T* __restrict__ offset, T* __restrict__ y, T* __restrict__ means,
                                                T* __restrict__ deviations, int count, int width, int rowsAnItem, int inner,
                                                int period, int scaleStride, int offsetStride, double epsilon) {
  ELEMENT
  const T* from = x + index * width;
  double sum = 0.0;
#pragma unroll 1
  for (int k = 0; k < width; k++) sum += from[k];
  const double mean = sum / width;
  double squares = 0.0;
#pragma unroll 1
  for (int k = 0; k < width; k++) squares += (from[k] - mean) * (from[k] - mean);
  const double deviation = 1.0 / sqrt(squares / width + epsilon);
  means[index] = static_cast<T>(mean);
  deviations[index] = static_cast<T>(deviation);
  const int item = index / rowsAnItem;
  const int first = (index - item * rowsAnItem) * width;
  const T* scales = scale + item * scaleStride;
  const T* offsets = offset + item * offsetStride;
  T* to = y + index * width;
#pragma unroll 1
  for (int k = 0; k < width; k++) {
    const int place = (first + k) / inner % period;
    to[k] = static_cast<T>((from[k] - mean) * deviation * scales[place] + offsets[place]);
  }
}
#define STANDARDIZE(name, T)                                                                                             \
  extern "C" __global__ void name(const T* x, const T* scale, const T* offset, T* y, T* means, T* deviations, int count, \
                                  int width, int rowsAnItem, int inner, int period, int scaleStride, int offsetStride,   \
                                  double epsilon) {                                                                      \
    standardizeRows(x, scale, offset, y, means, deviations, count, width, rowsAnItem, inner, period, scaleStride,        \
                    offsetStride, epsilon);                                                                              \
  }
STANDARDIZE(standardize_rows_f32, float)
STANDARDIZE(standardize_rows_f64, double)

// x divided by (bias + alpha / size * the sum of squares of `size` neighbouring channels) to the power of beta.
// x, y: [batch x channels x inner].
extern "C" __global__ void local_response_f32(const float* __restrict__ x, float* __restrict__ y, int count, int channels,
                                              int inner, int size, double alpha, double beta, double bias) {
  ELEMENT
  const int channel = index / inner % channels;
  const int first = max(0, channel - (size - 1) / 2), last = min(channels - 1, channel + size / 2);
  double sum = 0.0;
#pragma unroll 1
  for (int k = first; k <= last; k++) {
    const double value = x[index + (k - channel) * inner];
    sum += value * value;
  }
  y[index] = static_cast<float>(x[index] / pow(bias + alpha / size * sum, beta));
}
