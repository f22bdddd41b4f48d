// Attention without the matrix of scores: 64 queries a block, 16 a warp, keys and values by 32; the scores of one product are A of the next.
#include "fragments.cuh"

constexpr int width = 64, keys = 32;

extern "C" __global__ void flashForward(const __half* q, const __half* k, const __half* v, float* out, float* logSums, int length,
                                        float scale) {
  __shared__ __align__(16) __half queries[64][width + 8], tileK[keys][width + 8], tileV[keys][width + 8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  size_t head = (size_t)blockIdx.y * length * width;
  int first = blockIdx.x * 64;
  for (int i = threadIdx.x; i < 64 * width / 8; i += 128)
    *(uint4*)&queries[i / 8][i % 8 * 8] = *(const uint4*)&q[head + (first + i / 8) * width + i % 8 * 8];
  __syncthreads();
  unsigned x[width / 16][4];
  for (int at = 0; at < width / 16; at++) loadMatrix4(x[at], &queries[warp * 16 + lane % 16][at * 16 + lane / 16 * 8]);
  float sum[width / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
  for (int from = 0; from < length; from += keys) {
    __syncthreads();
    for (int i = threadIdx.x; i < keys * width / 8; i += 128) {
      *(uint4*)&tileK[i / 8][i % 8 * 8] = *(const uint4*)&k[head + (from + i / 8) * width + i % 8 * 8];
      *(uint4*)&tileV[i / 8][i % 8 * 8] = *(const uint4*)&v[head + (from + i / 8) * width + i % 8 * 8];
    }
    __syncthreads();
    float score[keys / 8][4] = {};
#pragma unroll
    for (int tile = 0; tile < keys / 8; tile++) {
#pragma unroll
      for (int at = 0; at < width / 16; at++) {
        unsigned y[2];
        loadMatrix2(y, &tileK[tile * 8 + lane % 8][at * 16 + lane / 8 % 2 * 8]);
        multiplyHalf(score[tile], x[at], y);
      }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float top = most[half];
      for (int tile = 0; tile < keys / 8; tile++)
        top = fmaxf(top, fmaxf(score[tile][half * 2], score[tile][half * 2 + 1]) * scale);
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
      float shrink = exp2f(most[half] - top), added = 0.0f;
      for (int tile = 0; tile < keys / 8; tile++) {
        for (int i = half * 2; i < half * 2 + 2; i++) {
          score[tile][i] = exp2f(score[tile][i] * scale - top);
          added += score[tile][i];
        }
      }
      added += __shfl_xor_sync(~0u, added, 1);
      added += __shfl_xor_sync(~0u, added, 2);
      total[half] = total[half] * shrink + added;
      most[half] = top;
      for (int tile = 0; tile < width / 8; tile++) {
        sum[tile][half * 2] *= shrink;
        sum[tile][half * 2 + 1] *= shrink;
      }
    }
#pragma unroll
    for (int at = 0; at < keys / 16; at++) {
      unsigned p[4] = {packHalves(score[2 * at][0], score[2 * at][1]), packHalves(score[2 * at][2], score[2 * at][3]),
                       packHalves(score[2 * at + 1][0], score[2 * at + 1][1]), packHalves(score[2 * at + 1][2], score[2 * at + 1][3])};
#pragma unroll
      for (int tile = 0; tile < width / 8; tile++) {
        unsigned y[2];
        loadMatrix2Transposed(y, &tileV[at * 16 + lane % 16][tile * 8]);
        multiplyHalf(sum[tile], p, y);
      }
    }
  }
  for (int half = 0; half < 2; half++) {
    int row = first + warp * 16 + g + half * 8;
    for (int tile = 0; tile < width / 8; tile++)
      *(float2*)&out[head + row * width + tile * 8 + t * 2] =
          make_float2(sum[tile][half * 2] / total[half], sum[tile][half * 2 + 1] / total[half]);
    if (t == 0) logSums[blockIdx.y * length + row] = most[half] + log2f(total[half]);
  }
}
