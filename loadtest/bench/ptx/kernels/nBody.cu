// Gravity of all on all in f32 with softening, a tile of bodies at a time in shared memory, by the unit's reciprocal root.
extern "C" __global__ void nBody(const float4* bodies, float* accelerations, int n, float softening) {
  __shared__ float4 tile[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float4 me = bodies[i];
  float ax = 0.f, ay = 0.f, az = 0.f;
  for (int first = 0; first < n; first += 256) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 256; j++) {
      float4 other = tile[j];
      float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      float pull = other.w * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  accelerations[i] = ax;
  accelerations[i + n] = ay;
  accelerations[i + 2 * n] = az;
}
