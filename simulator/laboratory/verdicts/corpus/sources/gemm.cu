// Matrix products. Row-major, C is m x n, A is m x k, B is k x n.
#include "corpus.cuh"

KERNEL gemmNaive(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx m, idx n, idx k) {
  idx col = (idx)blockIdx.x * blockDim.x + threadIdx.x, row = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  LOOP for (idx i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

KERNEL gemmTiled(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx m, idx n, idx k) {
  __shared__ float as[8][8], bs[8][8];
  idx col = (idx)blockIdx.x * 8 + threadIdx.x, row = (idx)blockIdx.y * 8 + threadIdx.y;
  float sum = 0.0f;
  LOOP for (idx t = 0; t < k; t += 8) {
    as[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < k && col < n ? b[(t + threadIdx.y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 8; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

// No edges: every extent is a multiple of 8.
KERNEL gemmWhole(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx n, idx k) {
  __shared__ float as[8][8], bs[8][8];
  idx col = (idx)blockIdx.x * 8 + threadIdx.x, row = (idx)blockIdx.y * 8 + threadIdx.y;
  float sum = 0.0f;
  LOOP for (idx t = 0; t < k / 8; t++) {
    as[threadIdx.y][threadIdx.x] = a[row * k + t * 8 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t * 8 + threadIdx.y) * n + col];
    __syncthreads();
    for (int i = 0; i < 8; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// The next tile is fetched while this one is used.
KERNEL gemmDoubleBuffered(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx m, idx n, idx k) {
  __shared__ float as[2][8][8], bs[2][8][8];
  idx col = (idx)blockIdx.x * 8 + threadIdx.x, row = (idx)blockIdx.y * 8 + threadIdx.y;
  float sum = 0.0f;
  as[0][threadIdx.y][threadIdx.x] = row < m && threadIdx.x < k ? a[row * k + threadIdx.x] : 0.0f;
  bs[0][threadIdx.y][threadIdx.x] = threadIdx.y < k && col < n ? b[threadIdx.y * n + col] : 0.0f;
  __syncthreads();
  int now = 0;
  LOOP for (idx t = 0; t < k; t += 8) {
    float nextA = 0.0f, nextB = 0.0f;
    if (t + 8 < k) {
      if (row < m && t + 8 + threadIdx.x < k) nextA = a[row * k + t + 8 + threadIdx.x];
      if (col < n && t + 8 + threadIdx.y < k) nextB = b[(t + 8 + threadIdx.y) * n + col];
    }
    for (int i = 0; i < 8; i++) sum += as[now][threadIdx.y][i] * bs[now][i][threadIdx.x];
    as[now ^ 1][threadIdx.y][threadIdx.x] = nextA;
    bs[now ^ 1][threadIdx.y][threadIdx.x] = nextB;
    __syncthreads();
    now ^= 1;
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

// Each thread four columns.
KERNEL gemmRegisters(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx m, idx n, idx k) {
  idx col = ((idx)blockIdx.x * blockDim.x + threadIdx.x) * 4, row = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col + 3 >= n) return;
  float4 sum = make_float4(0, 0, 0, 0);
  LOOP for (idx i = 0; i < k; i++) {
    float x = a[row * k + i];
    float4 y = *(const float4 *)(b + i * n + col);
    sum.x += x * y.x;
    sum.y += x * y.y;
    sum.z += x * y.z;
    sum.w += x * y.w;
  }
  *(float4 *)(c + row * n + col) = sum;
}

KERNEL gemmBiasRelu(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, const float *RESTRICT bias, idx m,
                    idx n, idx k) {
  idx i = GLOBAL_ID;
  if (i >= m * n) return;
  idx row = i / n, col = i - row * n;
  float sum = bias[col];
  LOOP for (idx t = 0; t < k; t++) sum += a[row * k + t] * b[t * n + col];
  c[i] = fmaxf(sum, 0.0f);
}

// Reads C only when beta is not zero.
KERNEL gemmAlphaBeta(float *c, const float *RESTRICT a, const float *RESTRICT b, idx m, idx n, idx k, float alpha,
                     float beta) {
  idx col = (idx)blockIdx.x * blockDim.x + threadIdx.x, row = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  LOOP for (idx i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
  sum *= alpha;
  if (beta != 0.0f) sum += beta * c[row * n + col];
  c[row * n + col] = sum;
}

KERNEL gemmTransposed(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx m, idx n, idx k) {
  idx col = (idx)blockIdx.x * blockDim.x + threadIdx.x, row = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n) {
    float sum = 0.0f;
    LOOP for (idx i = 0; i < k; i++) sum += a[row * k + i] * b[col * k + i];
    c[row * n + col] = sum;
  }
}

KERNEL gemmBatched(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, idx m, idx n, idx k) {
  idx col = threadIdx.x, row = threadIdx.y, batch = blockIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  LOOP for (idx i = 0; i < k; i++) sum += a[(batch * m + row) * k + i] * b[(batch * k + i) * n + col];
  c[(batch * m + row) * n + col] = sum;
}

KERNEL gemmHalf(__half *RESTRICT c, const __half *RESTRICT a, const __half *RESTRICT b, idx m, idx n, idx k) {
  idx col = (idx)blockIdx.x * blockDim.x + threadIdx.x, row = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  LOOP for (idx i = 0; i < k; i++) sum += __half2float(a[row * k + i]) * __half2float(b[i * n + col]);
  c[row * n + col] = __float2half(sum);
}

KERNEL gemmSplitK(float *c, const float *RESTRICT a, const float *RESTRICT b, idx m, idx n, idx k, idx slice) {
  idx col = threadIdx.x, row = threadIdx.y, from = blockIdx.x * slice;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  LOOP for (idx i = from; i < from + slice && i < k; i++) sum += a[row * k + i] * b[i * n + col];
  atomicAdd(c + row * n + col, sum);
}

KERNEL gemv(float *RESTRICT y, const float *RESTRICT a, const float *RESTRICT x, idx m, idx n) {
  idx row = GLOBAL_ID;
  if (row >= m) return;
  float sum = 0.0f;
  LOOP for (idx i = 0; i < n; i++) sum += a[row * n + i] * x[i];
  y[row] = sum;
}

// Rows have lengths of their own, as grouped and sparse products do: how long the loop goes on stands in memory.
KERNEL gemmRagged(float *RESTRICT c, const float *RESTRICT a, const float *RESTRICT b, const int *RESTRICT lengths, idx m,
                  idx n, idx k) {
  idx col = (idx)blockIdx.x * blockDim.x + threadIdx.x, row = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  LOOP for (idx i = 0; i < lengths[row]; i++) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
