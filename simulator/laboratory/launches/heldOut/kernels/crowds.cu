// Threads that meet: lists, tables, barriers, tickets, blocks that hand on, and words that lie far apart.
typedef unsigned u32;
typedef unsigned long long u64;
#define AT int i = blockIdx.x * blockDim.x + threadIdx.x
__device__ u32 scramble(u32 k) { k ^= k >> 16; k *= 0x7feb352du; k ^= k >> 15; k *= 0x846ca68bu; return k ^ (k >> 16); }
// A list that all threads append to, and one that a warp appends to at once.
extern "C" __global__ void append_each(const u32* x, u32* list, u32* count, int n) {
  AT;
  if (i < n && (x[i] & 3) != 0) list[atomicAdd(count, 1u) & (n - 1)] = x[i];
}
extern "C" __global__ void append_warp(const u32* x, u32* list, u32* count, int n) {
  AT;
  bool keep = i < n && (x[i] & 3) != 0;
  u32 all = __ballot_sync(0xffffffffu, keep), lane = threadIdx.x & 31, at = 0;
  if (lane == 0) at = atomicAdd(count, __popc(all));
  at = __shfl_sync(0xffffffffu, at, 0) + __popc(all & ((1u << lane) - 1));
  if (keep) list[at & (n - 1)] = x[i];
}
// Buckets with a head each.
extern "C" __global__ void fill_buckets(const u32* x, u32* heads, u32* out, int n, u32 buckets, u32 room) {
  AT;
  if (i >= n) return;
  u32 b = x[i] % buckets, at = atomicAdd(&heads[b], 1u) & (room - 1);
  out[b * room + at] = x[i];
}
// Keys of 8 bytes into a table of open addresses.
extern "C" __global__ void insert_u64(const u32* x, u64* table, int n, u32 mask) {
  AT;
  if (i >= n) return;
  u64 k = ((u64)x[i] << 20) + 1;
  u32 at = scramble(x[i]) & mask;
  while (true) {
    u64 old = atomicCAS(&table[at], 0ull, k);
    if (old == 0 || old == k) break;
    at = (at + 1) & mask;
  }
}
// Exclusive or of random words of a large table.
extern "C" __global__ void xor_table(u32* table, int n, u32 mask, int rounds) {
  AT;
  if (i >= n) return;
  u32 k = i * 2654435761u + 1;
  for (int r = 0; r < rounds; r++) { k = k * 1664525u + 1013904223u; atomicXor(&table[(k >> 4) & mask], k); }
}
// A barrier in two steps: blocks of a group, then groups.
extern "C" __global__ void tree_barrier(u32* state, float* out, int rounds, int group) {
  volatile u32* turn = state;
  u32 mine = blockIdx.x / group, groups = (gridDim.x + group - 1) / group;
  u32 size = min((int)(gridDim.x - mine * group), group);
  float v = threadIdx.x;
  for (int r = 0; r < rounds; r++) {
    v = v * 0.5f + blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      u32 now = *turn;
      __threadfence();
      if (atomicAdd(&state[64 + 32 * mine], 1u) % size == size - 1 && atomicAdd(&state[32], 1u) % groups == groups - 1) {
        __threadfence();
        atomicAdd(state, 1u);
      } else while (*turn == now) {}
      __threadfence();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}
// Pairs of blocks hand a buffer to and fro.
extern "C" __global__ void to_and_fro(u32* flags, float* buffer, int rounds) {
  u32 pair = blockIdx.x / 2, side = blockIdx.x & 1;
  volatile u32* flag = flags + pair * 32;
  float* own = buffer + pair * 256 + threadIdx.x;
  u32 base = *flag & ~1u;
  __syncthreads();
  for (int r = 0; r < rounds; r++) {
    if (threadIdx.x == 0) { while ((*flag & 1u) != side) {} __threadfence(); }
    __syncthreads();
    *own = *own * 0.5f + side;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); *flag = *flag + 1; }
    __syncthreads();
  }
  if (base == 0xfffffffeu) buffer[0] = 1;
}
// Tickets: who has the next number goes next.
extern "C" __global__ void in_turn(u32* desk, float* sum, int rounds) {
  volatile u32* serving = desk + 32;
  if (threadIdx.x != 0) return;
  for (int r = 0; r < rounds; r++) {
    u32 mine = atomicAdd(desk, 1u);
    while (*serving != mine) {}
    __threadfence();
    *sum = *sum + 1;
    __threadfence();
    *serving = mine + 1;
  }
}
// Places with their bits turned round, and along a curve through a volume.
extern "C" __global__ void turned_read(const float* in, float* out, int bits) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[__brev(i) >> (32 - bits)];
}
extern "C" __global__ void turned_write(const float* in, float* out, int bits) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  out[__brev(i) >> (32 - bits)] = in[i];
}
__device__ u32 third(u32 v) { v &= 1023; v = (v | v << 16) & 0x30000ff; v = (v | v << 8) & 0x300f00f; v = (v | v << 4) & 0x30c30c3; return (v | v << 2) & 0x9249249; }
extern "C" __global__ void curve_read(const float* in, float* out, int bits) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x, mask = (1u << bits) - 1;
  out[i] = in[third(i & mask) | third((i >> bits) & mask) << 1 | third(i >> (2 * bits)) << 2];
}
// Each thread walks a row of its own.
extern "C" __global__ void own_rows(const float* in, float* out, int length, int pitch) {
  AT;
  float s = 0;
  for (int k = 0; k < length; k++) s += in[(long long)i * pitch + k];
  out[i] = s;
}
