// Causal attention with shared heads of keys: any length, the longest rows first, two buffers of keys and values.
#include "fragments.cuh"

constexpr int width = 64, keys = 32;

extern "C" __global__ void causalAttention(const __half* q, const __half* k, const __half* v, __half* out, float* logSums, int length,
                                           int sharing, float scale) {
  __shared__ __align__(16) __half queries[64][width + 8], tileK[2][keys][width + 8], tileV[2][keys][width + 8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  size_t head = (size_t)blockIdx.y * length * width, keyHead = (size_t)(blockIdx.y / sharing) * length * width;
  int first = (gridDim.x - 1 - blockIdx.x) * 64;
  int steps = (min(first + 64, length) + keys - 1) / keys;
  auto fetch = [&](int step) {
    if (step < steps) {
      for (int i = threadIdx.x; i < keys * width / 8; i += 128) {
        int key = step * keys + i / 8;
        size_t from = keyHead + (key < length ? key * width + i % 8 * 8 : 0);
        copy16OrNought(&tileK[step % 2][i / 8][i % 8 * 8], k + from, key < length);
        copy16OrNought(&tileV[step % 2][i / 8][i % 8 * 8], v + from, key < length);
      }
    }
    commitCopies();
  };
  for (int i = threadIdx.x; i < 64 * width / 8; i += 128) {
    int row = first + i / 8;
    copy16OrNought(&queries[i / 8][i % 8 * 8], q + head + (row < length ? row * width + i % 8 * 8 : 0), row < length);
  }
  fetch(0);
  float sum[width / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
  unsigned x[width / 16][4];
  for (int step = 0; step < steps; step++) {
    fetch(step + 1);
    awaitCopies<1>();
    __syncthreads();
    if (step == 0)
      for (int at = 0; at < width / 16; at++) loadMatrix4(x[at], &queries[warp * 16 + lane % 16][at * 16 + lane / 16 * 8]);
    float score[keys / 8][4] = {};
#pragma unroll
    for (int tile = 0; tile < keys / 8; tile++) {
#pragma unroll
      for (int at = 0; at < width / 16; at += 2) {
        unsigned y[4];
        loadMatrix4(y, &tileK[step % 2][tile * 8 + lane % 8][at * 16 + lane / 8 * 8]);
        unsigned low[2] = {y[0], y[1]}, high[2] = {y[2], y[3]};
        multiplyHalf(score[tile], x[at], low);
        multiplyHalf(score[tile], x[at + 1], high);
      }
    }
    // Only the tiles on the diagonal hold keys that come after their queries.
    if (step * keys + keys > first + warp * 16) {
#pragma unroll
      for (int tile = 0; tile < keys / 8; tile++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
          int key = step * keys + tile * 8 + t * 2 + i % 2, query = first + warp * 16 + g + i / 2 * 8;
          if (key > query) score[tile][i] = -INFINITY;
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
      for (int tile = 0; tile < keys / 8; tile++)
        for (int i = half * 2; i < half * 2 + 2; i++) {
          score[tile][i] = exp2f(fmaf(score[tile][i], scale, -top));
          added += score[tile][i];
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
      for (int tile = 0; tile < width / 8; tile += 2) {
        unsigned y[4];
        loadMatrix4Transposed(y, &tileV[step % 2][at * 16 + lane % 16][tile * 8 + lane / 16 * 8]);
        unsigned low[2] = {y[0], y[1]}, high[2] = {y[2], y[3]};
        multiplyHalf(sum[tile], p, low);
        multiplyHalf(sum[tile + 1], p, high);
      }
    }
    __syncthreads();
  }
  for (int half = 0; half < 2; half++) {
    int row = first + warp * 16 + g + half * 8;
    if (row >= length) continue;
    float scaled = 1.0f / total[half];
    for (int tile = 0; tile < width / 8; tile++)
      *(__half2*)&out[head + row * width + tile * 8 + t * 2] =
          __floats2half2_rn(sum[tile][half * 2] * scaled, sum[tile][half * 2 + 1] * scaled);
    if (t == 0) logSums[blockIdx.y * length + row] = most[half] + log2f(total[half]);
  }
}
