// A convolution of 3 by 3 over channels-last images as a product: rows are pixels, k runs over taps and channels, gathered as it goes.
#include "fragments.cuh"

extern "C" __global__ void implicitGemm(const __half* image, const __half* weights, const float* bias, __half* out, int height,
                                        int width, int channels, int filters) {
  __shared__ __align__(16) __half pixels[64][24], taps[16][40];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int first = blockIdx.x * 64, column = blockIdx.y * 32;
  float sum[4][4] = {};
  for (int tap = 0; tap < 9; tap++) {
    for (int from = 0; from < channels; from += 16) {
      __syncthreads();
      for (int i = threadIdx.x; i < 64 * 2; i += 128) {
        int pixel = first + i / 2, y = pixel / width + tap / 3 - 1, x = pixel % width + tap % 3 - 1;
        bool inside = pixel < height * width && y >= 0 && y < height && x >= 0 && x < width;
        *(uint4*)&pixels[i / 2][i % 2 * 8] =
            inside ? *(const uint4*)&image[(y * width + x) * channels + from + i % 2 * 8] : make_uint4(0, 0, 0, 0);
      }
      for (int i = threadIdx.x; i < 16 * 4; i += 128)
        *(uint4*)&taps[i / 4][i % 4 * 8] = *(const uint4*)&weights[(tap * channels + from + i / 4) * filters + column + i % 4 * 8];
      __syncthreads();
      unsigned x[4];
      loadMatrix4(x, &pixels[warp * 16 + lane % 16][lane / 16 * 8]);
#pragma unroll
      for (int tile = 0; tile < 4; tile++) {
        unsigned y[2];
        loadMatrix2Transposed(y, &taps[lane % 16][tile * 8]);
        multiplyHalf(sum[tile], x, y);
      }
    }
  }
  for (int tile = 0; tile < 4; tile++) {
    for (int half = 0; half < 2; half++) {
      int pixel = first + warp * 16 + g + half * 8, filter = column + tile * 8 + t * 2;
      if (pixel >= height * width) continue;
      *(unsigned*)&out[pixel * filters + filter] = packHalves(fmaxf(sum[tile][half * 2] + bias[filter], 0.0f),
                                                              fmaxf(sum[tile][half * 2 + 1] + bias[filter + 1], 0.0f));
    }
  }
}
