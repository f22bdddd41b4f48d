// Life on a torus, 32 cells a word: neighbours are counted for all of them at once with bit-sliced adders.
__device__ unsigned west(const unsigned* row, int w, int words) { return (row[w] << 1) | (row[(w + words - 1) % words] >> 31); }
__device__ unsigned east(const unsigned* row, int w, int words) { return __funnelshift_r(row[w], row[(w + 1) % words], 1); }

extern "C" __global__ void gameOfLife(const unsigned* in, unsigned* out, unsigned* alive, int words, int height) {
  int w = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (w >= words) return;
  const unsigned* rows[3] = {in + (y + height - 1) % height * words, in + y * words, in + (y + 1) % height * words};
  unsigned ones = 0, twos = 0, fours = 0;
  for (int r = 0; r < 3; r++) {
    unsigned cells[3] = {west(rows[r], w, words), rows[r][w], east(rows[r], w, words)};
    for (int c = 0; c < 3; c++) {
      if (r == 1 && c == 1) continue;
      unsigned carry = ones & cells[c];
      ones ^= cells[c];
      fours |= twos & carry;
      twos ^= carry;
    }
  }
  unsigned next = twos & ~fours & (ones | rows[1][w]);
  out[y * words + w] = next;
  atomicAdd(alive, __popc(next));
}
