// Steps of a two-dimensional heat equation on tiles in shared memory; borders are read from neighbours in the cluster of 2 x 2 blocks.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define TILE 16

extern "C" __global__ void __cluster_dims__(2, 2, 1) clusterStencil(float *out, const float *in, const int steps, const float rate) {
  __shared__ float tiles[2][TILE][TILE];
  cg::cluster_group cluster = cg::this_cluster();
  const dim3 at = cluster.block_index();
  const int x = threadIdx.x, y = threadIdx.y;
  const int width = gridDim.x * TILE;
  const int gx = blockIdx.x * TILE + x, gy = blockIdx.y * TILE + y;
  tiles[0][y][x] = in[gy * width + gx];
  cluster.sync();
  for (int step = 0; step < steps; step++) {
    float(*from)[TILE] = tiles[step & 1];
    float(*to)[TILE] = tiles[(step & 1) ^ 1];
    auto read = [&](int dx, int dy) -> float {
      int bx = at.x, by = at.y, cx = x + dx, cy = y + dy;
      if (cx < 0) { bx--; cx += TILE; }
      if (cx >= TILE) { bx++; cx -= TILE; }
      if (cy < 0) { by--; cy += TILE; }
      if (cy >= TILE) { by++; cy -= TILE; }
      // The rim of a cluster's square is held at nothing.
      if (bx < 0 || bx > 1 || by < 0 || by > 1) return 0.0f;
      return *cluster.map_shared_rank(&from[cy][cx], by * 2 + bx);
    };
    const float here = from[y][x];
    const float around = (read(-1, 0) + read(1, 0)) + (read(0, -1) + read(0, 1));
    to[y][x] = __fmaf_rn(rate, __fmaf_rn(-4.0f, here, around), here);
    cluster.sync();
  }
  out[gy * width + gx] = tiles[steps & 1][y][x];
}
