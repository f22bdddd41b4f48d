// In the manner of the kernels that deep-learning frameworks ship: functors, vector loads, offset calculators, warp reductions.
#include "unseen.cuh"

template <int N> struct alignas(4 * N) Pack { float v[N]; };

template <typename F, int N> __device__ void vectorizedElementwise(idx n, float *out, const float *a, F f) {
  const idx tile = (idx)blockIdx.x * blockDim.x * N, left = n - tile;
  if (left < (idx)blockDim.x * N) {
    for (int u = 0; u < N; u++) {
      const idx at = threadIdx.x + u * blockDim.x;
      if (at < left) out[tile + at] = f(a[tile + at]);
    }
    return;
  }
  Pack<N> p = reinterpret_cast<const Pack<N> *>(a + tile)[threadIdx.x];
#pragma unroll
  for (int u = 0; u < N; u++) p.v[u] = f(p.v[u]);
  reinterpret_cast<Pack<N> *>(out + tile)[threadIdx.x] = p;
}
struct Silu { __device__ float operator()(float x) const { return x / (1.0f + __expf(-x)); } };
struct LeakyRelu { float slope; __device__ float operator()(float x) const { return x > 0 ? x : slope * x; } };
K vecSilu4(idx n, float *R out, const float *R a) { vectorizedElementwise<Silu, 4>(n, out, a, Silu{}); }
K vecLeaky2(idx n, float *R out, const float *R a, float slope) {
  vectorizedElementwise<LeakyRelu, 2>(n, out, a, LeakyRelu{slope});
}

// Division by a number that is known at launch, as multiplication and shift.
struct IntDivider { unsigned divisor, m1, shift; };
struct Strided { int dims; unsigned n; IntDivider sizes[3]; unsigned strides[3][2]; };
template <typename T> __device__ uint2 offsetsOf(const T &c, unsigned linear) {
  uint2 o = {0, 0};
#pragma unroll
  for (int d = 0; d < 3; d++) {
    if (d == c.dims) break;
    const unsigned t = __umulhi(linear, c.sizes[d].m1), q = (t + linear) >> c.sizes[d].shift;
    const unsigned r = linear - q * c.sizes[d].divisor;
    linear = q;
    o.x += r * c.strides[d][0];
    o.y += r * c.strides[d][1];
  }
  return o;
}
K stridedUnary(Strided c, char *R out, const char *R in) {
#pragma unroll
  for (int u = 0; u < 4; u++) {
    const unsigned i = blockIdx.x * blockDim.x * 4 + u * blockDim.x + threadIdx.x;
    if (i >= c.n) return;
    const uint2 o = offsetsOf(c, i);
    *(float *)(out + o.x) = fabsf(*(const float *)(in + o.y));
  }
}
// The same with true division by sizes.
struct Dims3 { int size[3], from[3], to[3]; };
K stridedCopyDiv(Dims3 d, idx n, float *R out, const float *R in) {
  for (idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (idx)blockDim.x * gridDim.x) {
    const idx x = i % d.size[0], y = i / d.size[0] % d.size[1], z = i / (d.size[0] * d.size[1]);
    out[x * d.to[0] + y * d.to[1] + z * d.to[2]] = in[x * d.from[0] + y * d.from[1] + z * d.from[2]];
  }
}

__device__ float warpSum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  return v;
}
__device__ float warpSumAll(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}
__device__ float blockSum(float v, float *part) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warpSum(v);
  __syncthreads();
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = threadIdx.x < (blockDim.x >> 5) ? part[lane] : 0.0f;
  if (warp == 0) v = warpSum(v);
  if (threadIdx.x == 0) part[0] = v;
  __syncthreads();
  return part[0];
}

