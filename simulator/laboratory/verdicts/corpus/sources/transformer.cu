// Kernels of decoder inference. Hidden states are tokens x width, heads of `depth`.
#include "corpus.cuh"

KERNEL embeddingGather(float *RESTRICT out, const float *RESTRICT table, const int *RESTRICT tokens, idx count, idx width) {
  idx i = GLOBAL_ID;
  if (i < count * width) out[i] = table[tokens[i / width] * width + i % width];
}

// Token and position: the position is known, the token is not.
KERNEL embeddingPosition(float *RESTRICT out, const float *RESTRICT table, const float *RESTRICT positions,
                         const int *RESTRICT tokens, idx width) {
  int token = tokens[blockIdx.x];
  LOOP for (idx c = threadIdx.x; c < width; c += blockDim.x)
    out[blockIdx.x * width + c] = table[token * width + c] + positions[blockIdx.x * width + c];
}

KERNEL splitQkv(float *RESTRICT q, float *RESTRICT k, float *RESTRICT v, const float *RESTRICT qkv, idx tokens, idx width) {
  idx c = (idx)blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y;
  if (c >= width) return;
  q[t * width + c] = qkv[t * 3 * width + c];
  k[t * width + c] = qkv[t * 3 * width + width + c];
  v[t * width + c] = qkv[t * 3 * width + 2 * width + c];
}

// tokens x heads x depth -> heads x tokens x depth
KERNEL transposeHeads(float *RESTRICT out, const float *RESTRICT in, idx tokens, idx heads, idx depth) {
  idx d = threadIdx.x, head = blockIdx.x, t = (idx)blockIdx.y * blockDim.y + threadIdx.y;
  if (t < tokens && d < depth) out[(head * tokens + t) * depth + d] = in[(t * heads + head) * depth + d];
}

KERNEL attentionScores(float *RESTRICT scores, const float *RESTRICT q, const float *RESTRICT k, idx tokens, idx depth,
                       float scale) {
  idx j = (idx)blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y, head = blockIdx.z;
  if (j >= tokens) return;
  float sum = 0.0f;
  LOOP for (idx d = 0; d < depth; d++) sum += q[(head * tokens + i) * depth + d] * k[(head * tokens + j) * depth + d];
  scores[(head * tokens + i) * tokens + j] = sum * scale;
}

KERNEL causalSoftmax(float *RESTRICT out, const float *RESTRICT scores, idx tokens) {
  idx i = blockIdx.x, base = (blockIdx.y * tokens + i) * tokens;
  float most = -3.4e38f;
  LOOP for (idx j = 0; j <= i; j++) most = fmaxf(most, scores[base + j]);
  float sum = 0.0f;
  LOOP for (idx j = 0; j <= i; j++) sum += __expf(scores[base + j] - most);
  LOOP for (idx j = threadIdx.x; j < tokens; j += blockDim.x)
    out[base + j] = j <= i ? __expf(scores[base + j] - most) / sum : 0.0f;
}

// How many tokens a sequence has stands in memory.
KERNEL lengthMaskedSoftmax(float *RESTRICT out, const float *RESTRICT scores, const int *RESTRICT lengths, idx tokens) {
  idx base = blockIdx.x * tokens;
  int length = lengths[blockIdx.x];
  float sum = 0.0f;
  LOOP for (idx j = 0; j < tokens; j++)
    if (j < length) sum += __expf(scores[base + j]);
  LOOP for (idx j = threadIdx.x; j < tokens; j += blockDim.x)
    out[base + j] = j < length ? __expf(scores[base + j]) / sum : 0.0f;
}

KERNEL attentionContext(float *RESTRICT out, const float *RESTRICT weights, const float *RESTRICT v, idx tokens, idx depth) {
  idx d = threadIdx.x, i = blockIdx.x, head = blockIdx.y;
  if (d >= depth) return;
  float sum = 0.0f;
  LOOP for (idx j = 0; j < tokens; j++) sum += weights[(head * tokens + i) * tokens + j] * v[(head * tokens + j) * depth + d];
  out[(i * gridDim.y + head) * depth + d] = sum;
}

KERNEL appendCache(float *RESTRICT cache, const float *RESTRICT fresh, idx position, idx width) {
  idx c = GLOBAL_ID;
  if (c < width) cache[position * width + c] = fresh[c];
}

// The position is read from memory, as captured graphs do.
KERNEL appendCacheLoaded(float *RESTRICT cache, const float *RESTRICT fresh, const int *RESTRICT position, idx width) {
  idx c = GLOBAL_ID;
  if (c < width) cache[*position * width + c] = fresh[c];
}

// Each sequence of a batch has a position of its own, and some are finished.
KERNEL appendCacheBatch(float *RESTRICT cache, const float *RESTRICT fresh, const int *RESTRICT positions, idx longest,
                        idx width) {
  idx c = threadIdx.x, sequence = blockIdx.x;
  int position = positions[sequence];
  if (position < 0 || c >= width) return;
  cache[(sequence * longest + position) * width + c] = fresh[sequence * width + c];
}

