// Products of different sizes in one launch: a few blocks walk the tiles of all problems, which structures in memory describe.
#include "fragments.cuh"

constexpr int rows = 32, columns = 32, depth = 32;

struct Problem {
  const __half* a;
  const __half* b;
  float* c;
  int m, n, k;
};

/** Extents are triples m, n, k; matrices lie one after another. */
extern "C" __global__ void groupedDescribe(Problem* problems, const __half* a, const __half* b, float* c, const int* extents, int count) {
  int at = threadIdx.x;
  if (at >= count) return;
  for (int before = 0; before < at; before++) {
    int m = extents[before * 3], n = extents[before * 3 + 1], k = extents[before * 3 + 2];
    a += m * k;
    b += n * k;
    c += m * n;
  }
  problems[at] = {a, b, c, extents[at * 3], extents[at * 3 + 1], extents[at * 3 + 2]};
}

extern "C" __global__ void groupedGemm(const Problem* problems, int count) {
  __shared__ __align__(16) __half left[rows][depth + 8], right[columns][depth + 8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int tile = blockIdx.x, begun = 0;
  for (int at = 0; at < count; at++) {
    Problem problem = problems[at];
    int across = (problem.n + columns - 1) / columns, tiles = (problem.m + rows - 1) / rows * across;
    for (; tile < begun + tiles; tile += gridDim.x) {
      int row = (tile - begun) / across * rows, column = (tile - begun) % across * columns;
      float sum[columns / 8][4] = {};
      for (int from = 0; from < problem.k; from += depth) {
        for (int i = threadIdx.x; i < rows * depth / 8; i += 64) {
          int inner = from + i % 4 * 8;
          bool isLeft = row + i / 4 < problem.m && inner < problem.k, isRight = column + i / 4 < problem.n && inner < problem.k;
          copy16OrNought(&left[i / 4][i % 4 * 8], isLeft ? problem.a + (row + i / 4) * problem.k + inner : problem.a, isLeft);
          copy16OrNought(&right[i / 4][i % 4 * 8], isRight ? problem.b + (column + i / 4) * problem.k + inner : problem.b, isRight);
        }
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
      for (int part = 0; part < columns / 8; part++)
        for (int i = 0; i < 4; i++) {
          int y = row + warp * 16 + g + i / 2 * 8, x = column + part * 8 + t * 2 + i % 2;
          if (y < problem.m && x < problem.n) problem.c[y * problem.n + x] = sum[part][i];
        }
    }
    begun += tiles;
  }
}
