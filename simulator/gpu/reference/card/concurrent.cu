// Kernels that note when and where each of their blocks ran: stamps[3 b] its start, [3 b + 1] its end (ns of %globaltimer), [3 b + 2] its multiprocessor.
typedef unsigned long long u64;
__device__ __forceinline__ u64 now() { u64 t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }
__device__ __forceinline__ void begin(u64* stamps) {
  if (threadIdx.x == 0) { unsigned sm; asm volatile("mov.u32 %0, %%smid;" : "=r"(sm)); stamps[3 * blockIdx.x] = now(); stamps[3 * blockIdx.x + 2] = sm; }
}
__device__ __forceinline__ void end(u64* stamps) { __syncthreads(); if (threadIdx.x == 0) stamps[3 * blockIdx.x + 1] = now(); }
// Multiply-adds, eight chains a thread: the units are the limit.
extern "C" __global__ void compute(float* out, u64* stamps, int rounds) {
  begin(stamps);
  float a[8];
#pragma unroll
  for (int k = 0; k < 8; k++) a[k] = threadIdx.x + k;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int k = 0; k < 8; k++) a[k] = a[k] * 0.999f + 1.f;
  }
  float s = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) s += a[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
  end(stamps);
}
extern "C" __global__ void compute_double(double* out, u64* stamps, int rounds) {
  begin(stamps);
  double a[4];
#pragma unroll
  for (int k = 0; k < 4; k++) a[k] = threadIdx.x + k;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int k = 0; k < 4; k++) a[k] = a[k] * 0.999 + 1.;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a[0] + a[1] + a[2] + a[3];
  end(stamps);
}
extern "C" __global__ void compute_special(float* out, u64* stamps, int rounds) {
  begin(stamps);
  float a[4];
#pragma unroll
  for (int k = 0; k < 4; k++) a[k] = (threadIdx.x + k) * 1e-3f;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int j = 0; j < 2; j++)
#pragma unroll
      for (int k = 0; k < 4; k++) asm volatile("sin.approx.f32 %0, %0;" : "+f"(a[k]));
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a[0] + a[1] + a[2] + a[3];
  end(stamps);
}
// One dependent chain: latency is the limit.
extern "C" __global__ void chain(float* out, u64* stamps, int rounds) {
  begin(stamps);
  float a = threadIdx.x;
#pragma unroll 1
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int k = 0; k < 16; k++) a = a * 0.999f + 1.f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
  end(stamps);
}
// Reads n float4 `rounds` times, every round from another place on.
extern "C" __global__ void read(const float4* in, float* out, u64* stamps, int n, int rounds) {
  begin(stamps);
  float s = 0;
  int stride = gridDim.x * blockDim.x;
  for (int r = 0; r < rounds; r++)
    for (int i = (blockIdx.x + r * 37) % gridDim.x * blockDim.x + threadIdx.x; i < n; i += 4 * stride) {
      float4 v[4];
#pragma unroll
      for (int k = 0; k < 4; k++) v[k] = i + k * stride < n ? in[i + k * stride] : make_float4(0, 0, 0, 0);
#pragma unroll
      for (int k = 0; k < 4; k++) s += v[k].x + v[k].y + v[k].z + v[k].w;
    }
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
  end(stamps);
}
extern "C" __global__ void copy(const float4* in, float4* out, u64* stamps, int n) {
  begin(stamps);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
  end(stamps);
}
extern "C" __global__ void shared_walk(float* out, u64* stamps, int words, int rounds) {
  extern __shared__ float s[];
  begin(stamps);
  for (int i = threadIdx.x; i < words; i += blockDim.x) s[i] = i;
  __syncthreads();
  float a = 0;
  int at = threadIdx.x;
  for (int r = 0; r < rounds; r++) { a += s[at]; at += 257; if (at >= words) at -= words; }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
  end(stamps);
}
extern "C" __global__ void atomics(unsigned* counters, unsigned* out, u64* stamps, int mask, int rounds) {
  begin(stamps);
  unsigned h = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
  unsigned a = 0;
  for (int r = 0; r < rounds; r++) { h ^= h >> 15; h *= 0x85ebca6bu; a += atomicAdd(&counters[h >> 8 & mask], h & 1); }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
  end(stamps);
}
// Blocks of unequal length: block b runs (b * 37 % 16 + 1) times `rounds`.
extern "C" __global__ void uneven(float* out, u64* stamps, int rounds) {
  begin(stamps);
  float a = threadIdx.x;
  int mine = rounds * (blockIdx.x * 37 % 16 + 1);
#pragma unroll 1
  for (int r = 0; r < mine; r++) {
#pragma unroll
    for (int k = 0; k < 8; k++) a = a * 0.999f + 1.f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
  end(stamps);
}
// For `ns`, notes every stop of more than `least` ns: what another process ran meanwhile.
extern "C" __global__ void stops(u64* out, int room, u64 ns, u64 least) {
  u64 first = now(), last = first;
  int found = 0;
  while (last - first < ns) {
    u64 t = now();
    if (t - last > least && found < room) { out[2 + 2 * found] = last; out[3 + 2 * found] = t; found++; }
    last = t;
  }
  out[0] = found; out[1] = first;
}
// The first `room` different readings of the timer.
extern "C" __global__ void timer_steps(u64* out, int room) { u64 last = now(); for (int k = 0; k < room;) { u64 t = now(); if (t != last) { out[k++] = t - last; last = t; } } }
