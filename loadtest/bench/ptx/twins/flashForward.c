#include "twin.h"
#include "halves.h"
#include <math.h>

enum { WIDTH = 64 };

/* Query by query: scores, their softmax, the sum of values; f32 throughout. */
static void attention(const float *q, const float *k, const float *v, float *out, float *sums, int heads, int length, float scale) {
  float *scores = malloc(length * sizeof(float));
  for (int line = 0; line < heads * length; ++line) {
    const float *query = q + (size_t)line * WIDTH;
    size_t head = (size_t)(line / length) * length * WIDTH;
    float most = -INFINITY, total = 0.f;
    for (int key = 0; key < length; ++key) {
      float dot = 0.f;
      for (int d = 0; d < WIDTH; ++d) dot += query[d] * k[head + (size_t)key * WIDTH + d];
      scores[key] = dot * scale;
      most = fmaxf(most, scores[key]);
    }
    float sum[WIDTH] = {0};
    for (int key = 0; key < length; ++key) {
      float weight = exp2f(scores[key] - most);
      total += weight;
      for (int d = 0; d < WIDTH; ++d) sum[d] += weight * v[head + (size_t)key * WIDTH + d];
    }
    for (int d = 0; d < WIDTH; ++d) out[(size_t)line * WIDTH + d] = sum[d] / total;
    sums[line] = most + log2f(total);
  }
  free(scores);
}

static void twin(void) {
  static float *q, *k, *v;
  if (q == NULL) q = widened(0), k = widened(1), v = widened(2);
  int length = INT(5);
  attention(q, k, v, FLOATS(3), FLOATS(4), arguments[0].bytes / 2 / WIDTH / length, length, FLOAT(6));
}
