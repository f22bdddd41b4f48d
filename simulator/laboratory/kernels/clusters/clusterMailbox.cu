// Rows go round a cluster by asynchronous stores and bulk copies that count at the receiver's mbarrier; a remote arrival gives the box back.
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

#define ROW 64

__device__ __forceinline__ uint32_t mapRank(uint32_t a, uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank));
  return r;
}
__device__ __forceinline__ void waitFor(uint32_t bar, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(bar),
      "r"(parity)
      : "memory");
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) clusterMailbox(uint32_t *out, const uint32_t *in, const int rounds) {
  __shared__ alignas(16) uint32_t box[2][ROW];
  __shared__ alignas(16) uint32_t row[ROW];
  __shared__ alignas(8) uint64_t full[2];
  __shared__ alignas(8) uint64_t empty;
  cg::cluster_group cluster = cg::this_cluster();
  const uint32_t rank = cluster.block_rank(), size = cluster.num_blocks();
  const uint32_t next = (rank + 1) % size, before = (rank + size - 1) % size;
  const uint32_t fullBar = (uint32_t)__cvta_generic_to_shared(full), emptyBar = (uint32_t)__cvta_generic_to_shared(&empty);
  const uint32_t boxes = (uint32_t)__cvta_generic_to_shared(box), rows = (uint32_t)__cvta_generic_to_shared(row);
  const int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < 2; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(fullBar + 8 * i) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(emptyBar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  uint32_t value = in[blockIdx.x * ROW + t];
  cluster.sync();
  for (int round = 0; round < rounds; round++) {
    // First half by asynchronous stores, then a whole row by a bulk copy.
    if (t == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(fullBar), "r"(ROW * 4) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(mapRank(boxes + 4 * t, next)),
                 "r"(value + rank), "r"(mapRank(fullBar, next))
                 : "memory");
    waitFor(fullBar, round & 1);
    value = value * 5 + box[0][(t + 3) % ROW];
    row[t] = value;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(fullBar + 8), "r"(ROW * 4) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       mapRank(boxes + ROW * 4, next)),
                   "r"(rows), "r"(ROW * 4), "r"(mapRank(fullBar + 8, next))
                   : "memory");
    }
    waitFor(fullBar + 8, round & 1);
    value ^= box[1][(t + 7) % ROW];
    __syncthreads();
    // Tells the sender that both boxes are free.
    if (t == 0)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapRank(emptyBar, before)) : "memory");
    waitFor(emptyBar, round & 1);
  }
  out[blockIdx.x * ROW + t] = value;
  cluster.sync();
}
