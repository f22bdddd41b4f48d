// Which of two threads' stores to shared memory stays is open: where the kernel then stores must not depend on it.
#define KERNEL extern "C" __global__ void

KERNEL racesOnOne(int* out) {
  __shared__ int last;
  last = threadIdx.x;
  __syncthreads();
  out[last] = 1;
}

KERNEL racesOnCondition(const int* in, int* out) {
  __shared__ int last;
  if (in[threadIdx.x] > 0) last = threadIdx.x;
  __syncthreads();
  if (last == (int)threadIdx.x) out[last] = 1;
}

KERNEL racesByNeighbours(const int* in, int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = in[threadIdx.x] & 31;
  tile[threadIdx.x + 1] = 3;
  __syncthreads();
  out[tile[5]] = 1;
}

KERNEL racesOfTwo(const int* in, int* out) {
  __shared__ int one;
  if (threadIdx.x == 0) one = in[0] & 31;
  if (threadIdx.x == 1) one = in[1] & 31;
  __syncthreads();
  out[one] = 1;
}

KERNEL racesByStride(const int* in, int* out) {
  __shared__ int tile[256];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i] = (in[i] + threadIdx.x) & 31;
  __syncthreads();
  out[tile[in[0] & 255]] = 1;
}

KERNEL racesByRows(const int* in, int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x & 31] = threadIdx.y;
  __syncthreads();
  out[tile[0]] = 1;
}

KERNEL sameForAll(const int* in, int* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (in[threadIdx.x] > 5) flag = 1;
  __syncthreads();
  if (flag) out[threadIdx.x] = 1;
}

KERNEL eachItsOwn(const int* in, int* out) {
  __shared__ int tile[256], one;
  for (int i = threadIdx.x; i < 256; i += blockDim.x) tile[i] = in[i] & 31;
  if (threadIdx.x == 3) one = in[5] & 31;
  __syncthreads();
  out[(tile[5] + one) & 63] = 1;
}

KERNEL eachOfSeveralRows(const int* in, int* out) {
  __shared__ int tile[256];
  tile[threadIdx.y * blockDim.x + threadIdx.x] = in[threadIdx.x] & 31;
  __syncthreads();
  out[tile[7] & 63] = 1;
}

// Of blocks of one row; with several, first lanes of a warp's rows meet.
KERNEL firstLanes(const int* in, int* out, int n) {
  __shared__ int warps[32];
  const unsigned votes = __ballot_sync(~0u, (int)threadIdx.x < n);
  if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = __popc(votes);
  __syncthreads();
  out[warps[0] & 63] = in[0];
}