K layerNormVec(float *R y, float *R mean, float *R rstd, const float *R x, const float *R gamma, const float *R beta, idx cols,
               float eps) {
  __shared__ float part[32];
  const float4 *row = reinterpret_cast<const float4 *>(x + (idx)blockIdx.x * cols);
  float s = 0, q = 0;
  for (idx i = threadIdx.x; i < cols / 4; i += blockDim.x) {
    const float4 v = row[i];
    s += v.x + v.y + v.z + v.w;
    q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  s = blockSum(s, part);
  q = blockSum(q, part);
  const float m = s / cols, r = rsqrtf(q / cols - m * m + eps);
  for (idx i = threadIdx.x; i < cols / 4; i += blockDim.x) {
    const float4 v = row[i], g = reinterpret_cast<const float4 *>(gamma)[i], b = reinterpret_cast<const float4 *>(beta)[i];
    reinterpret_cast<float4 *>(y + (idx)blockIdx.x * cols)[i] =
        make_float4((v.x - m) * r * g.x + b.x, (v.y - m) * r * g.y + b.y, (v.z - m) * r * g.z + b.z, (v.w - m) * r * g.w + b.w);
  }
  if (threadIdx.x == 0) mean[blockIdx.x] = m, rstd[blockIdx.x] = r;
}

// A warp a row of half precision, several rows a block.
K rmsNormHalf(__half *R y, const __half *R x, const __half *R w, idx rows, idx cols, float eps) {
  const idx row = (idx)blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float q = 0;
  for (idx c = threadIdx.x; c < cols; c += 32) {
    const float v = __half2float(x[row * cols + c]);
    q += v * v;
  }
  const float r = rsqrtf(warpSumAll(q) / cols + eps);
  for (idx c = threadIdx.x; c < cols; c += 32)
    y[row * cols + c] = __float2half(__half2float(x[row * cols + c]) * r * __half2float(w[c]));
}

K fusedAddRmsNorm(float *R y, float *residual, const float *R x, const float *R w, idx cols, float eps) {
  extern __shared__ float kept[];
  __shared__ float part[32];
  float q = 0;
  for (idx c = threadIdx.x; c < cols; c += blockDim.x) {
    const float v = x[blockIdx.x * cols + c] + residual[blockIdx.x * cols + c];
    residual[blockIdx.x * cols + c] = v;
    kept[c] = v;
    q += v * v;
  }
  const float r = rsqrtf(blockSum(q, part) / cols + eps);
  for (idx c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = kept[c] * r * w[c];
}

K groupNormNchw(float *R y, const float *R x, const float *R gamma, const float *R beta, idx groups, idx channelsPerGroup,
                idx hw) {
  __shared__ float part[32];
  const idx n = blockIdx.y, g = blockIdx.x, count = channelsPerGroup * hw, base = (n * groups + g) * count;
  float s = 0, q = 0;
  for (idx i = threadIdx.x; i < count; i += blockDim.x) s += x[base + i], q += x[base + i] * x[base + i];
  s = blockSum(s, part);
  q = blockSum(q, part);
  const float m = s / count, r = rsqrtf(q / count - m * m + 1e-5f);
  for (idx i = threadIdx.x; i < count; i += blockDim.x) {
    const idx c = g * channelsPerGroup + i / hw;
    y[base + i] = (x[base + i] - m) * r * gamma[c] + beta[c];
  }
}

template <int LOG2> __device__ void softmaxWarpForward(float *dst, const float *src, idx batch, idx stride, idx count) {
  constexpr int ELEMENTS = 1 << LOG2, WIDTH = ELEMENTS < 32 ? ELEMENTS : 32, ITERATIONS = ELEMENTS / WIDTH;
  const idx first = ((idx)blockDim.y * blockIdx.x + threadIdx.y) * 2;
  idx local = batch - first;
  if (local > 2) local = 2;
  src += first * stride + threadIdx.x;
  dst += first * stride + threadIdx.x;
  float e[2][ITERATIONS];
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int it = 0; it < ITERATIONS; it++)
      e[i][it] = i < local && (idx)(threadIdx.x + it * WIDTH) < count ? src[i * count + it * WIDTH] : -INFINITY;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    float m = e[i][0], s = 0;
    for (int it = 1; it < ITERATIONS; it++) m = fmaxf(m, e[i][it]);
    for (int o = WIDTH / 2; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o, WIDTH));
    for (int it = 0; it < ITERATIONS; it++) s += e[i][it] = __expf(e[i][it] - m);
    for (int o = WIDTH / 2; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o, WIDTH);
    if (i >= local) break;
    for (int it = 0; it < ITERATIONS; it++)
      if ((idx)(threadIdx.x + it * WIDTH) < count) dst[i * count + it * WIDTH] = e[i][it] / s;
      else break;
  }
}
K softmaxWarp6(float *R dst, const float *R src, idx batch, idx stride, idx count) {
  softmaxWarpForward<6>(dst, src, batch, stride, count);
}
K softmaxWarp4(float *R dst, const float *R src, idx batch, idx stride, idx count) {
  softmaxWarpForward<4>(dst, src, batch, stride, count);
}

