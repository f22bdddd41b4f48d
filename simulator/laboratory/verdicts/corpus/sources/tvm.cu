// Kernels with every extent a constant, as a tensor compiler generates them for the layers of a network.
// The grid covers the output exactly or by a guard with a constant bound.
#include "corpus.cuh"

// Direct convolution, one output a thread, flattened: channels C, image H x W, K filters R x R, stride S, padding P.
#define CONV(NAME, C, H, W, K, R, S, P)                                                                       \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT weights) {                 \
    const int oh = ((H) + 2 * (P) - (R)) / (S) + 1, ow = ((W) + 2 * (P) - (R)) / (S) + 1;                     \
    idx i = GLOBAL_ID;                                                                                        \
    if (i >= (K) * oh * ow) return;                                                                           \
    idx x = i % ow, y = i / ow % oh, k = i / (ow * oh);                                                       \
    float sum = 0.0f;                                                                                         \
    LOOP for (idx c = 0; c < (C); c++)                                                                        \
      LOOP for (idx r = 0; r < (R); r++)                                                                      \
        LOOP for (idx q = 0; q < (R); q++) {                                                                  \
          idx iy = y * (S) + r - (P), ix = x * (S) + q - (P);                                                 \
          if (iy >= 0 && iy < (H) && ix >= 0 && ix < (W))                                                     \
            sum += in[(c * (H) + iy) * (W) + ix] * weights[((k * (C) + c) * (R) + r) * (R) + q];              \
        }                                                                                                     \
    out[i] = sum;                                                                                             \
  }

// The same by block: filters on z, rows on y; bias and ReLU fused.
#define CONV_BLOCKS(NAME, C, H, W, K, R)                                                                      \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT weights,                   \
              const float *RESTRICT bias) {                                                                   \
    const int oh = (H) - (R) + 1, ow = (W) - (R) + 1;                                                         \
    idx x = threadIdx.x, y = blockIdx.y, k = blockIdx.z;                                                      \
    if (x >= ow) return;                                                                                      \
    float sum = bias[k];                                                                                      \
    LOOP for (idx c = 0; c < (C); c++)                                                                        \
      LOOP for (idx r = 0; r < (R); r++)                                                                      \
        LOOP for (idx q = 0; q < (R); q++)                                                                    \
          sum += in[(c * (H) + y + r) * (W) + x + q] * weights[((k * (C) + c) * (R) + r) * (R) + q];          \
    out[(k * oh + y) * ow + x] = fmaxf(sum, 0.0f);                                                            \
  }

#define DEPTHWISE(NAME, C, H, W, R, S, P)                                                                     \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT weights) {                 \
    const int oh = ((H) + 2 * (P) - (R)) / (S) + 1, ow = ((W) + 2 * (P) - (R)) / (S) + 1;                     \
    idx i = GLOBAL_ID;                                                                                        \
    if (i >= (C) * oh * ow) return;                                                                           \
    idx c = i / (oh * ow), y = i % (oh * ow) / ow, x = i % ow;                                                \
    float sum = 0.0f;                                                                                         \
    LOOP for (idx r = 0; r < (R); r++)                                                                        \
      LOOP for (idx q = 0; q < (R); q++) {                                                                    \
        idx iy = y * (S) + r - (P), ix = x * (S) + q - (P);                                                   \
        float v = iy >= 0 && iy < (H) && ix >= 0 && ix < (W) ? in[(c * (H) + iy) * (W) + ix] : 0.0f;          \
        sum += v * weights[(c * (R) + r) * (R) + q];                                                          \
      }                                                                                                       \
    out[i] = sum;                                                                                             \
  }

// A 1 x 1 convolution as the product that it is, through shared memory; pixels a multiple of 8.
#define POINTWISE(NAME, C, PIXELS, K)                                                                         \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT weights) {                 \
    __shared__ float tile[C][8];                                                                              \
    idx p = (idx)blockIdx.x * 8 + threadIdx.x, k = threadIdx.y;                                               \
    LOOP for (idx c = threadIdx.y; c < (C); c += (K)) tile[c][threadIdx.x] = in[c * (PIXELS) + p];            \
    __syncthreads();                                                                                          \
    float sum = 0.0f;                                                                                         \
    LOOP for (idx c = 0; c < (C); c++) sum += tile[c][threadIdx.x] * weights[k * (C) + c];                    \
    out[k * (PIXELS) + p] = sum;                                                                              \
  }

#define POOL(NAME, INITIAL, STEP, FINISH, C, H, W, R, S)                                                      \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in) {                                                \
    const int oh = ((H) - (R)) / (S) + 1, ow = ((W) - (R)) / (S) + 1;                                         \
    idx i = GLOBAL_ID;                                                                                        \
    if (i >= (C) * oh * ow) return;                                                                           \
    idx c = i / (oh * ow), y = i / ow % oh, x = i % ow;                                                       \
    float kept = INITIAL;                                                                                     \
    LOOP for (idx r = 0; r < (R); r++)                                                                        \
      LOOP for (idx q = 0; q < (R); q++) {                                                                    \
        float v = in[(c * (H) + y * (S) + r) * (W) + x * (S) + q];                                            \
        kept = STEP;                                                                                          \
      }                                                                                                       \
    out[i] = FINISH;                                                                                          \
  }

