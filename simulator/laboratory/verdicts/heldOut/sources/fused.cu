// In the manner of a tensor compiler's output: extents are constants, operators are fused, indices are quotients and remainders.
#include "unseen.cuh"
#define T(bounds) K __launch_bounds__(bounds)

K fusedConv3x3BnRelu(float *R out, const float *R data, const float *R kernel, const float *R scale, const float *R shift) {
  // 4x8x8 -> 8x8x8, a block a pair of output channels
  float acc[2] = {0, 0};
  __shared__ float pad[4 * 100], ker[72];
  for (int o = 0; o < 7; o++) {
    const int i = o * 64 + (int)threadIdx.x;
    if (i < 400) {
      const int c = i / 100, r = i % 100, y = r / 10, x = r % 10;
      pad[i] = 1 <= y && y < 9 && 1 <= x && x < 9 ? data[c * 64 + y * 8 + x - 9] : 0.0f;
    }
  }
  for (int o = 0; o < 2; o++)
    if (o * 64 + (int)threadIdx.x < 72) ker[o * 64 + threadIdx.x] = kernel[blockIdx.x * 72 + o * 64 + threadIdx.x];
  __syncthreads();
  for (int c = 0; c < 4; c++)
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++) {
        const float v = pad[c * 100 + ((int)threadIdx.x / 8 + y) * 10 + (int)threadIdx.x % 8 + x];
        acc[0] += v * ker[c * 9 + y * 3 + x];
        acc[1] += v * ker[36 + c * 9 + y * 3 + x];
      }
  for (int f = 0; f < 2; f++) {
    const int ch = (int)blockIdx.x * 2 + f;
    out[ch * 64 + (int)threadIdx.x] = fmaxf(acc[f] * scale[ch] + shift[ch], 0.0f);
  }
}
K fusedPadConcat(float *R out, const float *R a, const float *R b) {
  // 6x6 and 6x6 padded to 8x8 in two channels of four
  const int i = (int)blockIdx.x * 64 + (int)threadIdx.x, c = i / 64, y = i / 8 % 8, x = i % 8;
  if (i < 256)
    out[i] = c < 2 ? (1 <= y && y < 7 && 1 <= x && x < 7 ? a[c * 36 + y * 6 + x - 7] : 0.0f)
                   : (1 <= y && y < 7 && 1 <= x && x < 7 ? b[(c - 2) * 36 + y * 6 + x - 7] : 0.0f);
}
K fusedTransposeReshape(float *R out, const float *R in) {
  const int i = (int)blockIdx.x * 128 + (int)threadIdx.x;
  if (i < 420) out[i] = in[i % 12 * 35 + i / 60 * 5 + i % 60 / 12] + 1.0f;
}
K fusedMaxPool(float *R out, const float *R in) {
  const int i = (int)blockIdx.x * 64 + (int)threadIdx.x;
  if (i >= 196) return;
  float m = -3.4e38f;
  for (int y = 0; y < 3; y++)
    for (int x = 0; x < 3; x++) {
      const int yy = i / 7 % 7 * 2 + y - 1, xx = i % 7 * 2 + x - 1;
      m = fmaxf(m, 0 <= yy && yy < 14 && 0 <= xx && xx < 14 ? in[i / 49 * 196 + yy * 14 + xx] : -3.4e38f);
    }
  out[i] = m;
}
K fusedDense(float *R out, const float *R in, const float *R w, const float *R bias) {
  __shared__ float red[64];
  float s = 0;
  for (int k = 0; k < 4; k++) s += in[k * 64 + (int)threadIdx.x] * w[(int)blockIdx.x * 256 + k * 64 + (int)threadIdx.x];
  red[threadIdx.x] = s;
  __syncthreads();
  if ((int)threadIdx.x < 32) red[threadIdx.x] += red[threadIdx.x + 32];
  __syncthreads();
  if ((int)threadIdx.x < 32) {
    s = red[threadIdx.x];
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
    if (threadIdx.x == 0) out[blockIdx.x] = fmaxf(s + bias[blockIdx.x], 0.0f);
  }
}
K fusedSoftmaxReduce(float *R most, const float *R in) {
  const int row = (int)blockIdx.x * 32 + (int)threadIdx.x;
  if (row < 50) {
    most[row] = -3.4e38f;
    for (int k = 0; k < 10; k++) most[row] = fmaxf(most[row], in[row * 10 + k]);
  }
}
K fusedSplit2(float *R out, const float *R in) {
  const int i = (int)blockIdx.x * 64 + (int)threadIdx.x;
  out[i] = in[i / 24 * 48 + 24 + i % 24];
}
K fusedLayoutNchw4c(float *R out, const float *R in) {
  const int b = (int)blockIdx.x, t = (int)threadIdx.x;
  if (b * 64 + t < 8 * 49) {
    const int i = b * 64 + t;
    out[i] = in[(i / 196 * 4 + i % 4) * 49 + i % 196 / 4];
  }
}
K fusedDepthwiseStride2(float *R out, const float *R in, const float *R w) {
  const int i = (int)blockIdx.x * 32 + (int)threadIdx.x;
  if (i < 75) {
    float s = 0;
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++)
        if (1 <= i % 25 / 5 * 2 + y && i % 25 / 5 * 2 + y < 10 && 1 <= i % 5 * 2 + x && i % 5 * 2 + x < 10)
          s += in[i / 25 * 81 + i % 25 / 5 * 18 + y * 9 + i % 5 * 2 + x - 10] * w[i / 25 * 9 + y * 3 + x];
    out[i] = s;
  }
}
K fusedLayerNormStatic(float *R out, const float *R in, const float *R g) {
  __shared__ float red[32];
  float s = 0;
  for (int k = 0; k < 3; k++)
    if (k * 32 + (int)threadIdx.x < 80) s += in[(int)blockIdx.x * 80 + k * 32 + (int)threadIdx.x];
  red[threadIdx.x] = s;
  __syncthreads();
  for (int o = 16; o > 0; o >>= 1) {
    if ((int)threadIdx.x < o) red[threadIdx.x] += red[threadIdx.x + o];
    __syncthreads();
  }
  for (int k = 0; k < 3; k++)
    if (k * 32 + (int)threadIdx.x < 80) {
      const int c = k * 32 + (int)threadIdx.x;
      out[(int)blockIdx.x * 80 + c] = (in[(int)blockIdx.x * 80 + c] - red[0] / 80.0f) * g[c];
    }
}
K fusedResize(float *R out, const float *R in) {
  const int i = (int)blockIdx.x * 128 + (int)threadIdx.x;
  if (i < 3 * 225) out[i] = in[i / 225 * 64 + i % 225 / 15 * 8 / 15 * 8 + i % 15 * 8 / 15];
}
K fusedWinogradInput(float *R out, const float *R in) {
  // 4x4 tiles of stride 2 out of 10x10
  const int tile = (int)blockIdx.x, t = (int)threadIdx.x, ty = tile / 4, tx = tile % 4;
  out[(t / 4 * 4 + t % 4) * 16 + tile] = in[(ty * 2 + t / 4) * 10 + tx * 2 + t % 4];
}
K fusedAddMulBroadcast(float4 *R out, const float4 *R a, const float *R b) {
  const int i = (int)blockIdx.x * 64 + (int)threadIdx.x;
  if (i >= 150) return;
  const float s = b[i / 50];
  float4 v = a[i];
  v.x = fmaxf(v.x + s, 0), v.y = fmaxf(v.y + s, 0), v.z = fmaxf(v.z + s, 0), v.w = fmaxf(v.w + s, 0);
  out[i] = v;
}
K fusedBatchMatmul(float *R out, const float *R a, const float *R b) {
  // 3 x (16x24 * 24x16)
  __shared__ float as[16][8], bs[8][16];
  float acc = 0;
  const int z = (int)blockIdx.z, ty = (int)threadIdx.y, tx = (int)threadIdx.x;
  for (int k = 0; k < 3; k++) {
    __syncthreads();
    if (tx < 8) as[ty][tx] = a[z * 384 + ty * 24 + k * 8 + tx];
    if (ty < 8) bs[ty][tx] = b[z * 384 + (k * 8 + ty) * 16 + tx];
    __syncthreads();
    for (int i = 0; i < 8; i++) acc += as[ty][i] * bs[i][tx];
  }
  out[z * 256 + ty * 16 + tx] = acc;
}
K fusedGatherRows(float *R out, const float *R table, const int *R ids) {
  const int i = (int)blockIdx.x * 64 + (int)threadIdx.x;
  if (i < 320) out[i] = table[min(max(0, ids[i / 20]), 9) * 20 + i % 20];
}
