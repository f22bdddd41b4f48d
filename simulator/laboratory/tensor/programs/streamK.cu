// Stream-K: blocks take equal shares of all steps of all tiles; what begins within a tile is added in a second pass, in order.
#include "fragments.cuh"

constexpr int rows = 64, columns = 32, depth = 32;

static __device__ int firstStep(int total, int block, int blocks) { return total * block / blocks; }

extern "C" __global__ void streamKShares(const __half* a, const __half* b, float* c, float* parts, int m, int n, int k) {
  __shared__ __align__(16) __half left[rows][depth + 8], right[columns][depth + 8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int perTile = k / depth, across = n / columns, total = m / rows * across * perTile;
  int step = firstStep(total, blockIdx.x, gridDim.x), end = firstStep(total, blockIdx.x + 1, gridDim.x);
  while (step < end) {
    int tile = step / perTile, from = step % perTile, to = min(perTile, from + end - step);
    int row = tile / across * rows, column = tile % across * columns;
    float sum[columns / 8][4] = {};
    for (int at = from * depth; at < to * depth; at += depth) {
      for (int i = threadIdx.x; i < rows * depth / 8; i += 128)
        copy16OrNought(&left[i / 4][i % 4 * 8], &a[(row + i / 4) * k + at + i % 4 * 8], true);
      copy16OrNought(&right[threadIdx.x / 4][threadIdx.x % 4 * 8], &b[(column + threadIdx.x / 4) * k + at + threadIdx.x % 4 * 8], true);
      commitCopies();
      awaitCopies<0>();
      __syncthreads();
#pragma unroll
      for (int inner = 0; inner < depth; inner += 16) {
        unsigned x[4];
        loadMatrix4(x, &left[warp * 16 + lane % 16][inner + lane / 16 * 8]);
#pragma unroll
        for (int part = 0; part < columns / 8; part++) {
          unsigned y[2];
          loadMatrix2(y, &right[part * 8 + lane % 8][inner + lane / 8 % 2 * 8]);
          multiplyHalf(sum[part], x, y);
        }
      }
      __syncthreads();
    }
    // A block continues at most one tile that another began: its first.
    float* out = from == 0 ? c + row * n + column : parts + blockIdx.x * rows * columns;
    int pitch = from == 0 ? n : columns;
    for (int part = 0; part < columns / 8; part++)
      for (int half = 0; half < 2; half++)
        *(float2*)&out[(warp * 16 + g + half * 8) * pitch + part * 8 + t * 2] =
            make_float2(sum[part][half * 2], sum[part][half * 2 + 1]);
    step += to - from;
  }
}

extern "C" __global__ void streamKFix(const float* parts, float* c, int n, int perTile, int blocks) {
  int across = n / columns, total = gridDim.x * perTile;
  int row = blockIdx.x / across * rows, column = blockIdx.x % across * columns;
  for (int i = threadIdx.x; i < rows * columns; i += blockDim.x) {
    float* at = c + (row + i / columns) * n + column + i % columns;
    float sum = *at;
    for (int block = 0; block < blocks; block++) {
      int first = firstStep(total, block, blocks);
      bool isEmpty = first == firstStep(total, block + 1, blocks);
      if (first / perTile == blockIdx.x && first % perTile != 0 && !isEmpty) sum += parts[block * rows * columns + i];
    }
    *at = sum;
  }
}
