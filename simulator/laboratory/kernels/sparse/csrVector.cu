// Eight lanes a row by cooperative groups of a warp: strided products, folded by shuffles within the eight.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <int Lanes>
__device__ float rowProduct(cg::thread_block_tile<Lanes> tile, const int* starts, const int* columns, const float* values,
                            const float* x, int row) {
  float sum = 0.0f;
  for (int e = starts[row] + tile.thread_rank(); e < starts[row + 1]; e += Lanes) sum = fmaf(values[e], x[columns[e]], sum);
  for (int offset = Lanes / 2; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
  return sum;
}

extern "C" __global__ void csrVector(const int* starts, const int* columns, const float* values, const float* x, float* y,
                                     int rows) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return;
  float sum = rowProduct<8>(tile, starts, columns, values, x, row);
  if (tile.thread_rank() == 0) y[row] = sum;
}
