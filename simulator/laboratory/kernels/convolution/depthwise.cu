// Depthwise 3 by 3 with stride 2, bias and ReLU6, channels last; then a pointwise mix of the channels.
extern "C" __global__ void depthwise(const float* in, const float* filters, const float* bias, float* out, int height,
                                     int width, int channels) {
  int c = threadIdx.x, x = blockIdx.x, y = blockIdx.y, outWidth = gridDim.x;
  float sum = bias[c];
  for (int dy = 0; dy < 3; dy++)
    for (int dx = 0; dx < 3; dx++) {
      int px = 2 * x + dx - 1, py = 2 * y + dy - 1;
      if (px < 0 || py < 0 || px >= width || py >= height) continue;
      sum = __fmaf_rn(in[(py * width + px) * channels + c], filters[(dy * 3 + dx) * channels + c], sum);
    }
  out[(y * outWidth + x) * channels + c] = fminf(fmaxf(sum, 0.0f), 6.0f);
}

extern "C" __global__ void pointwise(const float* in, const float* mix, float* out, int channels) {
  extern __shared__ float pixel[];
  int o = threadIdx.x;
  if (o < channels) pixel[o] = in[blockIdx.x * channels + o];
  __syncthreads();
  float sum = 0.0f;
  for (int c = 0; c < channels; c++) sum = __fadd_rn(sum, __fmul_rn(pixel[c], mix[c * blockDim.x + o]));
  out[blockIdx.x * blockDim.x + o] = sum;
}
