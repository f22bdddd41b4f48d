// Open addressing with linear probing: keys claimed by a 32-bit compare-and-swap, values added up, then looked up.
#define EMPTY 0xffffffffu

__device__ __forceinline__ unsigned slotOf(unsigned key, unsigned mask) {
  key ^= key >> 16;
  key *= 0x7feb352du;
  key ^= key >> 15;
  return key & mask;
}

extern "C" __global__ void insertKeys(const unsigned* keys, unsigned* table, unsigned* counts, unsigned mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i], slot = slotOf(key, mask);
  for (;;) {
    unsigned old = atomicCAS(&table[slot], EMPTY, key);
    if (old == EMPTY || old == key) break;
    slot = (slot + 1) & mask;
  }
  atomicAdd(&counts[slot], 1u);
}

extern "C" __global__ void lookUp(const unsigned* queries, const unsigned* table, const unsigned* counts, unsigned* found,
                                  unsigned mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = slotOf(queries[i], mask), key;
  while ((key = table[slot]) != EMPTY && key != queries[i]) slot = (slot + 1) & mask;
  found[i] = key == EMPTY ? 0 : counts[slot];
}
