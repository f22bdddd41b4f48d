// Whose turn it is: when each warp of one multiprocessor that is full ends, all with the same work.
//   nvcc -O3 -arch=sm_90 -cudart static scheduling.cu -o scheduling && ./scheduling > h200-warps.csv
#include <algorithm>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
struct Stamp { unsigned sm, scheduler; long long from, to; };
template <int CHAINS> __device__ float work(int rounds) {
  float a[CHAINS];
#pragma unroll
  for (int k = 0; k < CHAINS; k++) a[k] = threadIdx.x + k;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int j = 0; j < 32 / CHAINS; j++)
#pragma unroll
      for (int k = 0; k < CHAINS; k++) a[k] = a[k] * 0.999f + 1.f;
  }
  float s = 0;
#pragma unroll
  for (int k = 0; k < CHAINS; k++) s += a[k];
  return s;
}
// Kind 0: one chain a thread; 1: eight; 2 and 3: every other block of a multiprocessor one, the others eight.
__global__ void turns(int kind, int rounds, Stamp* stamps, float* out) {
  unsigned sm, warp;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  long long from = clock64();
  float a = kind == 0 || (kind >= 2 && blockIdx.x / 132 % 2 == kind - 2) ? work<1>(rounds) : work<8>(rounds);
  long long to = clock64();
  if (threadIdx.x % 32 == 0) stamps[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {sm, warp, from, to};
  if (a == 12345.f) *out = a;
}
int main() {
  Stamp* stamps; float* out;
  cudaMalloc(&stamps, 132 * 64 * sizeof(Stamp)); cudaMalloc(&out, 4);
  printf("kind,threads,block,warp,hardware_warp,start_cycles,end_cycles\n");
  const char* names[] = {"one chain", "eight chains", "by turns one chain and eight", "by turns eight chains and one"};
  for (int kind = 0; kind < 4; kind++)
    for (int threads : {1024, 256}) {
      int blocks = 132 * 2048 / threads, warps = threads / 32;
      std::vector<Stamp> h(blocks * warps);
      for (int k = 0; k < 3; k++) turns<<<blocks, threads>>>(kind, 400, stamps, out);
      if (cudaMemcpy(h.data(), stamps, h.size() * sizeof(Stamp), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
      long long first = 0x7fffffffffffffffll;
      for (auto& s : h) if (s.sm == 0) first = std::min(first, s.from);
      for (size_t k = 0; k < h.size(); k++)
        if (h[k].sm == 0) printf("%s,%d,%zu,%zu,%u,%lld,%lld\n", names[kind], threads, k / warps, k % warps, h[k].scheduler, h[k].from - first, h[k].to - first);
    }
}
