// 32 by 32 outputs a block of 64 threads, 4 by 4 in the registers of each; loads and stores of float4.
__global__ void __launch_bounds__(64) registerGemm(const float4* __restrict__ a, const float4* __restrict__ b,
                                                              float4* __restrict__ c, int n, int k) {
  __shared__ float4 tileA[8][8], tileB[8][8];
  int t = threadIdx.x, tx = t & 7, ty = t >> 3, top = blockIdx.y * 8, left = blockIdx.x * 8;
  float sums[4][4] = {};
  for (int first = 0; first < k; first += 8) {
    // `a` is stored by columns, so that both tiles are rows of the inner index.
    tileA[ty][tx] = a[(first + ty) * (n / 4) + top + tx];
    tileB[ty][tx] = b[(first + ty) * (n / 4) + left + tx];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++) {
      float4 p = tileA[i][ty], q = tileB[i][tx];
      float pa[4] = {p.x, p.y, p.z, p.w}, qa[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
      for (int y = 0; y < 4; y++)
#pragma unroll
        for (int x = 0; x < 4; x++) sums[y][x] = fmaf(pa[y], qa[x], sums[y][x]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < 4; y++)
    c[((top + ty) * 4 + y) * (n / 4) + left + tx] = make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
}
