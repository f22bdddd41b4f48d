/* OpenCL C: local memory as an argument, vectors, barriers, atomics, a switch and a private array. */
typedef struct {
  float4 p;
  short q[3];
  char c;
} Item;

constant float weights[5] = {0.125f, 0.25f, 0.25f, 0.25f, 0.125f};

kernel void blur(global const float *restrict in, global float *restrict out, int n, local float *tile) {
  int i = get_global_id(0), l = get_local_id(0);
  tile[l] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  float s = 0;
  for (int k = -2; k <= 2; k++) s += weights[k + 2] * tile[clamp(l + k, 0, (int)get_local_size(0) - 1)];
  if (i < n) out[i] = s;
}

static int weigh(Item item, int n) { return (int)item.p.w + item.q[1] * n + item.c; }

kernel void mix(global const Item *items, global int4 *out, global uchar4 *bytes, global int *counts, Item v, char4 c) {
  int i = get_global_id(0);
  int picks[8];
  for (int k = 0; k < 8; k++) picks[k] = (i * k) ^ c.z;
  int w = weigh(items[i], i) + weigh(v, picks[i & 7]);
  switch (w & 7) {
  case 0: w += 11; break;
  case 1: w ^= 0x55; break;
  case 2: w = rotate(w, 5); break;
  case 3: w = -w; break;
  case 5: w = popcount(w); break;
  default: w -= c.x;
  }
  out[i] = (int4)(w, mul_hi(w, 1 << 20), abs_diff(w, i), max(w, i)).wzyx;
  bytes[i] = add_sat(bytes[i], (uchar4)(200, 100, 50, 1)).yxwz;
  atomic_add(counts, w & 3);
  atomic_max(counts + 1, i);
}
