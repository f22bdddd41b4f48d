// Copies to shared memory that mbarriers tell of, as CUDA's own classes write them: a barrier with memcpy_async, a pipeline
// of two stages, and one warp that fills a ring for the others.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void shiftTiles(const int4 *in, int4 *out, int n) {
  extern __shared__ int4 tile[];
  __shared__ barrier bar;
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  block.sync();
  for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
    cuda::memcpy_async(block, tile, in + base, cuda::aligned_size_t<16>(sizeof(int4) * blockDim.x), bar);
    bar.arrive_and_wait();
    int4 v = tile[(threadIdx.x + 1) % blockDim.x];
    out[base + threadIdx.x] = make_int4(v.x * 2, v.y * 3, v.z, v.w + 1);
    bar.arrive_and_wait();
  }
}

extern "C" __global__ void twoStages(const int *in, int *out, int rounds) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int buffer[2][128];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  unsigned sum = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(block, buffer[0], in, sizeof(int) * 128, pipe);
  pipe.producer_commit();
  for (int round = 0; round < rounds; round++) {
    if (round + 1 < rounds) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffer[(round + 1) & 1], in + (round + 1) * 128, sizeof(int) * 128, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum = sum * 5 + buffer[round & 1][127 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void ring(const int *in, int *out, int rounds) {
  constexpr int stages = 3;
  __shared__ int places[stages][32];
  __shared__ barrier filled[stages], emptied[stages];
  if (threadIdx.x == 0)
    for (int i = 0; i < stages; i++) {
      init(filled + i, blockDim.x);
      init(emptied + i, blockDim.x);
    }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int round = 0; round < rounds; round++) {
      emptied[round % stages].arrive_and_wait();
      places[round % stages][lane] = in[round * 32 + lane] * 7;
      (void)filled[round % stages].arrive();
    }
  } else {
    for (int i = 0; i < stages; i++) (void)emptied[i].arrive();
    unsigned sum = 0;
    for (int round = 0; round < rounds; round++) {
      filled[round % stages].arrive_and_wait();
      sum = sum * 3 + places[round % stages][(lane + threadIdx.x / 32) % 32];
      (void)emptied[round % stages].arrive();
    }
    out[threadIdx.x - 32] = sum;
  }
}
