// Reads 32 x 32 values in the order of a Z-curve. How far that reaches is more than intervals can tell.
extern "C" __global__ void morton(const float* in, float* out) {
  unsigned x = threadIdx.x, y = threadIdx.y;
  unsigned a = x, b = y;
  a = (a | (a << 8)) & 0x00FF00FF; a = (a | (a << 4)) & 0x0F0F0F0F; a = (a | (a << 2)) & 0x33333333; a = (a | (a << 1)) & 0x55555555;
  b = (b | (b << 8)) & 0x00FF00FF; b = (b | (b << 4)) & 0x0F0F0F0F; b = (b | (b << 2)) & 0x33333333; b = (b | (b << 1)) & 0x55555555;
  if (x < 32 && y < 32) out[y * 32 + x] = in[a | (b << 1)];
}