KERNEL pagedRead(float *RESTRICT out, const float *RESTRICT pages, const int *RESTRICT table, idx tokens, idx pageTokens,
                 idx width) {
  idx i = GLOBAL_ID;
  if (i >= tokens * width) return;
  idx t = i / width, c = i % width;
  out[i] = pages[(table[t / pageTokens] * pageTokens + t % pageTokens) * width + c];
}

KERNEL decodeAttention(float *RESTRICT out, const float *RESTRICT q, const float *RESTRICT keys,
                       const float *RESTRICT values, idx length, idx depth) {
  idx d = threadIdx.x, head = blockIdx.x;
  if (d >= depth) return;
  float sum = 0.0f, total = 0.0f;
  LOOP for (idx t = 0; t < length; t++) {
    float score = 0.0f;
    LOOP for (idx e = 0; e < depth; e++) score += q[head * depth + e] * keys[(head * length + t) * depth + e];
    float weight = __expf(score);
    total += weight;
    sum += weight * values[(head * length + t) * depth + d];
  }
  out[head * depth + d] = sum / total;
}

KERNEL greedySample(int *RESTRICT tokens, const float *RESTRICT logits, idx vocabulary) {
  __shared__ float bestValue[64];
  __shared__ int bestToken[64];
  float value = -3.4e38f;
  int token = 0;
  LOOP for (idx v = threadIdx.x; v < vocabulary; v += blockDim.x)
    if (logits[blockIdx.x * vocabulary + v] > value) {
      value = logits[blockIdx.x * vocabulary + v];
      token = (int)v;
    }
  bestValue[threadIdx.x] = value;
  bestToken[threadIdx.x] = token;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int t = 1; t < (int)blockDim.x; t++)
    if (bestValue[t] > value) {
      value = bestValue[t];
      token = bestToken[t];
    }
  tokens[blockIdx.x] = token;
}

KERNEL gatherLastToken(float *RESTRICT out, const float *RESTRICT hidden, const int *RESTRICT lengths, idx longest,
                       idx width) {
  idx c = threadIdx.x, sequence = blockIdx.x;
  if (c < width) out[sequence * width + c] = hidden[(sequence * longest + lengths[sequence] - 1) * width + c];
}

KERNEL reorderBeams(float *RESTRICT out, const float *RESTRICT cache, const int *RESTRICT parents, idx beams, idx rowBytes) {
  idx c = (idx)blockIdx.x * blockDim.x + threadIdx.x, beam = blockIdx.y;
  if (c < rowBytes) out[beam * rowBytes + c] = cache[parents[beam] * rowBytes + c];
}

KERNEL rotary(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT angles, idx tokens, idx heads, idx depth) {
  idx pair = threadIdx.x, head = blockIdx.x, t = blockIdx.y, half = depth / 2;
  if (pair >= half) return;
  idx base = (t * heads + head) * depth;
  float c = __cosf(angles[t * half + pair]), s = __sinf(angles[t * half + pair]);
  float x = in[base + pair], y = in[base + half + pair];
  out[base + pair] = x * c - y * s;
  out[base + half + pair] = x * s + y * c;
}

KERNEL addBiasResidual(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT bias,
                       const float *RESTRICT residual, idx tokens, idx width) {
  LOOP for (idx c = threadIdx.x; c < width; c += blockDim.x) {
    idx at = blockIdx.x * width + c;
    out[at] = in[at] + bias[c] + residual[at];
  }
}

KERNEL addBiasGelu(float *RESTRICT out, const float *RESTRICT in, const float *RESTRICT bias, idx total, idx width) {
  LOOP for (idx i = GLOBAL_ID; i < total; i += (idx)blockDim.x * gridDim.x) {
    float x = in[i] + bias[i % width];
    out[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  }
}

KERNEL scaleLogits(float *RESTRICT out, const float *RESTRICT logits, const float *RESTRICT temperature, idx vocabulary) {
  idx v = (idx)blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vocabulary) out[blockIdx.y * vocabulary + v] = logits[blockIdx.y * vocabulary + v] / temperature[blockIdx.y];
}

KERNEL penalizeRepeats(float *logits, const int *RESTRICT history, idx length, float penalty) {
  idx i = GLOBAL_ID;
  if (i < length) logits[history[i]] *= penalty;
}

KERNEL countFinished(int *finished, const int *RESTRICT tokens, int end, idx count) {
  idx i = GLOBAL_ID;
  if (i < count && tokens[i] == end) atomicAdd(finished, 1);
}

KERNEL advanceLengths(int *lengths, const int *RESTRICT finished, idx count) {
  idx i = GLOBAL_ID;
  if (i < count && finished[i] == 0) lengths[i] += 1;
}

// Goes back through a linked history until its beginning.
KERNEL gatherPath(int *RESTRICT out, const int *RESTRICT tokens, const int *RESTRICT parents, idx beams, idx steps) {
  idx beam = GLOBAL_ID;
  if (beam >= beams) return;
  int at = (int)((steps - 1) * beams + beam);
  int written = 0;
  LOOP while (at >= 0) {
    out[beam * steps + written] = tokens[at];
    written++;
    at = parents[at];
  }
}
