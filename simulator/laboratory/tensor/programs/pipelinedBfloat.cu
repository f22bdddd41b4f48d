// Three stages of cp.async, rows swizzled by 16 bytes so that ldmatrix meets no bank twice.
#include "fragments.cuh"

constexpr int stages = 3, depth = 32;

static __device__ __forceinline__ int swizzled(int row, int part) { return row * depth + ((part ^ (row / 2 % 4)) * 8); }

static __device__ __forceinline__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from) : "memory");
}

extern "C" __global__ void pipelinedBfloat(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  extern __shared__ __align__(128) __nv_bfloat16 tiles[];
  __nv_bfloat16* left = tiles;
  __nv_bfloat16* right = tiles + stages * 64 * depth;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  int steps = k / depth;
  auto fetch = [&](int step) {
    if (step < steps) {
      int stage = step % stages;
      for (int i = threadIdx.x; i < 64 * 4; i += 128) {
        copy16(left + stage * 64 * depth + swizzled(i / 4, i % 4), a + (row + i / 4) * k + step * depth + i % 4 * 8);
        copy16(right + stage * 64 * depth + swizzled(i / 4, i % 4), b + (column + i / 4) * k + step * depth + i % 4 * 8);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int step = 0; step < stages - 1; step++) fetch(step);
  float sum[8][4] = {};
  for (int step = 0; step < steps; step++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
    __syncthreads();
    fetch(step + stages - 1);
    const __nv_bfloat16* x = left + step % stages * 64 * depth;
    const __nv_bfloat16* y = right + step % stages * 64 * depth;
#pragma unroll
    for (int inner = 0; inner < depth / 16; inner++) {
      unsigned p[4];
      loadMatrix4(p, x + swizzled(warp * 16 + lane % 16, inner * 2 + lane / 16));
#pragma unroll
      for (int tile = 0; tile < 8; tile++) {
        unsigned r[2];
        loadMatrix2(r, y + swizzled(tile * 8 + lane % 8, inner * 2 + lane / 8 % 2));
        multiplyBfloat(sum[tile], p, r);
      }
    }
  }
  for (int tile = 0; tile < 8; tile++) {
    float* at = c + (row + warp * 16 + lane / 4) * n + column + tile * 8 + lane % 4 * 2;
    *(float2*)at = make_float2(sum[tile][0], sum[tile][1]);
    *(float2*)(at + 8 * n) = make_float2(sum[tile][2], sum[tile][3]);
  }
}
