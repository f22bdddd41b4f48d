// Convolutions and pools over one to three dimensions, as [channels x depth x height x width]; with fewer dimensions the
// first extents are 1. One thread a result; grid = ceilDiv(count, 128), block = 128. What `shape` has, in this order:
// channels, outputs, groups, the image's three extents, the window's, strides, dilations, pads before, the result's extents.
#include "arithmetic.cuh"
#include "geometry.cuh"

// Called and not inlined: the text would be several times as long.
__device__ __noinline__ double power(double x, double p) { return pow(x, p); }
__device__ __noinline__ float active(float x, int activation) { return activated(x, activation); }
__device__ __noinline__ double active(double x, int activation) { return activated(x, activation); }

struct Window {
  int channels, outputs, groups, image[3], window[3], stride[3], dilation[3], pad[3], out[3];
};
static_assert(sizeof(Window) == 21 * 4, "as windowLayers.ts writes it");

struct Place {
  int item, channel, at[3];
};
// A result's place, with `channels` of them an item.
__device__ __forceinline__ Place placeOf(const Window& w, int index, int channels, const int (&extent)[3]) {
  Place place;
  place.at[2] = index % extent[2];
  index /= extent[2];
  place.at[1] = index % extent[1];
  index /= extent[1];
  place.at[0] = index % extent[0];
  index /= extent[0];
  place.channel = index % channels;
  place.item = index / channels;
  return place;
}

// x[batch x channels x image], weights[outputs x channels / groups x window] (an item's stride where each has its own),
// bias[outputs], y[batch x outputs x out].
template <typename T>
__device__ __forceinline__ void convolve(const T* __restrict__ x, const T* __restrict__ weights, const T* __restrict__ bias,
                                         T* __restrict__ y, const int* __restrict__ shape, int count, int weightStride,
                                         int biasStride, int activation) {
  ELEMENT
  const Window& w = *reinterpret_cast<const Window*>(shape);
  const Place place = placeOf(w, index, w.outputs, w.out);
  const int channels = w.channels / w.groups, first = place.channel / (w.outputs / w.groups) * channels;
  const int plane = w.image[1] * w.image[2], volume = w.image[0] * plane;
  const T* from = x + (place.item * w.channels + first) * volume;
  const T* own = weights + place.item * weightStride + place.channel * channels * w.window[0] * w.window[1] * w.window[2];
  const int start0 = place.at[0] * w.stride[0] - w.pad[0], start1 = place.at[1] * w.stride[1] - w.pad[1],
            start2 = place.at[2] * w.stride[2] - w.pad[2];
  T total = 0;
#pragma unroll 1
  for (int channel = 0; channel < channels; channel++, from += volume) {
#pragma unroll 1
    for (int k0 = 0; k0 < w.window[0]; k0++) {
      const int z = start0 + k0 * w.dilation[0];
#pragma unroll 1
      for (int k1 = 0; k1 < w.window[1]; k1++) {
        const int row = start1 + k1 * w.dilation[1];
        const bool isInside = z >= 0 && z < w.image[0] && row >= 0 && row < w.image[1];
        if (isInside) {
          const T* line = from + z * plane + row * w.image[2];
#pragma unroll 1
          for (int k2 = 0; k2 < w.window[2]; k2++) {
            const int column = start2 + k2 * w.dilation[2];
            if (column >= 0 && column < w.image[2]) total += line[column] * own[k2];
          }
        }
        own += w.window[2];
      }
    }
  }
  y[index] = active(total + bias[place.item * biasStride + place.channel], activation);
}
extern "C" __global__ void convolve_f32(const float* x, const float* weights, const float* bias, float* y, const int* shape,
                                        int count, int weightStride, int biasStride, int activation) {
  convolve(x, weights, bias, y, shape, count, weightStride, biasStride, activation);
}
extern "C" __global__ void convolve_f64(const double* x, const double* weights, const double* bias, double* y,
                                        const int* shape, int count, int weightStride, int biasStride, int activation) {
  convolve(x, weights, bias, y, shape, count, weightStride, biasStride, activation);
}

