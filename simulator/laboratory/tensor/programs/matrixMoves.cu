// nvcc: -std=c++17
// Transposes 16-bit tiles in three ways: ldmatrix.trans, movmatrix, and stmatrix.trans.
#include "fragments.cuh"

extern "C" __global__ void matrixMoves(const unsigned short* in, unsigned short* out, int n) {
  __shared__ __align__(16) unsigned short tile[32][8], turned[32][8];
  int lane = threadIdx.x;
  int row = blockIdx.y * 8, column = blockIdx.x * 32;
  for (int i = 0; i < 8; i++) tile[i + lane / 8 * 8][lane % 8] = in[(row + i) * n + column + lane];
  __syncwarp();
  unsigned r[4], s[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(sharedAddress(tile[lane])) : "memory");
  loadMatrix4(s, tile[lane]);
  for (int i = 0; i < 4; i++) {
    unsigned moved;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(s[i]));
    if (moved != r[i]) r[i] = ~0u;
  }
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(sharedAddress(turned[lane])), "r"(s[0]),
               "r"(s[1]), "r"(s[2]), "r"(s[3])
               : "memory");
  __syncwarp();
  for (int i = 0; i < 4; i++) {
    unsigned stored = *(const unsigned*)&turned[i * 8 + lane / 4][lane % 4 * 2];
    unsigned* to = (unsigned*)&out[(column + i * 8 + lane / 4) * 8 * gridDim.y + row + lane % 4 * 2];
    *to = stored == r[i] ? stored : 0xdeadbeef;
  }
}
