// Tiled products in the manner of CUTLASS: asynchronous copies, fragments through ldmatrix, tensor cores, swizzled tiles.
#include "unseen.cuh"
#include <mma.h>

__device__ unsigned sharedAddress(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(sharedAddress(to)), "l"(from));
}
__device__ void copy4Zero(void *to, const void *from, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(sharedAddress(to)), "l"(from), "r"(valid ? 4 : 0));
}
__device__ void commit() { asm volatile("cp.async.commit_group;\n" ::); }
template <int N> __device__ void waitGroup() { asm volatile("cp.async.wait_group %0;\n" ::"n"(N)); }

K gemmAsync(float *R c, const float *R a, const float *R b, int m, int n, int k) {
  __shared__ alignas(16) float as[2][16][16], bs[2][16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16, col = blockIdx.x * 16;
  const int t = ty * 16 + tx;
  auto load = [&](int stage, int k0) {
    if (t < 64) copy16(&as[stage][t / 4][t % 4 * 4], a + (row + t / 4) * k + k0 + t % 4 * 4);
    else if (t < 128) copy16(&bs[stage][(t - 64) / 4][(t - 64) % 4 * 4], b + (k0 + (t - 64) / 4) * n + col + (t - 64) % 4 * 4);
    commit();
  };
  float acc = 0;
  load(0, 0);
  int stage = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    if (k0 + 16 < k) {
      load(stage ^ 1, k0 + 16);
      waitGroup<1>();
    } else waitGroup<0>();
    __syncthreads();
    for (int i = 0; i < 16; i++) acc += as[stage][ty][i] * bs[stage][i][tx];
    __syncthreads();
    stage ^= 1;
  }
  c[(row + ty) * n + col + tx] = acc;
}
K stagedCopyZero(float *R out, const float *R in, int n) {
  __shared__ float s[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  copy4Zero(&s[threadIdx.x], in + (i < n ? i : 0), i < n);
  commit();
  waitGroup<0>();
  __syncthreads();
  if (i < n) out[i] = s[threadIdx.x ^ 1];
}
K mmaM16N8K16(float *R c, const __half *R a, const __half *R b, int n, int k) {
  // a warp a tile of 16x8; a is row-major, b column-major
  __shared__ alignas(16) __half as[16 * 16], bs[8 * 16];
  const int lane = threadIdx.x, row = blockIdx.y * 16, col = blockIdx.x * 8;
  float d[4] = {0, 0, 0, 0};
  for (int k0 = 0; k0 < k; k0 += 16) {
    copy16(&as[lane * 8], a + (row + lane / 2) * k + k0 + lane % 2 * 8);
    if (lane < 16) copy16(&bs[lane * 8], b + (col + lane / 2) * k + k0 + lane % 2 * 8);
    commit();
    waitGroup<0>();
    __syncthreads();
    unsigned fa[4], fb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(sharedAddress(&as[lane % 16 * 16 + lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];\n"
                 : "=r"(fb[0]), "=r"(fb[1])
                 : "r"(sharedAddress(&bs[lane % 8 * 16 + lane / 8 % 2 * 8])));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    __syncthreads();
  }
  float *to = c + (row + lane / 4) * n + col + lane % 4 * 2;
  to[0] = d[0], to[1] = d[1];
  to[8 * n] = d[2], to[8 * n + 1] = d[3];
}
K wmmaGemm(float *R c, const __half *R a, const __half *R b, int m, int n, int k) {
  using namespace nvcuda::wmma;
  const int row = blockIdx.y * 16, col = blockIdx.x * 16;
  fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> acc;
  fill_fragment(acc, 0.0f);
  for (int i = 0; i < k; i += 16) {
    load_matrix_sync(fa, a + row * k + i, k);
    load_matrix_sync(fb, b + i * n + col, n);
    mma_sync(acc, fa, fb, acc);
  }
  store_matrix_sync(c + row * n + col, acc, n, mem_row_major);
}
K mmaInt8(int *R c, const int *R a, const int *R b, int n, int kWords) {
  // m16n8k32 of bytes, fragments straight from memory
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4, row = blockIdx.y * 16, col = blockIdx.x * 8;
  int d[4] = {0, 0, 0, 0};
  for (int k = 0; k < kWords; k += 8) {
    const int a0 = a[(row + g) * kWords + k + t], a1 = a[(row + g + 8) * kWords + k + t], a2 = a[(row + g) * kWords + k + t + 4],
              a3 = a[(row + g + 8) * kWords + k + t + 4], b0 = b[(col + g) * kWords + k + t], b1 = b[(col + g) * kWords + k + t + 4];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  c[(row + g) * n + col + 2 * t] = d[0], c[(row + g) * n + col + 2 * t + 1] = d[1];
  c[(row + g + 8) * n + col + 2 * t] = d[2], c[(row + g + 8) * n + col + 2 * t + 1] = d[3];
}
K dp4aGemm(int *R c, const int *R a, const int *R b, int m, int n, int kWords) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= m) return;
  int s = 0;
  for (int k = 0; k < kWords; k++) s = __dp4a(a[y * kWords + k], b[x * kWords + k], s);
  c[y * n + x] = s;
}
// Blocks go over tiles in a swizzled order, four tiles to a bundle.
K gemmSwizzledTiles(float *R c, const float *R a, const float *R b, int m, int n, int k, int logTile) {
  const int tileX = blockIdx.x >> logTile, tileY = (blockIdx.y << logTile) + (blockIdx.x & ((1 << logTile) - 1));
  if (tileX * 8 >= n || tileY * 8 >= m) return;
  const int x = tileX * 8 + threadIdx.x, y = tileY * 8 + threadIdx.y;
  float s = 0;
  if (x < n && y < m) {
    for (int i = 0; i < k; i++) s += a[y * k + i] * b[i * n + x];
    c[y * n + x] = s;
  }
}
struct GemmParams { const float *a, *b, *c; float *d; int m, n, k, lda, ldb, ldc, ldd; float alpha, beta; };
K gemmParams(GemmParams p) {
  __shared__ float as[8][9], bs[8][9];
  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float s = 0;
  for (int k0 = 0; k0 < p.k; k0 += 8) {
    as[threadIdx.y][threadIdx.x] = y < p.m && k0 + (int)threadIdx.x < p.k ? p.a[(long long)y * p.lda + k0 + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = x < p.n && k0 + (int)threadIdx.y < p.k ? p.b[(long long)(k0 + threadIdx.y) * p.ldb + x] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++) s += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (x >= p.n || y >= p.m) return;
  const float source = p.beta != 0 ? p.c[(long long)y * p.ldc + x] : 0;
  p.d[(long long)y * p.ldd + x] = p.alpha * s + p.beta * source;
}
K gemmSplitKWorkspace(float *R work, const float *R a, const float *R b, int m, int n, int k, int slice) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x >= n || y >= m) return;
  float s = 0;
  for (int i = z * slice; i < min((z + 1) * slice, k); i++) s += a[y * k + i] * b[i * n + x];
  work[(z * m + y) * n + x] = s;
}
K splitKReduce(float *R out, const float *R work, const float *R bias, int mn, int n, int slices) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i >= mn) return;
  float4 s = *reinterpret_cast<const float4 *>(work + i);
  for (int z = 1; z < slices; z++) {
    const float4 v = *reinterpret_cast<const float4 *>(work + z * mn + i);
    s.x += v.x, s.y += v.y, s.z += v.z, s.w += v.w;
  }
  const float4 bb = *reinterpret_cast<const float4 *>(bias + i % n);
  *reinterpret_cast<float4 *>(out + i) = make_float4(s.x + bb.x, s.y + bb.y, s.z + bb.z, s.w + bb.w);
}
K gemmBatchedStrided(float *R c, long long sc, const float *R a, long long sa, const float *R b, long long sb, int n) {
  const int x = threadIdx.x, y = threadIdx.y;
  if (x >= n || y >= n) return;
  a += blockIdx.z * sa, b += blockIdx.z * sb, c += blockIdx.z * sc;
  float s = 0;
#pragma unroll 4
  for (int i = 0; i < n; i++) s = fmaf(a[y * n + i], b[i * n + x], s);
  c[y * n + x] = s;
}
