// A layer of a transformer in one kernel: product in bf16, bias, GELU and a norm over rows, which lie within four lanes each.
#include "fragments.cuh"

constexpr int columns = 64, depth = 32;

static __device__ __forceinline__ float overRow(float value) {
  value += __shfl_xor_sync(~0u, value, 1);
  return value + __shfl_xor_sync(~0u, value, 2);
}

static __device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); }

extern "C" __global__ void gemmLayerNorm(const __nv_bfloat16* a, const __nv_bfloat16* b, const float* bias, const float* gamma,
                                         const float* beta, __nv_bfloat16* out, float* means, float* inverses, int k, float epsilon) {
  __shared__ __align__(16) __nv_bfloat16 left[64][depth + 8], right[depth][columns + 8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int row = blockIdx.x * 64;
  float sum[columns / 8][4] = {};
  for (int at = 0; at < k; at += depth) {
    for (int i = threadIdx.x; i < 64 * depth / 8; i += 128) {
      copy16OrNought(&left[i / 4][i % 4 * 8], &a[(row + i / 4) * k + at + i % 4 * 8], true);
      copy16OrNought(&right[i / 8][i % 8 * 8], &b[(at + i / 8) * columns + i % 8 * 8], true);
    }
    commitCopies();
    awaitCopies<0>();
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < depth; inner += 16) {
      unsigned x[4];
      loadMatrix4(x, &left[warp * 16 + lane % 16][inner + lane / 16 * 8]);
#pragma unroll
      for (int tile = 0; tile < columns / 8; tile += 2) {
        unsigned y[4];
        loadMatrix4Transposed(y, &right[inner + lane % 16][tile * 8 + lane / 16 * 8]);
        unsigned low[2] = {y[0], y[1]}, high[2] = {y[2], y[3]};
        multiplyBfloat(sum[tile], x, low);
        multiplyBfloat(sum[tile + 1], x, high);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    float total = 0.0f, squares = 0.0f;
#pragma unroll
    for (int tile = 0; tile < columns / 8; tile++)
      for (int i = half * 2; i < half * 2 + 2; i++) {
        sum[tile][i] = gelu(sum[tile][i] + bias[tile * 8 + t * 2 + i % 2]);
        total += sum[tile][i];
      }
    float mean = overRow(total) / columns;
#pragma unroll
    for (int tile = 0; tile < columns / 8; tile++)
      for (int i = half * 2; i < half * 2 + 2; i++) squares += (sum[tile][i] - mean) * (sum[tile][i] - mean);
    float inverse = rsqrtf(overRow(squares) / columns + epsilon);
    int line = row + warp * 16 + g + half * 8;
#pragma unroll
    for (int tile = 0; tile < columns / 8; tile++) {
      int x = tile * 8 + t * 2;
      float2 by = *(const float2*)&gamma[x], shift = *(const float2*)&beta[x];
      *(__nv_bfloat162*)&out[line * columns + x] = __floats2bfloat162_rn((sum[tile][half * 2] - mean) * inverse * by.x + shift.x,
                                                                          (sum[tile][half * 2 + 1] - mean) * inverse * by.y + shift.y);
    }
    if (t == 0) {
      means[line] = mean;
      inverses[line] = inverse;
    }
  }
}
