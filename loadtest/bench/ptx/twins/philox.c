#include <stdint.h>
#include "twin.h"

static void philox(float *uniforms, uint32_t seed, int n) {
  for (int i = 0; i < n; ++i) {
    uint32_t x = i, y = i >> 16, z = 7, w = 0, key0 = seed, key1 = 5;
    for (int round = 0; round < 10; ++round) {
      if (round > 0) {
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
      }
      uint64_t first = 0xD2511F53ull * x, second = 0xCD9E8D57ull * z;
      x = (uint32_t)(second >> 32) ^ y ^ key0;
      y = (uint32_t)second;
      z = (uint32_t)(first >> 32) ^ w ^ key1;
      w = (uint32_t)first;
    }
    uniforms[4 * i] = (x >> 8) * 0x1p-24f;
    uniforms[4 * i + 1] = (y >> 8) * 0x1p-24f;
    uniforms[4 * i + 2] = (z >> 8) * 0x1p-24f;
    uniforms[4 * i + 3] = (w >> 8) * 0x1p-24f;
  }
}

static void twin(void) {
  philox(FLOATS(0), INT(1), INT(2));
}