// Rotary embedding of q and k in place: halves of a head turn.
K rotaryNeoxInPlace(float *q, const float *R cosSin, const long long *R positions, idx heads, idx depth) {
  const idx token = blockIdx.x, half = depth / 2;
  const float *cs = cosSin + positions[token] * depth;
  for (idx i = threadIdx.x; i < heads * half; i += blockDim.x) {
    const idx h = i / half, d = i % half;
    float *p = q + (token * heads + h) * depth;
    const float a = p[d], b = p[d + half];
    p[d] = a * cs[d] - b * cs[d + half];
    p[d + half] = b * cs[d] + a * cs[d + half];
  }
}
K rotaryInterleaved(float2 *R out, const float2 *R in, const float *R cosTable, const float *R sinTable, idx tokens, idx heads,
                    idx pairs) {
  const idx p = threadIdx.x, h = threadIdx.y + blockIdx.y * blockDim.y, t = blockIdx.x;
  if (p >= pairs || h >= heads || t >= tokens) return;
  const float2 v = in[(t * heads + h) * pairs + p];
  const float c = cosTable[t * pairs + p], s = sinTable[t * pairs + p];
  out[(t * heads + h) * pairs + p] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
K swigluPacked(float *R out, const float *R gateUp, idx width) {
  const idx token = blockIdx.x;
  for (idx i = threadIdx.x; i < width; i += blockDim.x) {
    const float g = __ldg(gateUp + token * 2 * width + i), u = __ldg(gateUp + token * 2 * width + width + i);
    out[token * width + i] = g / (1.0f + __expf(-g)) * u;
  }
}
K gegluBf16x2(__nv_bfloat162 *R out, const __nv_bfloat162 *R in, idx pairs) {
  const idx row = blockIdx.y, c = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= pairs) return;
  const float2 a = __bfloat1622float2(in[row * 2 * pairs + c]), b = __bfloat1622float2(in[(row * 2 + 1) * pairs + c]);
  out[row * pairs + c] = __float22bfloat162_rn(make_float2(a.x * tanhf(b.x), a.y * tanhf(b.y)));
}

