// Convolutions and pictures.
#define AT int i = blockIdx.x * blockDim.x + threadIdx.x
// 3 x 3 convolution: a tile of the input with its border in shared memory, four outputs channels a thread.
extern "C" __global__ void conv3x3_halo(const float* X, const float* W, float* Y, int C, int H, int Wd) {
  __shared__ float tile[18][20], w[4][9];
  int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, x0 = blockIdx.x * 16, y0 = blockIdx.y * 16, k0 = blockIdx.z * 4;
  float a[4] = {0, 0, 0, 0};
  for (int c = 0; c < C; c++) {
    for (int p = t; p < 324; p += 256) {
      int u = x0 + p % 18 - 1, v = y0 + p / 18 - 1;
      tile[p / 18][p % 18] = u >= 0 && v >= 0 && u < Wd && v < H ? X[((size_t)c * H + v) * Wd + u] : 0.f;
    }
    if (t < 36) w[t / 9][t % 9] = W[((size_t)(k0 + t / 9) * C + c) * 9 + t % 9];
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 9; d++) {
      float v = tile[ty + d / 3][tx + d % 3];
#pragma unroll
      for (int k = 0; k < 4; k++) a[k] += v * w[k][d];
    }
    __syncthreads();
  }
  int x = x0 + tx, y = y0 + ty;
  if (x < Wd && y < H)
#pragma unroll
    for (int k = 0; k < 4; k++) Y[((size_t)(k0 + k) * H + y) * Wd + x] = fmaxf(a[k], 0.f);
}
// 1 x 1 convolution as a product in tiles of 16 channels by 64 places.
extern "C" __global__ void pointwise_tile(const float* X, const float* W, float* Y, int C, int area) {
  __shared__ float x[16][64], w[16][17];
  int t = threadIdx.x, tx = t & 63, ty = t >> 6, p = blockIdx.x * 64, k0 = blockIdx.y * 16;
  float a[4] = {0, 0, 0, 0};
  for (int c = 0; c < C; c += 16) {
    for (int r = ty; r < 16; r += 4) x[r][tx] = X[(size_t)(c + r) * area + p + tx];
    w[t >> 4][t & 15] = W[(size_t)(k0 + (t >> 4)) * C + c + (t & 15)];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; j++) {
      float v = x[j][tx];
#pragma unroll
      for (int k = 0; k < 4; k++) a[k] += v * w[ty * 4 + k][j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < 4; k++) Y[(size_t)(k0 + ty * 4 + k) * area + p + tx] = a[k];
}
// Depthwise 5 x 5, eight rows a thread, the rows above kept in registers.
extern "C" __global__ void depthwise_5x5_march(const float* X, const float* W, float* Y, int H, int Wd) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y0 = blockIdx.y * 8, c = blockIdx.z;
  if (x < 2 || x >= Wd - 2) return;
  const float* in = X + (size_t)c * H * Wd;
  float w[25], r[5][5];
#pragma unroll
  for (int k = 0; k < 25; k++) w[k] = W[c * 25 + k];
#pragma unroll
  for (int j = 0; j < 4; j++)
#pragma unroll
    for (int d = 0; d < 5; d++) r[j + 1][d] = y0 + j - 2 >= 0 ? in[(y0 + j - 2) * Wd + x + d - 2] : 0.f;
#pragma unroll
  for (int s = 0; s < 8; s++) {
    int y = y0 + s;
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int d = 0; d < 5; d++) r[j][d] = r[j + 1][d];
    float a = 0;
#pragma unroll
    for (int d = 0; d < 5; d++) r[4][d] = y + 2 < H ? in[(y + 2) * Wd + x + d - 2] : 0.f;
#pragma unroll
    for (int k = 0; k < 25; k++) a += w[k] * r[k / 5][k % 5];
    if (y < H) Y[((size_t)c * H + y) * Wd + x] = a;
  }
}
// Winograd's transformation of 4 x 4 input tiles, F(2 x 2, 3 x 3).
extern "C" __global__ void winograd_input(const float* X, float* V, int C, int H, int Wd) {
  int tiles = (H / 2 - 1) * (Wd / 2 - 1), t = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
  if (t >= tiles) return;
  int y = t / (Wd / 2 - 1) * 2, x = t % (Wd / 2 - 1) * 2;
  float d[4][4], m[4][4];
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) d[i][j] = X[((size_t)c * H + y + i) * Wd + x + j];
#pragma unroll
  for (int j = 0; j < 4; j++) { m[0][j] = d[0][j] - d[2][j]; m[1][j] = d[1][j] + d[2][j]; m[2][j] = d[2][j] - d[1][j]; m[3][j] = d[1][j] - d[3][j]; }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float o[4] = {m[i][0] - m[i][2], m[i][1] + m[i][2], m[i][2] - m[i][1], m[i][1] - m[i][3]};
