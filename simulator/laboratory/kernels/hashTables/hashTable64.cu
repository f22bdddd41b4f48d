// Key and value in one 64-bit word: inserting keeps the smallest value of a key by compare-and-swap loops; double hashing.
typedef unsigned long long u64;

extern "C" __global__ void keepSmallest(const unsigned* keys, const unsigned* values, u64* table, unsigned mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i];
  u64 mine = ((u64)key << 32) | values[i];
  unsigned slot = (key * 2654435761u >> 7) & mask, step = ((key >> 3) | 1u) & mask;
  while (true) {
    u64 seen = atomicCAS(&table[slot], 0ull, mine);
    if (seen == 0) return;
    while ((unsigned)(seen >> 32) == key && mine < seen) {
      u64 before = atomicCAS(&table[slot], seen, mine);
      if (before == seen) return;
      seen = before;
    }
    if ((unsigned)(seen >> 32) == key) return;
    slot = (slot + step) & mask;
  }
}

extern "C" __global__ void exportTable(const u64* table, u64* out, unsigned* count, unsigned slots) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < slots && table[i] != 0) out[atomicInc(count, 0xffffffffu)] = table[i];
}
