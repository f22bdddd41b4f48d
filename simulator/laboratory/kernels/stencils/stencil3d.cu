// 7 points in three dimensions, marching along z with the planes in registers and the middle one in shared memory.
extern "C" __global__ void stencil3d(const double* __restrict__ in, double* __restrict__ out, int nx, int ny, int nz) {
  __shared__ double plane[6][10];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  bool in2d = x < nx && y < ny, inner = x > 0 && y > 0 && x < nx - 1 && y < ny - 1;
  size_t stride = (size_t)nx * ny, at = (size_t)y * nx + x;
  double below = 0.0, centre = in2d ? in[at] : 0.0, above = in2d && nz > 1 ? in[at + stride] : 0.0;
  for (int z = 0; z < nz; z++) {
    plane[ty][tx] = centre;
    if (inner) {
      if (threadIdx.x == 0) plane[ty][0] = in[at + z * stride - 1];
      if (threadIdx.x == 7) plane[ty][9] = in[at + z * stride + 1];
      if (threadIdx.y == 0) plane[0][tx] = in[at + z * stride - nx];
      if (threadIdx.y == 3) plane[5][tx] = in[at + z * stride + nx];
    }
    __syncthreads();
    if (in2d) {
      double v = centre;
      if (inner && z > 0 && z < nz - 1) {
        double sum = __dadd_rn(__dadd_rn(plane[ty][tx - 1], plane[ty][tx + 1]),
                               __dadd_rn(plane[ty - 1][tx], plane[ty + 1][tx]));
        sum = __dadd_rn(sum, __dadd_rn(below, above));
        v = __dadd_rn(__dmul_rn(0.4, centre), __dmul_rn(0.1, sum));
      }
      out[at + z * stride] = v;
    }
    below = centre;
    centre = above;
    above = in2d && z + 2 < nz ? in[at + (z + 2) * stride] : 0.0;
    __syncthreads();
  }
}