// One block a token: its slot in the cache of blocks of 16 is looked up.
K reshapeAndCache(float *R keyCache, float *R valueCache, const float *R key, const float *R value,
                  const long long *R slots, idx width, int blockTokens) {
  const long long slot = slots[blockIdx.x];
  if (slot < 0) return;
  const long long block = slot / blockTokens, offset = slot % blockTokens;
  for (idx i = threadIdx.x; i < width; i += blockDim.x) {
    const long long to = (block * blockTokens + offset) * width + i;
    keyCache[to] = key[blockIdx.x * width + i];
    valueCache[to] = value[blockIdx.x * width + i];
  }
}
K appendRing(float *R cache, const float *R fresh, idx start, idx tokens, idx capacity, idx width) {
  const idx t = blockIdx.x;
  if (t >= tokens) return;
  const idx slot = (start + t) % capacity;
  for (idx i = threadIdx.x; i < width; i += blockDim.x) cache[slot * width + i] = fresh[t * width + i];
}
K pagedAttention(float *R out, const float *R q, const float *R kCache, const float *R vCache, const int *R tables,
                 const int *R lengths, int mostBlocks, float scale) {
  constexpr int D = 32, B = 8;
  __shared__ float logits[64];
  const int seq = blockIdx.y, head = blockIdx.x, heads = gridDim.x, length = lengths[seq];
  const float qv = q[(seq * heads + head) * D + threadIdx.x];
  float most = -3.4e38f;
  for (int t = 0; t < length; t++) {
    const long long page = tables[seq * mostBlocks + t / B];
    const float s = warpSumAll(qv * kCache[((page * heads + head) * B + t % B) * D + threadIdx.x]) * scale;
    if (threadIdx.x == 0) logits[t] = s;
    most = fmaxf(most, s);
  }
  __syncthreads();
  float sum = 0, acc = 0;
  for (int t = 0; t < length; t++) {
    const float w = __expf(logits[t] - most);
    sum += w;
    acc += w * vCache[(((long long)tables[seq * mostBlocks + t / B] * heads + head) * B + t % B) * D + threadIdx.x];
  }
  out[(seq * heads + head) * D + threadIdx.x] = acc / sum;
}
K flashForward(float *R out, float *R lse, const float *R q, const float *R k, const float *R v, int n, float scale) {
  constexpr int D = 16, T = 16;
  __shared__ float kt[T][D], vt[T][D];
  const int bh = blockIdx.y, row = blockIdx.x * T + threadIdx.x;
  float qr[D], acc[D] = {}, m = -INFINITY, l = 0;
  if (row < n)
    for (int d = 0; d < D; d++) qr[d] = q[((long long)bh * n + row) * D + d] * scale;
  for (int start = 0; start < n; start += T) {
    __syncthreads();
    if (start + (int)threadIdx.x < n)
      for (int d = 0; d < D; d++) {
        kt[threadIdx.x][d] = k[((long long)bh * n + start + threadIdx.x) * D + d];
        vt[threadIdx.x][d] = v[((long long)bh * n + start + threadIdx.x) * D + d];
      }
    __syncthreads();
    for (int j = 0; j < T && start + j < n; j++) {
      float s = 0;
      for (int d = 0; d < D; d++) s += qr[d] * kt[j][d];
      const float next = fmaxf(m, s), scaleOld = __expf(m - next), p = __expf(s - next);
      l = l * scaleOld + p;
      for (int d = 0; d < D; d++) acc[d] = acc[d] * scaleOld + p * vt[j][d];
      m = next;
    }
  }
  if (row >= n) return;
  for (int d = 0; d < D; d++) out[((long long)bh * n + row) * D + d] = acc[d] / l;
  lse[bh * n + row] = m + logf(l);
}
K topKWarp(float *R values, int *R places, const float *R x, idx cols, int k) {
  const idx row = blockIdx.x;
  float last = INFINITY;
  int lastAt = -1;
  for (int turn = 0; turn < k; turn++) {
    float best = -INFINITY;
    int at = 0x7fffffff;
    for (int c = threadIdx.x; c < cols; c += 32) {
      const float v = x[row * cols + c];
      const bool open = v < last || (v == last && c > lastAt);
      if (open && (v > best || (v == best && c < at))) best = v, at = c;
    }
    for (int o = 16; o > 0; o >>= 1) {
      const float ov = __shfl_xor_sync(~0u, best, o);
      const int oa = __shfl_xor_sync(~0u, at, o);
      if (ov > best || (ov == best && oa < at)) best = ov, at = oa;
    }
    if (threadIdx.x == 0) values[row * k + turn] = best, places[row * k + turn] = at;
    last = best;
    lastAt = at;
  }
}
K embeddingBagSum(float *R out, const float *R table, const int *R indices, const int *R offsets, idx bags, idx width) {
  const idx bag = (idx)blockIdx.x * blockDim.y + threadIdx.y;
  if (bag >= bags) return;
  const int from = offsets[bag], to = offsets[bag + 1];
  for (idx c = threadIdx.x; c < width; c += blockDim.x) {
    float s = 0;
    for (int i = from; i < to; i++) s += table[(idx)indices[i] * width + c];
    out[bag * width + c] = s;
  }
}

