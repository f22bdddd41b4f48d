// Pixels of four bytes turned round in a surface; edges by each mode; counts by another.
extern "C" __global__ void flipRows(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  uchar4 p;
  surf2Dread(&p, from, (width - 1 - x) * (int)sizeof(uchar4), y);
  p.w = 255 - p.x;
  surf2Dwrite(p, to, x * (int)sizeof(uchar4), y);
}
extern "C" __global__ void readEdges(cudaSurfaceObject_t from, uchar4 *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  uchar4 zero, near;
  surf2Dread(&zero, from, (x - 3) * (int)sizeof(uchar4), y - 2, cudaBoundaryModeZero);
  surf2Dread(&near, from, (x - 3) * (int)sizeof(uchar4), y - 2, cudaBoundaryModeClamp);
  int i = (y * gridDim.x * blockDim.x + x) * 2;
  out[i] = zero, out[i + 1] = near;
}
extern "C" __global__ void writeEdges(cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  surf2Dwrite(make_uchar4(x, y, x + y, 1), to, (x - 2) * (int)sizeof(uchar4), y - 1, cudaBoundaryModeZero);
}
extern "C" __global__ void countInSurface(cudaSurfaceObject_t bins, const unsigned char *values, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  asm volatile("sured.b.1d.add.u32.trap [%0, {%1}], %2;" ::"l"(bins), "r"(values[i] % 16 * 4), "r"(1) : "memory");
}
extern "C" __global__ void askObjects(cudaTextureObject_t texture, cudaSurfaceObject_t surface, unsigned *out) {
  unsigned w, h, type, order, sw, sh;
  asm("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(texture));
  asm("txq.height.b32 %0, [%1];" : "=r"(h) : "l"(texture));
  asm("txq.channel_data_type.b32 %0, [%1];" : "=r"(type) : "l"(texture));
  asm("txq.channel_order.b32 %0, [%1];" : "=r"(order) : "l"(texture));
  asm("suq.width.b32 %0, [%1];" : "=r"(sw) : "l"(surface));
  asm("suq.height.b32 %0, [%1];" : "=r"(sh) : "l"(surface));
  unsigned kinds;
  asm("{.reg .pred %%q, %%s; istypep.texref %%q, %1; istypep.surfref %%s, %2; and.pred %%q, %%q, %%s; selp.u32 %0, 1, 0, %%q;}" : "=r"(kinds) : "l"(texture), "l"(surface));
  out[0] = w, out[1] = h, out[2] = type, out[3] = order, out[4] = sw, out[5] = sh, out[6] = kinds;
}
