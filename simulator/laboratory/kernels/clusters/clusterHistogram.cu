// Bins of a histogram spread over the shared memory of a cluster, as in the programming guide.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void clusterHistogram(int *bins, const int nbins, const int binsPerBlock, const int *input, const int n) {
  extern __shared__ int smem[];
  const int tid = cg::this_grid().thread_rank();
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < binsPerBlock; i += blockDim.x) smem[i] = 0;
  // Every block's bins are zero, and every block is there, before others add to them.
  cluster.sync();
  for (int i = tid; i < n; i += blockDim.x * gridDim.x) {
    int bin = input[i];
    if (bin < 0) bin = 0;
    else if (bin >= nbins) bin = nbins - 1;
    int *dst = cluster.map_shared_rank(smem, bin / binsPerBlock);
    atomicAdd(dst + bin % binsPerBlock, 1);
  }
  // Others may add until all have come here.
  cluster.sync();
  int *own = bins + cluster.block_rank() * binsPerBlock;
  for (int i = threadIdx.x; i < binsPerBlock; i += blockDim.x) atomicAdd(&own[i], smem[i]);
}
