// A batch of Aᵀ·B: both come to their fragments by ldmatrix.trans, f16 throughout, stmatrix before wide stores.
#include "fragments.cuh"

constexpr int depth = 32;

static __device__ __forceinline__ void multiplyInHalf(unsigned (&d)[2], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
      : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ void storeMatrix4(void* row, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};"
               :: "r"(sharedAddress(row)), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

extern "C" __global__ void batchedTransposed(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  __shared__ __align__(16) __half left[depth][64 + 8], right[depth][32 + 8], result[64][32 + 8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.y * 64, column = blockIdx.x * 32;
  a += (size_t)blockIdx.z * k * m;
  b += (size_t)blockIdx.z * k * n;
  c += (size_t)blockIdx.z * m * n;
  unsigned sum[4][2] = {};
  for (int at = 0; at < k; at += depth) {
    for (int i = threadIdx.x; i < depth * 64 / 8; i += 128)
      copy16OrNought(&left[i / 8][i % 8 * 8], &a[(at + i / 8) * m + row + i % 8 * 8], true);
    copy16OrNought(&right[threadIdx.x / 4][threadIdx.x % 4 * 8], &b[(at + threadIdx.x / 4) * n + column + threadIdx.x % 4 * 8], true);
    commitCopies();
    awaitCopies<0>();
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < depth; inner += 16) {
      unsigned x[4];
      loadMatrix4Transposed(x, &left[inner + lane / 16 * 8 + lane % 8][warp * 16 + lane / 8 % 2 * 8]);
#pragma unroll
      for (int tile = 0; tile < 4; tile += 2) {
        unsigned y[4];
        loadMatrix4Transposed(y, &right[inner + lane % 16][tile * 8 + lane / 16 * 8]);
        multiplyInHalf(sum[tile], x, y[0], y[1]);
        multiplyInHalf(sum[tile + 1], x, y[2], y[3]);
      }
    }
    __syncthreads();
  }
  for (int tile = 0; tile < 4; tile += 2)
    storeMatrix4(&result[warp * 16 + lane % 16][tile * 8 + lane / 16 * 8], sum[tile][0], sum[tile][1], sum[tile + 1][0], sum[tile + 1][1]);
  __syncthreads();
  for (int i = threadIdx.x; i < 64 * 32 / 8; i += 128)
    *(uint4*)&c[(row + i / 4) * n + column + i % 4 * 8] = *(const uint4*)&result[i / 4][i % 4 * 8];
}
