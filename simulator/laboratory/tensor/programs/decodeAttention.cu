// One query a sequence against a cache of keys and values in pages of 16: warps share the pages, a second pass joins them.
// The eight query heads that share a head of keys are the rows of one product.
#include "fragments.cuh"

constexpr int width = 64, page = 16, sharing = 8;

/** A page holds [key heads][16][width]; `table` names the pages of each sequence in order. */
extern "C" __global__ void decodeParts(const __nv_bfloat16* q, const __nv_bfloat16* keyPages, const __nv_bfloat16* valuePages,
                                       const int* table, const int* lengths, float* parts, float2* marks, int tableWidth,
                                       int pagesEach, float scale) {
  __shared__ __align__(16) __nv_bfloat16 values[page][width + 8];
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  int part = blockIdx.x, keyHead = blockIdx.y, sequence = blockIdx.z;
  int length = lengths[sequence], pages = (length + page - 1) / page;
  int slot = ((sequence * gridDim.y + keyHead) * gridDim.x + part) * sharing;
  const unsigned* query = (const unsigned*)(q + ((size_t)(sequence * gridDim.y + keyHead) * sharing + g) * width);
  unsigned x[width / 16][4];
  for (int at = 0; at < width / 16; at++) {
    x[at][0] = query[at * 8 + t];
    x[at][1] = 0;
    x[at][2] = query[at * 8 + t + 4];
    x[at][3] = 0;
  }
  float sum[width / 8][4] = {}, most = -INFINITY, total = 0.0f;
  for (int at = part * pagesEach; at < min(pages, (part + 1) * pagesEach); at++) {
    size_t base = ((size_t)table[sequence * tableWidth + at] * gridDim.y + keyHead) * page * width;
    __syncwarp();
    for (int i = lane; i < page * width / 8; i += 32) copy16OrNought(&values[i / 8][i % 8 * 8], valuePages + base + i * 8, true);
    commitCopies();
    float score[2][4] = {};
#pragma unroll
    for (int tile = 0; tile < 2; tile++) {
      const unsigned* key = (const unsigned*)(keyPages + base + (tile * 8 + g) * width);
#pragma unroll
      for (int inner = 0; inner < width / 16; inner++) {
        unsigned y[2] = {key[inner * 8 + t], key[inner * 8 + t + 4]};
        multiplyBfloat(score[tile], x[inner], y);
      }
    }
    float top = most;
    for (int tile = 0; tile < 2; tile++)
      for (int i = 0; i < 2; i++) {
        score[tile][i] = at * page + tile * 8 + t * 2 + i < length ? score[tile][i] * scale : -INFINITY;
        top = fmaxf(top, score[tile][i]);
      }
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
    float shrink = exp2f(most - top), added = 0.0f;
    for (int tile = 0; tile < 2; tile++)
      for (int i = 0; i < 2; i++) added += score[tile][i] = exp2f(score[tile][i] - top);
    added += __shfl_xor_sync(~0u, added, 1);
    added += __shfl_xor_sync(~0u, added, 2);
    total = total * shrink + added;
    most = top;
    __nv_bfloat162 low = __floats2bfloat162_rn(score[0][0], score[0][1]), high = __floats2bfloat162_rn(score[1][0], score[1][1]);
    unsigned p[4] = {*(unsigned*)&low, 0, *(unsigned*)&high, 0};
    awaitCopies<0>();
    __syncwarp();
#pragma unroll
    for (int tile = 0; tile < width / 8; tile++) {
      sum[tile][0] *= shrink;
      sum[tile][1] *= shrink;
      unsigned y[2];
      loadMatrix2Transposed(y, &values[lane % 16][tile * 8]);
      multiplyBfloat(sum[tile], p, y);
    }
  }
  for (int tile = 0; tile < width / 8; tile++)
    *(float2*)&parts[(size_t)(slot + g) * width + tile * 8 + t * 2] = make_float2(sum[tile][0], sum[tile][1]);
  if (t == 0) marks[slot + g] = make_float2(most, total);
}

/** A block a query head, a thread a column. */
extern "C" __global__ void decodeJoin(const float* parts, const float2* marks, float* out, int shares) {
  int group = blockIdx.x / sharing, head = blockIdx.x % sharing;
  float most = -INFINITY, total = 0.0f, sum = 0.0f;
  for (int share = 0; share < shares; share++) most = fmaxf(most, marks[(group * shares + share) * sharing + head].x);
  for (int share = 0; share < shares; share++) {
    int slot = (group * shares + share) * sharing + head;
    float weight = exp2f(marks[slot].x - most);
    total += weight * marks[slot].y;
    sum += weight * parts[slot * width + threadIdx.x];
  }
  out[blockIdx.x * width + threadIdx.x] = sum / total;
}
