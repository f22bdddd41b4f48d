// Sobol points in three dimensions from direction numbers in constant memory, in Gray code order with strides.
__constant__ unsigned directions[3][32] = {
    {0x80000000, 0x40000000, 0x20000000, 0x10000000, 0x08000000, 0x04000000, 0x02000000, 0x01000000,
     0x00800000, 0x00400000, 0x00200000, 0x00100000, 0x00080000, 0x00040000, 0x00020000, 0x00010000,
     0x00008000, 0x00004000, 0x00002000, 0x00001000, 0x00000800, 0x00000400, 0x00000200, 0x00000100,
     0x00000080, 0x00000040, 0x00000020, 0x00000010, 0x00000008, 0x00000004, 0x00000002, 0x00000001}};
__device__ int polynomials[2][4] = {{1, 0, 1, 0}, {2, 1, 1, 3}};

extern "C" __global__ void makeDirections(unsigned* table) {
  int d = threadIdx.x;
  if (d > 2) return;
  unsigned v[32];
  if (d == 0) {
    for (int i = 0; i < 32; i++) v[i] = directions[0][i];
  } else {
    int degree = polynomials[d - 1][0], a = polynomials[d - 1][1];
    for (int i = 0; i < 32; i++) {
      if (i < degree) {
        v[i] = (unsigned)polynomials[d - 1][2 + i] << (31 - i);
      } else {
        v[i] = v[i - degree] ^ (v[i - degree] >> degree);
        for (int k = 1; k < degree; k++)
          if ((a >> (degree - 1 - k)) & 1) v[i] ^= v[i - k];
      }
    }
  }
  for (int i = 0; i < 32; i++) table[d * 32 + i] = v[i];
}

extern "C" __global__ void sobol(const unsigned* table, unsigned* points, int n) {
  __shared__ unsigned v[32];
  int d = blockIdx.y;
  if (threadIdx.x < 32) v[threadIdx.x] = table[d * 32 + threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned gray = i ^ (i >> 1), x = 0;
    while (gray != 0) {
      int bit = __ffs(gray) - 1;
      x ^= v[bit];
      gray &= gray - 1;
    }
    points[d * n + i] = x;
  }
}