#define IM2COL(NAME, C, H, W, R)                                                                              \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in) {                                                \
    const int oh = (H) - (R) + 1, ow = (W) - (R) + 1;                                                         \
    idx i = GLOBAL_ID;                                                                                        \
    if (i >= (C) * (R) * (R) * oh * ow) return;                                                               \
    idx x = i % ow, y = i / ow % oh, q = i / (ow * oh) % (R), r = i / (ow * oh * (R)) % (R),                  \
        c = i / (ow * oh * (R) * (R));                                                                        \
    out[i] = in[(c * (H) + y + r) * (W) + x + q];                                                             \
  }

#define PAD(NAME, C, H, W, P)                                                                                 \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in) {                                                \
    const int oh = (H) + 2 * (P), ow = (W) + 2 * (P);                                                         \
    idx i = GLOBAL_ID;                                                                                        \
    if (i >= (C) * oh * ow) return;                                                                           \
    idx x = i % ow - (P), y = i / ow % oh - (P), c = i / (ow * oh);                                           \
    out[i] = x >= 0 && x < (W) && y >= 0 && y < (H) ? in[(c * (H) + y) * (W) + x] : 0.0f;                     \
  }

#define CONCAT(NAME, A, B, PIXELS)                                                                            \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT a, const float *RESTRICT b) {                        \
    idx i = GLOBAL_ID;                                                                                        \
    if (i >= ((A) + (B)) * (PIXELS)) return;                                                                  \
    out[i] = i < (A) * (PIXELS) ? a[i] : b[i - (A) * (PIXELS)];                                               \
  }

#define TRANSPOSE(NAME, ROWS, COLS)                                                                           \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in) {                                                \
    idx i = GLOBAL_ID;                                                                                        \
    if (i < (ROWS) * (COLS)) out[i % (COLS) * (ROWS) + i / (COLS)] = in[i];                                   \
  }

// Through a tile in shared memory; extents are multiples of 8.
#define TRANSPOSE_TILED(NAME, ROWS, COLS)                                                                     \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in) {                                                \
    __shared__ float tile[8][9];                                                                              \
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 8 + threadIdx.y) * (COLS) + blockIdx.x * 8 + threadIdx.x]; \
    __syncthreads();                                                                                          \
    out[(blockIdx.x * 8 + threadIdx.y) * (ROWS) + blockIdx.y * 8 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; \
  }

#define FUSED(NAME, C, PIXELS, VALUE)                                                                         \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT scale,                     \
              const float *RESTRICT shift) {                                                                  \
    idx i = GLOBAL_ID;                                                                                        \
    if (i >= (C) * (PIXELS)) return;                                                                          \
    float v = in[i] * scale[i / (PIXELS)] + shift[i / (PIXELS)];                                              \
    out[i] = VALUE;                                                                                           \
  }

#define ADD_RELU(NAME, COUNT)                                                                                 \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT a, const float *RESTRICT b) {                        \
    out[GLOBAL_ID] = fmaxf(a[GLOBAL_ID] + b[GLOBAL_ID], 0.0f);                                                \
  }

#define DENSE(NAME, IN, OUT)                                                                                  \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT weights,                   \
              const float *RESTRICT bias) {                                                                   \
    __shared__ float parts[32];                                                                               \
    float sum = 0.0f;                                                                                         \
    LOOP for (idx i = threadIdx.x; i < (IN); i += 32) sum += in[i] * weights[blockIdx.x * (IN) + i];          \
    parts[threadIdx.x] = sum;                                                                                 \
    __syncthreads();                                                                                          \
    for (int d = 16; d > 0; d >>= 1) {                                                                        \
      if (threadIdx.x < d) parts[threadIdx.x] += parts[threadIdx.x + d];                                      \
      __syncthreads();                                                                                        \
    }                                                                                                         \
    if (threadIdx.x == 0) out[blockIdx.x] = parts[0] + bias[blockIdx.x];                                      \
  }

#define UPSAMPLE(NAME, C, H, W)                                                                               \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in) {                                                \
    idx i = GLOBAL_ID;                                                                                        \
    if (i >= (C) * 4 * (H) * (W)) return;                                                                     \
    idx x = i % (2 * (W)), y = i / (2 * (W)) % (2 * (H)), c = i / (4 * (H) * (W));                            \
    out[i] = in[(c * (H) + y / 2) * (W) + x / 2];                                                             \
  }