// The transposed convolution: weights[channels x outputs / groups x window].
extern "C" __global__ void convolve_back_f32(const float* __restrict__ x, const float* __restrict__ weights,
                                             const float* __restrict__ bias, float* __restrict__ y,
                                             const int* __restrict__ shape, int count, int weightStride, int biasStride) {
  ELEMENT
  const Window& w = *reinterpret_cast<const Window*>(shape);
  const Place place = placeOf(w, index, w.outputs, w.out);
  const int channels = w.channels / w.groups, outputs = w.outputs / w.groups;
  const int group = place.channel / outputs, taps = w.window[0] * w.window[1] * w.window[2];
  const int plane = w.image[1] * w.image[2], volume = w.image[0] * plane;
  const float* from = x + (place.item * w.channels + group * channels) * volume;
  const float* own = weights + place.item * weightStride + (group * channels * outputs + place.channel % outputs) * taps;
  float total = 0.f;
#pragma unroll 1
  for (int channel = 0; channel < channels; channel++, from += volume, own += outputs * taps) {
#pragma unroll 1
    for (int k0 = 0; k0 < w.window[0]; k0++) {
      const int z = place.at[0] + w.pad[0] - k0 * w.dilation[0];
      if (z < 0 || z % w.stride[0] != 0 || z / w.stride[0] >= w.image[0]) continue;
#pragma unroll 1
      for (int k1 = 0; k1 < w.window[1]; k1++) {
        const int row = place.at[1] + w.pad[1] - k1 * w.dilation[1];
        if (row < 0 || row % w.stride[1] != 0 || row / w.stride[1] >= w.image[1]) continue;
        const float* line = from + z / w.stride[0] * plane + row / w.stride[1] * w.image[2];
#pragma unroll 1
        for (int k2 = 0; k2 < w.window[2]; k2++) {
          const int column = place.at[2] + w.pad[2] - k2 * w.dilation[2];
          if (column < 0 || column % w.stride[2] != 0 || column / w.stride[2] >= w.image[2]) continue;
          total += line[column / w.stride[2]] * own[(k0 * w.window[1] + k1) * w.window[2] + k2];
        }
      }
    }
  }
  y[index] = total + bias[place.item * biasStride + place.channel];
}

// Pools of each channel. `kind`: 0 the largest, 1 the mean of what lies in the image, 2 the mean of all within the pads,
// which reach `reach` behind the image, 3 the p-th root of the sum of p-th powers, 4 where the largest is (in places of the
// item's whole image, rows first; columns first where `columns` is 1).
template <typename To>
__device__ __forceinline__ void pool(const float* __restrict__ x, To* __restrict__ y, const int* __restrict__ shape,
                                     int count, int kind, int reach0, int reach1, int reach2, double p, int columns) {
  ELEMENT
  const Window& w = *reinterpret_cast<const Window*>(shape);
  const Place place = placeOf(w, index, w.channels, w.out);
  const int plane = w.image[1] * w.image[2], volume = w.image[0] * plane;
  const float* from = x + (place.item * w.channels + place.channel) * volume;
  const int start0 = place.at[0] * w.stride[0] - w.pad[0], start1 = place.at[1] * w.stride[1] - w.pad[1],
            start2 = place.at[2] * w.stride[2] - w.pad[2];
  double total = 0.0, largest = 0.0;
  int inside = 0, padded = 0, where = -1;
#pragma unroll 1
  for (int k0 = 0; k0 < w.window[0]; k0++) {
    const int z = start0 + k0 * w.dilation[0];
#pragma unroll 1
    for (int k1 = 0; k1 < w.window[1]; k1++) {
      const int row = start1 + k1 * w.dilation[1];
#pragma unroll 1
      for (int k2 = 0; k2 < w.window[2]; k2++) {
        const int column = start2 + k2 * w.dilation[2];
        if (z < w.image[0] + reach0 && row < w.image[1] + reach1 && column < w.image[2] + reach2) padded++;
        if (z < 0 || z >= w.image[0] || row < 0 || row >= w.image[1] || column < 0 || column >= w.image[2]) continue;
        const double value = from[z * plane + row * w.image[2] + column];
        inside++;
        if (kind == 0 || kind == 4) {
          if (where < 0 || value > largest || isnan(value)) {
            largest = value;
            where = columns != 0 ? z * plane + column * w.image[1] + row : z * plane + row * w.image[2] + column;
          }
        } else total += kind == 3 ? power(fabs(value), p) : value;
      }
    }
  }
  if (kind == 0) y[index] = static_cast<To>(largest);
  else if (kind == 4) y[index] = static_cast<To>(place.channel * volume + where);
  else if (kind == 3) y[index] = static_cast<To>(power(total, 1.0 / p));
  else y[index] = static_cast<To>(total / (kind == 1 ? inside : padded));
}
extern "C" __global__ void pool_f32(const float* x, float* y, const int* shape, int count, int kind, int reach0, int reach1,
                                    int reach2, double p) {
  pool(x, y, shape, count, kind, reach0, reach1, reach2, p, 0);
}
extern "C" __global__ void pool_places_f64(const float* x, double* y, const int* shape, int count, int columns) {
  pool(x, y, shape, count, 4, 0, 0, 0, 1.0, columns);
}

// Along one axis of `extent` elements, y = the sum of `taps` elements of x times weights: a resized axis.
// x[outer x extent x inner], places, weights: [out x taps]; a place below 0 gives `otherwise`.
extern "C" __global__ void resample_f32(const float* __restrict__ x, float* __restrict__ y, const int* __restrict__ places,
                                        const float* __restrict__ weights, int count, int extent, int out, int inner,
                                        int taps, float otherwise) {
  ELEMENT
  const int k = index / inner % out;
  const float* from = x + index / inner / out * extent * inner + index % inner;
  double total = 0.0;
#pragma unroll 1
  for (int tap = 0; tap < taps; tap++) {
    const int place = places[k * taps + tap];
    if (place < 0) {
      total = otherwise;
      break;
    }
    total += static_cast<double>(from[place * inner]) * weights[k * taps + tap];
  }
  y[index] = static_cast<float>(total);
}
