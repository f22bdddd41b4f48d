// Bytes by bytes to bytes: two buffers of cp.async, a scale a channel, rounding to even and clamping at the end.
#include "fragments.cuh"

constexpr int depth = 64;

static __device__ __forceinline__ void multiplyBytes(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void gemmBytesPipelined(const signed char* a, const signed char* b, const int* bias, const float* scales,
                                              signed char* c, int n, int k) {
  __shared__ __align__(16) signed char left[2][64][depth + 16], right[2][32][depth + 16];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int row = blockIdx.y * 64, column = blockIdx.x * 32, steps = k / depth;
  auto fetch = [&](int step) {
    if (step < steps) {
      for (int i = threadIdx.x; i < 64 * depth / 16; i += 128)
        copy16OrNought(&left[step % 2][i / 4][i % 4 * 16], &a[(row + i / 4) * k + step * depth + i % 4 * 16], true);
      int i = threadIdx.x;
      copy16OrNought(&right[step % 2][i / 4][i % 4 * 16], &b[(column + i / 4) * k + step * depth + i % 4 * 16], true);
    }
    commitCopies();
  };
  int sum[4][4];
  for (int tile = 0; tile < 4; tile++)
    for (int i = 0; i < 4; i++) sum[tile][i] = bias[column + tile * 8 + t * 2 + i % 2];
  fetch(0);
  for (int step = 0; step < steps; step++) {
    fetch(step + 1);
    awaitCopies<1>();
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < depth; inner += 32) {
      unsigned x[4];
      loadMatrix4(x, &left[step % 2][warp * 16 + lane % 16][inner + lane / 16 * 16]);
#pragma unroll
      for (int tile = 0; tile < 4; tile++) {
        unsigned y[2];
        loadMatrix2(y, &right[step % 2][tile * 8 + lane % 8][inner + lane / 8 % 2 * 16]);
        multiplyBytes(sum[tile], x, y);
      }
    }
    __syncthreads();
  }
  for (int tile = 0; tile < 4; tile++) {
    float2 scale = *(const float2*)&scales[column + tile * 8 + t * 2];
    for (int half = 0; half < 2; half++) {
      int low = __float2int_rn((float)sum[tile][half * 2] * scale.x), high = __float2int_rn((float)sum[tile][half * 2 + 1] * scale.y);
      unsigned pair;
      asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(pair) : "r"(high), "r"(low));
      *(unsigned short*)&c[(row + warp * 16 + g + half * 8) * n + column + tile * 8 + t * 2] = (unsigned short)pair;
    }
  }
}