#define GLOBAL_POOL(NAME, C, PIXELS)                                                                          \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in) {                                                \
    idx c = GLOBAL_ID;                                                                                        \
    if (c >= (C)) return;                                                                                     \
    float sum = 0.0f;                                                                                         \
    LOOP for (idx p = 0; p < (PIXELS); p++) sum += in[c * (PIXELS) + p];                                      \
    out[c] = sum / (PIXELS);                                                                                  \
  }

#define SOFTMAX(NAME, COLS)                                                                                   \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in) {                                                \
    float sum = 0.0f;                                                                                         \
    LOOP for (idx c = 0; c < (COLS); c++) sum += __expf(in[blockIdx.x * (COLS) + c]);                         \
    LOOP for (idx c = threadIdx.x; c < (COLS); c += 32)                                                       \
      out[blockIdx.x * (COLS) + c] = __expf(in[blockIdx.x * (COLS) + c]) / sum;                               \
  }

#define SLICE(NAME, C, H, W, FROM, STEP, KEPT)                                                                \
  KERNEL NAME(float *RESTRICT out, const float *RESTRICT in) {                                                \
    idx i = GLOBAL_ID;                                                                                        \
    if (i >= (C) * (H) * (KEPT)) return;                                                                      \
    out[i] = in[i / (KEPT) * (W) + (FROM) + i % (KEPT) * (STEP)];                                             \
  }

CONV(conv3x3Small, 2, 8, 8, 4, 3, 1, 1)
CONV(conv3x3Odd, 3, 7, 9, 5, 3, 1, 1)
CONV(conv3x3Stride, 3, 9, 9, 4, 3, 2, 1)
CONV(conv5x5, 1, 12, 12, 3, 5, 1, 2)
CONV(conv1x1, 4, 6, 6, 8, 1, 1, 0)
CONV(conv7x7Stride, 3, 14, 14, 2, 7, 2, 3)
CONV_BLOCKS(convBlocks3, 3, 10, 10, 4, 3)
CONV_BLOCKS(convBlocks5, 1, 12, 12, 6, 5)
CONV_BLOCKS(convBlocks1, 4, 8, 8, 8, 1)
CONV_BLOCKS(convBlocksWide, 2, 5, 20, 3, 3)
DEPTHWISE(depthwise3, 4, 8, 8, 3, 1, 1)
DEPTHWISE(depthwise3Stride, 6, 9, 9, 3, 2, 1)
DEPTHWISE(depthwise5, 3, 10, 10, 5, 1, 2)
POINTWISE(pointwiseSmall, 4, 64, 8)
POINTWISE(pointwiseWide, 16, 48, 4)
POINTWISE(pointwiseDeep, 24, 32, 8)
POOL(maxPool2, -3.4e38f, fmaxf(kept, v), kept, 4, 8, 8, 2, 2)
POOL(maxPool3, -3.4e38f, fmaxf(kept, v), kept, 3, 9, 9, 3, 2)
POOL(averagePool2, 0.0f, kept + v, kept * 0.25f, 5, 6, 6, 2, 2)
POOL(averagePool3, 0.0f, kept + v, kept / 9.0f, 2, 11, 11, 3, 1)
IM2COL(im2col3, 2, 8, 8, 3)
IM2COL(im2col2, 3, 6, 7, 2)
IM2COL(im2col5, 1, 10, 10, 5)
PAD(pad1, 3, 8, 8, 1)
PAD(pad2, 2, 5, 9, 2)
PAD(pad3, 1, 12, 12, 3)
CONCAT(concatChannels, 3, 5, 64)
CONCAT(concatOdd, 2, 7, 49)
CONCAT(concatWide, 16, 4, 16)
TRANSPOSE(transposeFlat, 12, 20)
TRANSPOSE(transposeOdd, 7, 31)
TRANSPOSE_TILED(transposeTiled, 16, 24)
TRANSPOSE_TILED(transposeSquare, 32, 32)
FUSED(fusedRelu, 4, 64, fmaxf(v, 0.0f))
FUSED(fusedRelu6, 6, 49, fminf(fmaxf(v, 0.0f), 6.0f))
FUSED(fusedSigmoid, 8, 36, 1.0f / (1.0f + __expf(-v)))
FUSED(fusedHardSwish, 3, 100, v * fminf(fmaxf(v + 3.0f, 0.0f), 6.0f) / 6.0f)
ADD_RELU(addRelu256, 256)
ADD_RELU(addRelu512, 512)
DENSE(dense64x10, 64, 10)
DENSE(dense100x16, 100, 16)
DENSE(dense512x8, 512, 8)
UPSAMPLE(upsample2, 3, 6, 6)
UPSAMPLE(upsampleOdd, 2, 5, 7)
GLOBAL_POOL(globalPool49, 16, 49)
GLOBAL_POOL(globalPool64, 8, 64)
SOFTMAX(softmax10, 10)
SOFTMAX(softmax100, 100)
SLICE(sliceColumns, 3, 8, 16, 4, 1, 8)
SLICE(sliceEveryOther, 2, 9, 18, 1, 2, 8)