#pragma unroll
    for (int j = 0; j < 4; j++) V[((size_t)(i * 4 + j) * C + c) * tiles + t] = o[j];
  }
}
// Im2col of a strided convolution, an element a thread, places by division.
extern "C" __global__ void im2col_strided(const float* X, float* out, int H, int W, int oh, int ow, int stride, int total) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
    int x = i % ow, y = i / ow % oh, k = i / (ow * oh), dx = k % 5, dy = k / 5 % 5, c = k / 25;
    int u = x * stride + dx - 2, v = y * stride + dy - 2;
    out[i] = u >= 0 && v >= 0 && u < W && v < H ? X[(c * H + v) * W + u] : 0.f;
  }
}
// 2 x 2 pooling that also says where the largest was.
extern "C" __global__ void maxpool_where(const float2* X, float* Y, unsigned char* where, int ow, int total) {
  AT;
  if (i >= total) return;
  int x = i % ow, y = i / ow;
  float2 a = X[(size_t)(2 * y) * ow + x], b = X[(size_t)(2 * y + 1) * ow + x];
  float m = a.x;
  int w = 0;
  if (a.y > m) { m = a.y; w = 1; }
  if (b.x > m) { m = b.x; w = 2; }
  if (b.y > m) { m = b.y; w = 3; }
  Y[i] = m;
  where[i] = w;
}
extern "C" __global__ void resize_bilinear(const float* in, float* out, int w, int h, int ow, int oh) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= ow || y >= oh) return;
  float fx = (x + 0.5f) * w / ow - 0.5f, fy = (y + 0.5f) * h / oh - 0.5f;
  int x0 = max(0, (int)floorf(fx)), y0 = max(0, (int)floorf(fy)), x1 = min(w - 1, x0 + 1), y1 = min(h - 1, y0 + 1);
  fx -= x0; fy -= y0;
  const float* p = in + (size_t)blockIdx.z * w * h;
  float top = p[y0 * w + x0] * (1 - fx) + p[y0 * w + x1] * fx, low = p[y1 * w + x0] * (1 - fx) + p[y1 * w + x1] * fx;
  out[((size_t)blockIdx.z * oh + y) * ow + x] = top * (1 - fy) + low * fy;
}
__constant__ float taps[17];
// Seventeen taps along rows, a strip with its ends in shared memory.
extern "C" __global__ void blur_rows(const float* in, float* out, int w) {
  __shared__ float s[256 + 16];
  int x = blockIdx.x * 256 + threadIdx.x;
  const float* row = in + (size_t)blockIdx.y * w;
  s[threadIdx.x + 8] = row[x];
  if (threadIdx.x < 8) s[threadIdx.x] = x >= 8 ? row[x - 8] : 0.f;
  else if (threadIdx.x >= 248) s[threadIdx.x + 16] = x + 8 < w ? row[x + 8] : 0.f;
  __syncthreads();
  float a = 0;
#pragma unroll
  for (int k = 0; k < 17; k++) a += s[threadIdx.x + k] * taps[k];
  out[(size_t)blockIdx.y * w + x] = a;
}
#define SORT(p, q) { unsigned char l = min(p, q); q = max(p, q); p = l; }
extern "C" __global__ void median_3x3(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  unsigned char v[9];
#pragma unroll
  for (int k = 0; k < 9; k++) v[k] = in[(y + k / 3 - 1) * w + x + k % 3 - 1];
  SORT(v[1], v[2]) SORT(v[4], v[5]) SORT(v[7], v[8]) SORT(v[0], v[1]) SORT(v[3], v[4]) SORT(v[6], v[7])
  SORT(v[1], v[2]) SORT(v[4], v[5]) SORT(v[7], v[8]) SORT(v[0], v[3]) SORT(v[5], v[8]) SORT(v[4], v[7])
  SORT(v[3], v[6]) SORT(v[1], v[4]) SORT(v[2], v[5]) SORT(v[4], v[7]) SORT(v[4], v[2]) SORT(v[6], v[4]) SORT(v[4], v[2])
  out[y * w + x] = v[4];
}
// Running sums down columns: one long walk a thread.
extern "C" __global__ void integral_columns(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  float a = 0;
  for (int y = 0; y < h; y++) { a += in[(size_t)y * w + x]; out[(size_t)y * w + x] = a; }
}
extern "C" __global__ void grey_of_rgb(const uchar3* in, unsigned char* out, int n) {
  AT;
  if (i >= n) return;
  uchar3 p = in[i];
  out[i] = (p.x * 77 + p.y * 150 + p.z * 29) >> 8;
}
// Each byte through a table in shared memory.
extern "C" __global__ void map_bytes(const uchar4* in, const unsigned char* table, uchar4* out, int n4) {
  __shared__ unsigned char t[256];
  t[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n4; i += gridDim.x * 256) {
    uchar4 v = in[i];
    out[i] = make_uchar4(t[v.x], t[v.y], t[v.z], t[v.w]);
  }
}
extern "C" __global__ void bilateral_7x7(const float* in, float* out, int w, int h, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float me = in[y * w + x], sum = 0, weight = 0;
  for (int dy = -3; dy <= 3; dy++)
    for (int dx = -3; dx <= 3; dx++) {
      int u = min(max(x + dx, 0), w - 1), v = min(max(y + dy, 0), h - 1);
      float p = in[v * w + u], d = p - me, f = __expf(-(dx * dx + dy * dy) * 0.06f - d * d * k);
      sum += f * p;
      weight += f;
    }
  out[y * w + x] = sum / weight;
}
// Which boxes overlap which: a word of 64 bits for 64 others.
extern "C" __global__ void overlap_masks(const float4* box, unsigned long long* mask, int n, float least) {
  __shared__ float4 other[64];
  int row = blockIdx.y * 64 + threadIdx.x, col = blockIdx.x * 64;
  if (blockIdx.x < blockIdx.y) return;
  other[threadIdx.x] = box[min(n - 1, col + threadIdx.x)];
  __syncthreads();
  if (row >= n) return;
  float4 me = box[row];
  unsigned long long m = 0;
  for (int j = 0; j < 64 && col + j < n; j++) {
    float4 o = other[j];
    float w = fminf(me.x + me.z, o.x + o.z) - fmaxf(me.x, o.x), h = fminf(me.y + me.w, o.y + o.w) - fmaxf(me.y, o.y);
    float both = fmaxf(w, 0.f) * fmaxf(h, 0.f);
    if (both > least * (me.z * me.w + o.z * o.w - both)) m |= 1ull << j;
  }
  mask[(size_t)row * gridDim.x + blockIdx.x] = m;
}
