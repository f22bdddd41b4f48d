// Inline PTX as libraries write it: split barriers, 32-bit addresses, atomics and vectors in the shared memory of the next block.
#include <cstdint>

__device__ __forceinline__ uint32_t rankOf() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ uint32_t sizeOf() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ uint32_t mapRank(uint32_t a, uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank));
  return r;
}
__device__ __forceinline__ void arriveRelaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ __forceinline__ void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

extern "C" __global__ void clusterPipeline(uint32_t *out, const uint32_t *in, const int rounds) {
  __shared__ alignas(16) uint32_t inbox[2][64];
  __shared__ uint32_t count;
  const uint32_t rank = rankOf(), size = sizeOf(), next = (rank + 1) % size;
  if (threadIdx.x == 0) count = 0;
  uint32_t value = in[blockIdx.x * blockDim.x + threadIdx.x];
  arriveRelaxed();
  wait();
  __syncthreads();
  arrive();
  wait();
  const uint32_t box = (uint32_t)__cvta_generic_to_shared(&inbox[0][0]);
  const uint32_t counter = (uint32_t)__cvta_generic_to_shared(&count);
  for (int round = 0; round < rounds; round++) {
    const uint32_t target = mapRank(box + (round & 1) * 256 + threadIdx.x * 4, next);
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(target), "r"(value * 3 + rank) : "memory");
    if (threadIdx.x % 7 == 0)
      asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(mapRank(counter, next)), "r"(value & 15) : "memory");
    arrive();
    // What is done while others arrive.
    value ^= value >> 7;
    wait();
    value += inbox[round & 1][(threadIdx.x + 5) % 64];
  }
  arrive();
  wait();
  uint32_t seen, owner;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(mapRank(counter, next)));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(mapRank(counter, next)));
  out[blockIdx.x * blockDim.x + threadIdx.x] = value * 31 + seen + owner * 7;
  // Nobody leaves while others may still look at its memory.
  arrive();
  wait();
}
