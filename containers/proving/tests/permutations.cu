extern "C" __global__ void morton(float* out, const float* in) { // 32x32 z-order
  unsigned x = threadIdx.x, y = threadIdx.y;
  unsigned a = x, b = y;
  a = (a | (a << 8)) & 0x00FF00FF; a = (a | (a << 4)) & 0x0F0F0F0F; a = (a | (a << 2)) & 0x33333333; a = (a | (a << 1)) & 0x55555555;
  b = (b | (b << 8)) & 0x00FF00FF; b = (b | (b << 4)) & 0x0F0F0F0F; b = (b | (b << 2)) & 0x33333333; b = (b | (b << 1)) & 0x55555555;
  if (x < 32 && y < 32) out[a | (b << 1)] = in[y * 32 + x];
}
extern "C" __global__ void swizzle(float* out, const float* in) { // 16 rows of 24: xor within 8
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 384) { unsigned r = i / 24, c = i % 24; out[r * 24 + (c ^ (r & 7))] = in[i]; }
}
extern "C" __global__ void swizzleN(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i ^ ((i >> 3) & 7)] = in[i];
}
extern "C" __global__ void pairs(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i ^ 1] + in[i];
}
extern "C" __global__ void gray(float* out, const float* in) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 256) out[i ^ (i >> 1)] = in[i];
}
extern "C" __global__ void bitrev(float* out, const float* in) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 256) out[__brev(i) >> 24] = in[i];
}
extern "C" __global__ void byteSwap(float* out, const float* in) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 65536) out[__byte_perm(i, 0, 0x4401)] = in[i];
}
extern "C" __global__ void hashRow(float* out, const float* in) { // (i * 5) mod 13 in rows
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 130) out[(i / 13) * 13 + (i * 5) % 13] = in[i];
}
extern "C" __global__ void zigzag(float* out, const float* in) { // serpentine rows of 20
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 400) { unsigned r = i / 20, c = i % 20; out[r * 20 + ((r & 1) ? 19 - c : c)] = in[i]; }
}
extern "C" __global__ void diagonal(float* out, const float* in) { // (x + y) mod 24
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 576) { unsigned r = i / 24, c = i % 24; out[r * 24 + (r + c) % 24] = in[i]; }
}
extern "C" __global__ void interleave(float* out, const float* in) { // 8 banks: low 3 bits swapped with next 3, of 320
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 320) out[(i & ~63u) | ((i & 7) << 3) | ((i >> 3) & 7)] = in[i];
}
extern "C" __global__ void popcountRow(float* out, const float* in) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 256) out[__popc(i)] = in[i];
}
extern "C" __global__ void interleaveN(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[(i & ~63) | ((i & 7) << 3) | ((i >> 3) & 7)] = in[i];
}
