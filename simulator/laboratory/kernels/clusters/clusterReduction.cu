// Sums of rows, one cluster a row: warps by shuffles, blocks in shared memory, the cluster in that of its first block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) clusterReduction(float *sums, int *ranks, const float *rows, const int columns) {
  __shared__ float partial[32];
  __shared__ float blocks[8];
  cg::cluster_group cluster = cg::this_cluster();
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const int row = blockIdx.x / cluster.num_blocks();
  const int place = cluster.thread_rank();
  float sum = 0;
  for (int i = place; i < columns; i += cluster.num_threads()) sum += rows[row * columns + i];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = sum;
  block.sync();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < (int)warp.meta_group_size(); i++) total += partial[i];
    *cluster.map_shared_rank(&blocks[cluster.block_rank()], 0) = total;
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < (int)cluster.num_blocks(); i++) total += blocks[i];
    sums[row] = total;
  }
  if (threadIdx.x == 0) ranks[blockIdx.x] = cluster.query_shared_rank(cluster.map_shared_rank(blocks, 3)) * 10 + cluster.block_rank();
}
