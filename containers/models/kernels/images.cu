// Convolution and pooling of images in the order [channels x height x width].
#include "arithmetic.cuh"

// x[batch x channels x height x width], weights[channels x kernelHeight x kernelWidth x stride], bias[outputs],
// y[batch x outputs x outHeight x outWidth]; stride is outputs rounded up to a multiple of 4.
// grid = (ceilDiv(outHeight * outWidth, blockDim.x), stride / 4, batch): a thread makes one pixel of four outputs.
extern "C" __global__ void conv2d_f32(const float* __restrict__ x, const float* __restrict__ weights,
                                      const float* __restrict__ bias, float* __restrict__ y, int channels, int height,
                                      int width, int kernelHeight, int kernelWidth, int strideY, int strideX, int padTop,
                                      int padLeft, int outputs, int stride, int outHeight, int outWidth, int activation) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  const int pixels = outHeight * outWidth;
  if (pixel >= pixels) return;
  const int top = pixel / outWidth * strideY - padTop, left = pixel % outWidth * strideX - padLeft;
  // The part of the window that lies in the image: what is outside counts as 0.
  const int y0 = max(0, -top), y1 = min(kernelHeight, height - top);
  const int x0 = max(0, -left), x1 = min(kernelWidth, width - left);
  const float* image = x + static_cast<long long>(blockIdx.z) * channels * height * width;
  const float* w = weights + 4 * blockIdx.y;
  float a = 0, b = 0, c = 0, d = 0;
  for (int channel = 0; channel < channels; channel++) {
    for (int ky = y0; ky < y1; ky++) {
      const float* from = image + (channel * height + top + ky) * width + left;
      const float* row = w + static_cast<long long>((channel * kernelHeight + ky) * kernelWidth) * stride;
#pragma unroll 5
      for (int kx = x0; kx < x1; kx++) {
        const float value = from[kx];
        const Four<float> four = loadFour(row + kx * stride);
        a += value * four.a;
        b += value * four.b;
        c += value * four.c;
        d += value * four.d;
      }
    }
  }
  const int first = 4 * blockIdx.y;
  float* to = y + (static_cast<long long>(blockIdx.z) * outputs + first) * pixels + pixel;
  to[0] = activated(a + bias[first], activation);
  if (first + 1 < outputs) to[pixels] = activated(b + bias[first + 1], activation);
  if (first + 2 < outputs) to[2 * pixels] = activated(c + bias[first + 2], activation);
  if (first + 3 < outputs) to[3 * pixels] = activated(d + bias[first + 3], activation);
}

// x[batch x channels x height x width], y[batch x channels x outHeight x outWidth]; what lies outside the image never wins.
// grid = (ceilDiv(channels * outHeight * outWidth, blockDim.x), batch). Every window holds a pixel of the image.
extern "C" __global__ void max_pool2d_f32(const float* __restrict__ x, float* __restrict__ y, int channels, int height,
                                          int width, int kernelHeight, int kernelWidth, int strideY, int strideX,
                                          int padTop, int padLeft, int outHeight, int outWidth) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  const int pixels = outHeight * outWidth;
  if (index >= channels * pixels) return;
  const int channel = index / pixels, pixel = index % pixels;
  const int top = pixel / outWidth * strideY - padTop, left = pixel % outWidth * strideX - padLeft;
  const int y0 = max(0, top), y1 = min(top + kernelHeight, height);
  const int x0 = max(0, left), x1 = min(left + kernelWidth, width);
  const float* image = x + (static_cast<long long>(blockIdx.y) * channels + channel) * height * width;
  float largest = image[y0 * width + x0];
  for (int iy = y0; iy < y1; iy++) {
    for (int ix = x0; ix < x1; ix++) largest = fmaxf(largest, image[iy * width + ix]);
  }
  y[static_cast<long long>(blockIdx.y) * channels * pixels + index] = largest;
}
