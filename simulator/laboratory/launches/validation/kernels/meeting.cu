// Where threads meet: all blocks of a grid, by cooperative groups and by counters of their own; blocks one after the other;
// lanes of a warp.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_sync(float* x, int rounds) {
  cg::grid_group grid = cg::this_grid();
  for (int r = 0; r < rounds; r++) grid.sync();
  if (threadIdx.x == 0) x[blockIdx.x] = rounds;
}
extern "C" __global__ void grid_heat(float* a, float* b, int n, int rounds) {
  cg::grid_group grid = cg::this_grid();
  for (int r = 0; r < rounds; r++) {
    const float* in = r & 1 ? b : a;
    float* out = r & 1 ? a : b;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
      float left = i > 0 ? in[i - 1] : 0.f, right = i < n - 1 ? in[i + 1] : 0.f;
      out[i] = 0.5f * in[i] + 0.25f * (left + right);
    }
    grid.sync();
  }
}
// One counter that only goes up.
extern "C" __global__ void grid_count(unsigned* count, float* x, int rounds) {
  for (int r = 1; r <= rounds; r++) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(count, 1u);
      while (*(volatile unsigned*)count < r * gridDim.x) {}
      __threadfence();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) x[blockIdx.x] = rounds;
  // The next launch starts from zero again.
  if (threadIdx.x == 0 && atomicAdd(count + 32, 1u) == gridDim.x - 1) { count[32] = 0; count[0] = 0; }
}
// A counter that returns to zero, and a generation that waiters watch.
extern "C" __global__ void grid_sense(unsigned* count, unsigned* generation, float* x, int rounds) {
  for (int r = 0; r < rounds; r++) {
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned mine = *(volatile unsigned*)generation;
      __threadfence();
      if (atomicAdd(count, 1u) == gridDim.x - 1) {
        *count = 0;
        __threadfence();
        atomicAdd(generation, 1u);
      } else {
        while (*(volatile unsigned*)generation == mine) {}
      }
      __threadfence();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) x[blockIdx.x] = rounds;
}
// Each block waits for the one before it, and leaves all flags as they were.
extern "C" __global__ void block_chain(volatile unsigned* flags) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {}
    flags[blockIdx.x - 1] = 0;
  }
  __threadfence();
  if (blockIdx.x < gridDim.x - 1) flags[blockIdx.x] = 1;
}
extern "C" __global__ void warp_exchange(float* x, int rounds) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  float v = x[blockIdx.x * blockDim.x + t];
  for (int r = 0; r < rounds; r++) {
    s[t] = v;
    __syncwarp();
    v += s[t ^ 1];
    __syncwarp();
  }
  x[blockIdx.x * blockDim.x + t] = v;
}
extern "C" __global__ void warp_reduce(const float* x, float* out, int rounds) {
  __shared__ float s[1024];
  int t = threadIdx.x, l = t & 31;
  float sum = 0;
  for (int r = 0; r < rounds; r++) {
    s[t] = x[(blockIdx.x * rounds + r) * blockDim.x + t];
    __syncwarp();
    for (int d = 16; d > 0; d >>= 1) {
      if (l < d) s[t] += s[t + d];
      __syncwarp();
    }
    sum += s[t & ~31];
    __syncwarp();
  }
  if (l == 0) out[(blockIdx.x * blockDim.x + t) / 32] = sum;
}
// Only half of the lanes meet.
extern "C" __global__ void half_warp(float* x, int rounds) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  float v = x[blockIdx.x * blockDim.x + t];
  if ((t & 31) < 16) {
    for (int r = 0; r < rounds; r++) {
      s[t] = v;
      __syncwarp(0xffff);
      v += s[t ^ 3];
      __syncwarp(0xffff);
    }
  }
  x[blockIdx.x * blockDim.x + t] = v;
}
