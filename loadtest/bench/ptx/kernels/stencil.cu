// Five points in two dimensions, one output per thread; the border stays as it is.
extern "C" __global__ void stencil(const float* in, float* out, int width, int height, float centre, float around) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int at = y * width + x;
  out[at] = centre * in[at] + around * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}