// Philox 4x32-10 from a seed and an offset among the arguments.
__device__ uint4 philox(uint4 c, uint2 key) {
#pragma unroll
  for (int r = 0; r < 10; r++) {
    const unsigned hi0 = __umulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x, hi1 = __umulhi(0xCD9E8D57u, c.z),
                   lo1 = 0xCD9E8D57u * c.z;
    c = make_uint4(hi1 ^ c.y ^ key.x, lo1, hi0 ^ c.w ^ key.y, lo0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return c;
}
K dropoutPhilox(float *R out, unsigned char *R mask, const float *R in, idx n, float keep, unsigned long long seed,
                unsigned long long offset) {
  const idx id = (idx)blockIdx.x * blockDim.x + threadIdx.x, step = (idx)blockDim.x * gridDim.x;
  for (idx base = id * 4, turn = 0; base < n; base += step * 4, turn++) {
    const uint4 r = philox(make_uint4((unsigned)(offset + turn), (unsigned)((offset + turn) >> 32), (unsigned)id, 0),
                           make_uint2((unsigned)seed, (unsigned)(seed >> 32)));
    const unsigned bits[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
    for (int u = 0; u < 4; u++)
      if (base + u < n) {
        const bool kept = bits[u] * 2.3283064e-10f < keep;
        mask[base + u] = kept;
        out[base + u] = kept ? in[base + u] / keep : 0.0f;
      }
  }
}
K uniformFill(float *R out, idx n, unsigned seed) {
  const idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = philox(make_uint4((unsigned)i, 0, 0, 0), make_uint2(seed, 1)).x * 2.3283064e-10f;
}
K adamStep(float *p, float *m, float *v, const float *R g, idx n, float lr, float b1, float b2, float eps, float c1, float c2) {
  const idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float mi = b1 * m[i] + (1 - b1) * g[i], vi = b2 * v[i] + (1 - b2) * g[i] * g[i];
  m[i] = mi;
  v[i] = vi;
  p[i] -= lr * (mi / c1) / (sqrtf(vi / c2) + eps);
}
// Parameters of several tensors by value: the block says which.
struct TensorList { float *to[4]; const float *from[4]; int counts[4]; };
K multiTensorScale(TensorList l, float scale) {
  const int t = blockIdx.y;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < l.counts[t]; i += gridDim.x * blockDim.x)
    l.to[t][i] = l.from[t][i] * scale;
}
K im2colNchw(float *R col, const float *R im, idx n, idx h, idx w, idx ksize, idx pad, idx stride, idx oh, idx ow) {
  for (idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (idx)blockDim.x * gridDim.x) {
    const idx x = i % ow, y = i / ow % oh, c = i / ow / oh, cc = c * ksize * ksize, y0 = y * stride - pad, x0 = x * stride - pad;
    float *to = col + (cc * oh + y) * ow + x;
    const float *from = im + (c * h + y0) * w + x0;
    for (idx ky = 0; ky < ksize; ky++)
      for (idx kx = 0; kx < ksize; kx++) {
        const idx yy = y0 + ky, xx = x0 + kx;
        *to = yy >= 0 && xx >= 0 && yy < h && xx < w ? from[ky * w + kx] : 0.0f;
        to += oh * ow;
      }
  }
}
K maxPool2dIndices(float *R out, long long *R where, const float *R in, idx n, idx h, idx w, idx oh, idx ow, int k, int stride,
                   int pad) {
  for (idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (idx)blockDim.x * gridDim.x) {
    const idx x = i % ow, y = i / ow % oh, c = i / (ow * oh);
    int y0 = y * stride - pad, x0 = x * stride - pad;
    const int y1 = min(y0 + k, (int)h), x1 = min(x0 + k, (int)w);
    while (y0 < 0) y0++;
    while (x0 < 0) x0++;
    float best = -INFINITY;
    idx at = y0 * w + x0;
    for (idx yy = y0; yy < y1; yy++)
      for (idx xx = x0; xx < x1; xx++) {
        const float v = in[c * h * w + yy * w + xx];
        if (v > best) best = v, at = yy * w + xx;
      }
    out[i] = best;
    where[i] = at;
  }
}
K adaptiveAvgPool(float *R out, const float *R in, int h, int w, int oh, int ow) {
  const int c = blockIdx.x;
  for (int y = threadIdx.y; y < oh; y += blockDim.y) {
    const int y0 = y * h / oh, y1 = ((y + 1) * h + oh - 1) / oh;
    for (int x = threadIdx.x; x < ow; x += blockDim.x) {
      const int x0 = x * w / ow, x1 = ((x + 1) * w + ow - 1) / ow;
      float s = 0;
      for (int yy = y0; yy < y1; yy++)
        for (int xx = x0; xx < x1; xx++) s += in[(c * h + yy) * w + xx];
      out[(c * oh + y) * ow + x] = s / ((y1 - y0) * (x1 - x0));
    }
  }
}
K upsampleBilinear(float *R out, const float *R in, int channels, int h, int w, int oh, int ow, float ry, float rx) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= oh * ow) return;
  const int x = i % ow, y = i / ow;
  const float fy = fmaxf(ry * (y + 0.5f) - 0.5f, 0), fx = fmaxf(rx * (x + 0.5f) - 0.5f, 0);
  const int y0 = (int)fy, x0 = (int)fx, yp = y0 < h - 1, xp = x0 < w - 1;
  const float ly = fy - y0, lx = fx - x0;
  for (int c = 0; c < channels; c++) {
    const float *p = in + (c * h + y0) * w + x0;
    out[(c * oh + y) * ow + x] = (1 - ly) * ((1 - lx) * p[0] + lx * p[xp]) + ly * ((1 - lx) * p[yp * w] + lx * p[yp * w + xp]);
  }
}
K upsampleNearest(float *R out, const float *R in, idx planes, idx h, idx w, idx oh, idx ow, float ry, float rx) {
  idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= planes * oh * ow) return;
  const idx x = i % ow, y = i / ow % oh, p = i / (ow * oh);
  const idx sy = min((idx)(y * ry), h - 1), sx = min((idx)(x * rx), w - 1);
  out[i] = in[(p * h + sy) * w + sx];
}
K pixelShuffle(float *R out, const float *R in, int channels, int h, int w, int f) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
  if (x >= w * f || y >= h * f) return;
  out[(c * h * f + y) * w * f + x] = in[((c * f * f + y % f * f + x % f) * h + y / f) * w + x / f];
}
K transposeBatched(float *R out, const float *R in, int rows, int cols) {
  __shared__ float tile[16][17];
  const long long base = (long long)blockIdx.z * rows * cols;
  int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 16 + threadIdx.y;
  for (int j = 0; j < 16; j += 4)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[base + (long long)(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  for (int j = 0; j < 16; j += 4) {
    const int c = blockIdx.x * 16 + threadIdx.y + j;
    if (x < rows && c < cols) out[base + (long long)c * rows + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}
// Concatenation of a list given by value, each with its own extent along the middle dimension.
struct CatInput { const float *data; unsigned offset, size; };
struct CatList { CatInput in[3]; };
K catBatched(float *R out, CatList list, unsigned outer, unsigned total, unsigned inner) {
  const CatInput c = list.in[blockIdx.y];
  const unsigned n = outer * c.size * inner;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned row = i / (c.size * inner), rest = i % (c.size * inner);
    out[row * total * inner + c.offset * inner + rest] = c.data[i];
  }
}
K splitThree(float *R a, float *R b, float *R c, const float *R in, idx n, idx na, idx nb, idx width) {
  const idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * width) return;
  const idx row = i / width, col = i % width;
  if (col < na) a[row * na + col] = in[i];
  else if (col < na + nb) b[row * nb + col - na] = in[i];
  else c[row * (width - na - nb) + col - na - nb] = in[i];
}
K indexSelect(float *R out, const float *R in, const long long *R index, idx picked, idx rows, idx width) {
  for (idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x; i < picked * width; i += (idx)gridDim.x * blockDim.x) {
    const long long row = index[i / width];
    if (row >= 0 && row < rows) out[i] = in[row * width + i % width];
  }
}
K crossEntropy(float *R loss, const float *R logits, const int *R target, idx classes, int ignore) {
  __shared__ float part[32];
  const float *row = logits + (idx)blockIdx.x * classes;
  const int t = target[blockIdx.x];
  float s = 0;
  for (idx c = threadIdx.x; c < classes; c += blockDim.x) s += __expf(row[c]);
  s = blockSum(s, part);
  if (threadIdx.x == 0) loss[blockIdx.x] = t == ignore ? 0.0f : logf(s) - row[t];
}
K reduceLastBlock(float *R out, float *part, unsigned *ticket, const float *R in, idx n) {
  __shared__ float s[32];
  __shared__ bool isLast;
  float v = 0;
  for (idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (idx)blockDim.x * gridDim.x) v += in[i];
  v = blockSum(v, s);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = v;
    __threadfence();
    isLast = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (isLast && threadIdx.x == 0) {
    v = 0;
    for (unsigned b = 0; b < gridDim.x; b++) v += ((volatile float *)part)[b];
    *out = v;
  }
}
K welfordColumns(float *R mean, float *R var, const float *R x, int n, int c, int hw) {
  const int ch = blockIdx.x;
  float avg = 0, m2 = 0;
  int count = 0;
  for (int b = threadIdx.y; b < n; b += blockDim.y)
    for (int i = threadIdx.x; i < hw; i += blockDim.x) {
      const float v = x[(b * c + ch) * hw + i], d = v - avg;
      avg += d / ++count;
      m2 += d * (v - avg);
    }
  __shared__ float sa[256], sm[256];
  __shared__ int sn[256];
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  sa[t] = avg, sm[t] = m2, sn[t] = count;
  for (int half = blockDim.x * blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      const int na = sn[t], nb = sn[t + half];
      if (nb > 0) {
        const float d = sa[t + half] - sa[t];
        sa[t] += d * nb / (na + nb);
        sm[t] += sm[t + half] + d * d * na * nb / (na + nb);
        sn[t] += nb;
      }
    }
  }
  if (t == 0) mean[ch] = sa[0], var[ch] = sm[0] / max(sn[0], 1);
}
K triuMask(float *R out, const float *R in, idx rows, idx cols, idx diagonal) {
  const idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  const idx r = i / cols, c = i - r * cols;
  out[i] = c - r >= diagonal ? in[i] : 0.0f;
}
K padReflect(float *R out, const float *R in, int n, int left, int right) {
  const int w = n + left + right, x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  int s = abs(x - left);
  s = n - 1 - abs(n - 1 - s);
  out[blockIdx.y * w + x] = in[blockIdx.y * n + s];
}
K rollLast(float *R out, const float *R in, idx n, idx size, idx stride, idx shift) {
  const idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const idx at = i / stride % size;
  out[i] = in[at < shift ? i + (size - shift) * stride : i - shift * stride];
}
K fakeQuantPerChannel(float *R out, const float *R in, const float *R scale, const int *R zero, idx n, idx channels, idx inner,
                      int least, int most) {
  const idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const idx c = i / inner % channels;
  const int q = min(max(__float2int_rn(in[i] / scale[c]) + zero[c], least), most);
  out[i] = (q - zero[c]) * scale[c];
}
K dequantInt4(__half2 *R out, const unsigned *R packed, const __half *R scales, idx words, idx group) {
  const idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  const unsigned w = packed[i];
  const __half s = scales[i * 8 / group];
#pragma unroll
  for (int u = 0; u < 4; u++) {
    const int lo = (int)(w >> (8 * u) & 15) - 8, hi = (int)(w >> (8 * u + 4) & 15) - 8;
    out[i * 4 + u] = __floats2half2_rn(lo * __half2float(s), hi * __half2float(s));
  }
}
K gemvWarpRow(float *R y, const float *R a, const float *R x, idx rows, idx cols) {
  const idx row = ((idx)blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float s = 0;
  for (idx c = lane; c < cols; c += 32) s += a[row * cols + c] * x[c];
  s = warpSum(s);
  if (lane == 0) y[row] = s;
}
K gridSample(float *R out, const float *R in, const float2 *R grid, int c, int h, int w, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int x = (int)floorf((grid[i].x + 1) * 0.5f * (w - 1)), y = (int)floorf((grid[i].y + 1) * 0.5f * (h - 1));
  for (int ch = 0; ch < c; ch++) out[ch * n + i] = x >= 0 && x < w && y >= 0 && y < h ? in[(ch * h + y) * w + x] : 0.0f;
}
K scatterRows(float *R out, const float *R in, const int *R index, idx n, idx width) {
  const idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * width) out[(idx)index[i / width] * width + i % width] = in[i];
}
K maskedFillInPlace(float *x, const unsigned char *R mask, float value, idx n) {
  const idx i = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && mask[i]) x[i] = value;
}
K copyTail(float *R out, const float *R in, idx from, idx to) {
  for (idx i = from + blockIdx.x * blockDim.x + threadIdx.x; i < to; i += gridDim.x * blockDim.x) out[i - from] = in[i];
}
