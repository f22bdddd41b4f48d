// nvcc: -fmad=false
// Gravity of all on all in f64 with softening, tiles of bodies in shared memory; IEEE square roots and divisions.
extern "C" __global__ void nBody(const double4* bodies, double3* accelerations, int n) {
  __shared__ double4 tile[32];
  int i = blockIdx.x * 32 + threadIdx.x;
  double4 me = i < n ? bodies[i] : make_double4(0, 0, 0, 0);
  double ax = 0.0, ay = 0.0, az = 0.0;
  for (int first = 0; first < n; first += 32) {
    tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : make_double4(0, 0, 0, 0);
    __syncthreads();
    for (int j = 0; j < 32; j++) {
      double dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      double square = dx * dx + dy * dy + dz * dz + 0.01;
      double pull = tile[j].w / (square * sqrt(square));
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  if (i < n) accelerations[i] = make_double3(ax, ay, az);
}
