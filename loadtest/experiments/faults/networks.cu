// Layers of convolutional networks and of a decoder, one image or one token at a time, written as a tensor compiler writes
// them: an output a thread, extents as arguments. nvcc -ptx -arch=sm_90 networks.cu
#define KERNEL extern "C" __global__ void

// Channels x height x width; filters on the grid's y; bias and ReLU fused.
#define CONVOLUTION(NAME, SIZE)                                                                                    \
  KERNEL NAME(float *out, const float *in, const float *weights, const float *bias, int channels, int height,      \
              int width, int stride, int outHeight, int outWidth) {                                                \
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x, filter = blockIdx.y;                                  \
    if (pixel >= outHeight * outWidth) return;                                                                     \
    const int y = pixel / outWidth * stride - SIZE / 2, x = pixel % outWidth * stride - SIZE / 2;                  \
    float sum = bias[filter];                                                                                      \
    for (int channel = 0; channel < channels; channel++)                                                           \
      for (int r = 0; r < SIZE; r++)                                                                               \
        for (int q = 0; q < SIZE; q++)                                                                             \
          if (y + r >= 0 && y + r < height && x + q >= 0 && x + q < width)                                         \
            sum += in[(channel * height + y + r) * width + x + q] *                                                \
                   weights[((filter * channels + channel) * SIZE + r) * SIZE + q];                                 \
    out[filter * outHeight * outWidth + pixel] = fmaxf(sum, 0.0f);                                                 \
  }

CONVOLUTION(convolution1, 1)
CONVOLUTION(convolution3, 3)
CONVOLUTION(convolution5, 5)

KERNEL depthwise3(float *out, const float *in, const float *weights, const float *bias, int height, int width, int stride,
                  int outHeight, int outWidth) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  if (pixel >= outHeight * outWidth) return;
  const int y = pixel / outWidth * stride - 1, x = pixel % outWidth * stride - 1;
  float sum = bias[channel];
  for (int r = 0; r < 3; r++)
    for (int q = 0; q < 3; q++)
      if (y + r >= 0 && y + r < height && x + q >= 0 && x + q < width)
        sum += in[(channel * height + y + r) * width + x + q] * weights[(channel * 3 + r) * 3 + q];
  out[channel * outHeight * outWidth + pixel] = fmaxf(sum, 0.0f);
}

KERNEL maxPool2(float *out, const float *in, int height, int width) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  const int outWidth = width / 2, outPixels = height / 2 * outWidth;
  if (pixel >= outPixels) return;
  const float *from = in + (channel * height + pixel / outWidth * 2) * width + pixel % outWidth * 2;
  out[channel * outPixels + pixel] = fmaxf(fmaxf(from[0], from[1]), fmaxf(from[width], from[width + 1]));
}

// Mean of each channel; a block of 64 threads a channel.
KERNEL averageAll(float *out, const float *in, int pixels) {
  __shared__ float parts[64];
  float sum = 0.0f;
  for (int pixel = threadIdx.x; pixel < pixels; pixel += 64) sum += in[blockIdx.x * pixels + pixel];
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int distance = 32; distance > 0; distance >>= 1) {
    if (threadIdx.x < distance) parts[threadIdx.x] += parts[threadIdx.x + distance];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0] / pixels;
}

KERNEL concatenate(float *out, const float *a, const float *b, int countA, int countB) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < countA + countB) out[i] = i < countA ? a[i] : b[i - countA];
}

KERNEL addRelu(float *out, const float *a, const float *b, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = fmaxf(a[i] + b[i], 0.0f);
}

// A block of 64 threads an output.
KERNEL dense(float *out, const float *in, const float *weights, const float *bias, int inputs) {
  __shared__ float parts[64];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < inputs; i += 64) sum += in[i] * weights[blockIdx.x * inputs + i];
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int distance = 32; distance > 0; distance >>= 1) {
    if (threadIdx.x < distance) parts[threadIdx.x] += parts[threadIdx.x + distance];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0] + bias[blockIdx.x];
}

// One block.
KERNEL softmax(float *out, const float *in, int count) {
  float sum = 0.0f;
  for (int i = 0; i < count; i++) sum += __expf(in[i]);
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = __expf(in[i]) / sum;
}

// --- a decoder's step for one token ---

KERNEL fill(float *out, float value, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = value;
}

// The token stands in memory.
KERNEL embed(float *stream, const float *table, const float *positions, const int *token, int position, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width) stream[i] = table[token[0] * width + i] + positions[position * width + i];
}

// One block of 128 threads.
KERNEL layerNorm(float *out, const float *in, const float *scale, const float *shift, int width) {
  __shared__ float sums[128], squares[128];
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < width; i += 128) {
    sum += in[i];
    square += in[i] * in[i];
  }
  sums[threadIdx.x] = sum;
  squares[threadIdx.x] = square;
  __syncthreads();
  for (int distance = 64; distance > 0; distance >>= 1) {
    if (threadIdx.x < distance) {
      sums[threadIdx.x] += sums[threadIdx.x + distance];
      squares[threadIdx.x] += squares[threadIdx.x + distance];
    }
    __syncthreads();
  }
  const float mean = sums[0] / width, variance = squares[0] / width - mean * mean;
  for (int i = threadIdx.x; i < width; i += 128)
    out[i] = (in[i] - mean) * rsqrtf(variance + 1e-5f) * scale[i] + shift[i];
}

KERNEL appendCache(float *cache, const float *fresh, int position, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width) cache[position * width + i] = fresh[i];
}

// A block of 64 threads a head of depth 64; at most 512 tokens.
KERNEL cachedAttention(float *out, const float *query, const float *keys, const float *values, int length, int width) {
  __shared__ float weights[512];
  const int head = blockIdx.x * 64;
  for (int t = threadIdx.x; t < length; t += 64) {
    float score = 0.0f;
    for (int d = 0; d < 64; d++) score += query[head + d] * keys[t * width + head + d];
    weights[t] = __expf(score * 0.125f);
  }
  __syncthreads();
  float sum = 0.0f, total = 0.0f;
  for (int t = 0; t < length; t++) {
    total += weights[t];
    sum += weights[t] * values[t * width + head + threadIdx.x];
  }
  out[head + threadIdx.x] = sum / total;
}

KERNEL addResidual(float *stream, const float *branch, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width) stream[i] += branch[i];
}

KERNEL gelu(float *out, const float *in, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float x = in[i];
  out[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

// One block of 64 threads.
KERNEL greedy(int *token, const float *logits, int count) {
  __shared__ float best[64];
  __shared__ int at[64];
  float value = -3.4e38f;
  int found = 0;
  for (int i = threadIdx.x; i < count; i += 64)
    if (logits[i] > value) {
      value = logits[i];
      found = i;
    }
  best[threadIdx.x] = value;
  at[threadIdx.x] = found;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 64; t++)
    if (best[t] > value) {
      value = best[t];
      found = at[t];
    }
  token[0] = found;
}
