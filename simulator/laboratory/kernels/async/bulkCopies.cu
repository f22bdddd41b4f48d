// Bulk copies as cuda::memcpy_async and cuda::ptx write them, into shared memory and out of it, sums that the copy engine makes
// in global memory, and single words that tell an mbarrier.
#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;

extern "C" __global__ void scaleRows(const float *in, float *out, int rounds) {
  __shared__ alignas(128) float buffer[1024];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  for (int round = 0; round < rounds; round++) {
    barrier::arrival_token token;
    const int row = (blockIdx.x * rounds + round) * 1024;
    if (threadIdx.x == 0) {
      cuda::device::memcpy_async_tx(buffer, in + row, cuda::aligned_size_t<16>(sizeof(buffer)), bar);
      token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(buffer));
    } else
      token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) buffer[i] = buffer[i] * 2 + 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + row, buffer, sizeof(buffer));
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    __syncthreads();
  }
}

extern "C" __global__ void stagedSum(const int *in, int *out, int tiles) {
  constexpr int stages = 4, words = 256;
  __shared__ alignas(128) int buffer[stages][words];
  __shared__ alignas(8) uint64_t full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; i++) {
      ptx::mbarrier_init(full + i, 1);
      ptx::mbarrier_init(empty + i, blockDim.x - 32);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0)
      for (int tile = 0; tile < tiles; tile++) {
        const int stage = tile % stages, phase = tile / stages & 1;
        while (!ptx::mbarrier_try_wait_parity(empty + stage, phase ^ 1)) {}
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full + stage, words * 4);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buffer[stage],
                           in + (blockIdx.x * tiles + tile) * words, words * 4, full + stage);
      }
    return;
  }
  const int me = threadIdx.x - 32, team = blockDim.x - 32;
  unsigned sum = 0;
  for (int tile = 0; tile < tiles; tile++) {
    const int stage = tile % stages, phase = tile / stages & 1;
    while (!ptx::mbarrier_try_wait_parity(full + stage, phase)) {}
    for (int i = me; i < words; i += team) sum = sum * 31 + buffer[stage][i];
    ptx::mbarrier_arrive(empty + stage);
  }
  out[blockIdx.x * team + me] = sum;
}

extern "C" __global__ void addBlocks(const int *in, int *sums, int *most) {
  __shared__ alignas(128) int buffer[256];
  buffer[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sums, buffer, sizeof(buffer));
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, most, buffer, sizeof(buffer));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

extern "C" __global__ void toldWords(const int *in, int *out) {
  __shared__ alignas(16) int words[64];
  __shared__ alignas(8) uint64_t bar;
  __shared__ unsigned total;
  if (threadIdx.x == 0) {
    total = 0;
    ptx::mbarrier_init(&bar, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 64 * 4 + 64 * 4);
  }
  __syncthreads();
  ptx::st_async(words + threadIdx.x, in[threadIdx.x] + 1, &bar);
  ptx::red_async(ptx::op_add, &total, static_cast<unsigned>(in[threadIdx.x]), &bar);
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
  out[threadIdx.x] = words[63 - threadIdx.x] * 2 + total;
}
