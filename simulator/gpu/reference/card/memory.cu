// Latencies, widths and bandwidths of the memories, atomics, barriers and launches.
//   nvcc -O3 -arch=sm_90 -cudart static memory.cu -o memory && ./memory > h200-memory.csv
// One row a figure: group, what, parameters as name=value pairs, value, unit.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s line %d: %s\n", #x, __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)
typedef unsigned u32; typedef unsigned long long u64;
char* big; size_t bigBytes; long long* result; cudaEvent_t e0, e1;
double resultOf(int k = 0) { long long v; CHECK(cudaMemcpy(&v, result + k, 8, cudaMemcpyDeviceToHost)); return (double)v; }
void row(const char* group, const char* what, const std::string& parameters, double value, const char* unit) { printf("%s,\"%s\",\"%s\",%.6g,%s\n", group, what, parameters.c_str(), value, unit); fflush(stdout); }
std::string p(const char* name, double v) { char t[80]; snprintf(t, 80, "%s=%.10g", name, v); return t; }
template <class L> double medianUs(L launch, int repeats = 5) {
  launch(); launch();
  std::vector<float> all;
  for (int k = 0; k < repeats; k++) { float ms; CHECK(cudaEventRecord(e0)); launch(); CHECK(cudaEventRecord(e1)); CHECK(cudaEventSynchronize(e1)); CHECK(cudaEventElapsedTime(&ms, e0, e1)); all.push_back(ms * 1000); }
  CHECK(cudaGetLastError());
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}
__device__ __forceinline__ u32 fold(unsigned char v) { return v; }
__device__ __forceinline__ u32 fold(char v) { return v; }
__device__ __forceinline__ u32 fold(short v) { return v; }
__device__ __forceinline__ u32 fold(float v) { return __float_as_uint(v); }
__device__ __forceinline__ u32 fold(float2 v) { return fold(v.x) ^ fold(v.y); }
__device__ __forceinline__ u32 fold(float4 v) { return fold(v.x) ^ fold(v.y) ^ fold(v.z) ^ fold(v.w); }
// --- latency of dependent loads at random lines of a window; memory holds zeros, so the loaded value only makes the dependence.
template <int KIND> __global__ void randomChase(const u32* a, u64 lines, int steps, int strideWords, long long* out, u32 seed) {
  u64 s = seed * 2654435761ull + 12345; u32 v = 0; 
  long long from = clock64();
  for (int k = 0; k < steps; k++) {
    s = s * 6364136223846793005ull + 1442695040888963407ull + v;
    u64 at = __umul64hi(s, lines) * strideWords;
    if (KIND == 0) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(a + at));
    else asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(a + at));
  }
  long long to = clock64();
  if (v != 77) *out = to - from;
}
__global__ void touch(const uint4* a, size_t n, long long* out) { uint4 s = {0, 0, 0, 0}; for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) { uint4 v = a[i]; s.x ^= v.x ^ v.y ^ v.z ^ v.w; } if (s.x == 12345) *out = 1; }
__global__ void lineLatencies(const u32* a, int lines, int strideWords, u32* out, u32* sm) {
  u32 v = 0;
  for (int round = 0; round < 3; round++)
    for (int k = 0; k < lines; k++) {
      const u32* at = a + (size_t)k * strideWords + v;
      long long from = clock64();
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
      if (v) return;
      long long to = clock64();
      u32 t = (u32)(to - from);
      u32 old = round == 0 ? 0xffffffffu : out[(size_t)blockIdx.x * lines + k];
      out[(size_t)blockIdx.x * lines + k] = t < old ? t : old;
    }
  asm volatile("mov.u32 %0, %%smid;" : "=r"(v)); sm[blockIdx.x] = v;
}
// --- L1, shared and local chases
__global__ void sharedChase(int steps, long long* out) { __shared__ u32 s[1024]; for (int k = threadIdx.x; k < 1024; k += 32) s[k] = (k * 37 + 11) & 1023; __syncthreads(); u32 v = threadIdx.x; long long from = clock64(); for (int k = 0; k < steps; k++) v = s[v]; long long to = clock64(); if (v != 77777) *out = to - from; }
__global__ void fillChase(u32* a, u32 n, u32 step) { for (u32 k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) a[k] = (k + step) % n; }
__global__ void l1Chase(const u32* a, int steps, long long* out) { for (int w = 0; w < 2; w++) { u32 v = 0; long long from = clock64(); for (int k = 0; k < steps; k++) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(a + v)); long long to = clock64(); if (v != 77777777) *out = to - from; } }
// --- bandwidth of loads and stores by width inside one SM (L1, shared) and of the L2
// Memory holds zeros, but the assembler does not know: every load's address hangs on the load before it in its chain of eight.
template <class T> __device__ T valueOf(u32 v);
template <> __device__ char valueOf<char>(u32 v) { return (char)v; }
template <> __device__ short valueOf<short>(u32 v) { return (short)v; }
template <> __device__ float valueOf<float>(u32 v) { return __uint_as_float(v & 0xff); }
template <> __device__ float2 valueOf<float2>(u32 v) { return make_float2(__uint_as_float(v & 0xff), 0); }
template <> __device__ float4 valueOf<float4>(u32 v) { return make_float4(__uint_as_float(v & 0xff), 0, 0, 0); }
constexpr int WIDTH_BYTES = 131072;
template <class T, int WHERE> __global__ void __launch_bounds__(1024) widths(T* a, int rounds, long long* out) {
  extern __shared__ char raw[]; T* s = (T*)raw;
  constexpr u32 N = WIDTH_BYTES / sizeof(T);
  if (WHERE < 2) a += (size_t)blockIdx.x * N;
  if (WHERE >= 2) for (u32 k = threadIdx.x; k < WIDTH_BYTES / 4; k += blockDim.x) ((u32*)raw)[k] = 0;
  __shared__ long long first, last;
  if (threadIdx.x == 0) { first = 0x7fffffffffffffffll; last = 0; }
  u32 at[8];
#pragma unroll
  for (int k = 0; k < 8; k++) at[k] = (threadIdx.x + k * 1024) % N;
  u32 acc = 0;
  for (int warm = 0; warm < 2; warm++) {
    __syncthreads();
    if (warm == 1 && threadIdx.x == 0) { first = 0x7fffffffffffffffll; last = 0; }
    __syncthreads();
    long long from = clock64();
    for (int r = 0; r < rounds; r++) {
#pragma unroll
      for (int k = 0; k < 8; k++) {
        if (WHERE == 0) at[k] ^= fold(a[at[k]]);
        if (WHERE == 1) a[at[k]] = valueOf<T>(r + k);
        if (WHERE == 2) at[k] ^= fold(s[at[k]]);
        if (WHERE == 3) { s[at[k]] = valueOf<T>(r + k); asm volatile("" : "+r"(at[k])); }
      }
      if (WHERE & 1) asm volatile("" ::: "memory");
    }
    long long to = clock64();
    atomicMin(&first, from); atomicMax(&last, to);
  }
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = last - first;
#pragma unroll
  for (int k = 0; k < 8; k++) acc += at[k];
  if (acc == 0x7fffffff) out[1] = acc;
}
template <class T, int WHERE> void width(const char* what) {
  for (int threads : {128, 1024}) {
    int rounds = 256, shared = WHERE >= 2 ? WIDTH_BYTES : 0;
    CHECK(cudaMemset(big, 0, 132ull * WIDTH_BYTES)); CHECK(cudaFuncSetAttribute(widths<T, WHERE>, cudaFuncAttributeMaxDynamicSharedMemorySize, WIDTH_BYTES));
    widths<T, WHERE><<<132, threads, shared>>>((T*)big, rounds, result);
    CHECK(cudaGetLastError());
    double c = resultOf();
    row("width", what, p("bytes", sizeof(T)) + " " + p("threads", threads), threads / 32 * 8.0 * rounds / c, "warp instructions a cycle and SM");
    row("width", what, p("bytes", sizeof(T)) + " " + p("threads", threads), threads * 8.0 * rounds * sizeof(T) / c, "bytes a cycle and SM");
  }
}
// One address a round for eight loads at constant offsets: little beside the loads to issue.
template <class T> __global__ void __launch_bounds__(1024) offsets(const T* a, int rounds, long long* out) {
  __shared__ long long first, last;
  if (threadIdx.x == 0) { first = 0x7fffffffffffffffll; last = 0; }
  const T* at = a + (size_t)blockIdx.x * (WIDTH_BYTES / sizeof(T)) + threadIdx.x;
  u32 acc = 0;
  for (int warm = 0; warm < 2; warm++) {
    __syncthreads();
    if (warm == 1 && threadIdx.x == 0) { first = 0x7fffffffffffffffll; last = 0; }
    __syncthreads();
    long long from = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
      u32 x = 0;
#pragma unroll
      for (int k = 0; k < 8; k++) x |= fold(at[k * (WIDTH_BYTES / sizeof(T) / 8 > 1024 ? 1024 : WIDTH_BYTES / sizeof(T) / 8)]);
      at += x; acc |= x;
    }
    long long to = clock64();
    atomicMin(&first, from); atomicMax(&last, to);
  }
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = last - first;
  if (acc == 0x7fffffff) out[1] = acc;
}
template <class T> void offset() {
  for (int threads : {128, 512, 1024}) {
    CHECK(cudaMemset(big, 0, 132ull * WIDTH_BYTES));
    offsets<T><<<132, threads>>>((T*)big, 512, result);
    CHECK(cudaGetLastError());
    double c = resultOf();
    row("width", "load, L1, constant offsets", p("bytes", sizeof(T)) + " " + p("threads", threads), threads / 32 * 8.0 * 512 / c, "warp instructions a cycle and SM");
  }
}
// Addresses that do not hang on loads: 0 an index, 1 a pointer that moves.
template <class T, int KIND> __global__ void __launch_bounds__(1024) walking(const T* a, int rounds, int step, long long* out) {
  __shared__ long long first, last;
  if (threadIdx.x == 0) { first = 0x7fffffffffffffffll; last = 0; }
  constexpr u32 N = WIDTH_BYTES / sizeof(T);
  a += (size_t)blockIdx.x * N;
  u32 at = threadIdx.x, acc = 0;
  const T* q = a + threadIdx.x;
  for (int warm = 0; warm < 2; warm++) {
    __syncthreads();
    if (warm == 1 && threadIdx.x == 0) { first = 0x7fffffffffffffffll; last = 0; }
    __syncthreads();
    long long from = clock64();
#pragma unroll 8
    for (int r = 0; r < rounds; r++) {
      if (KIND == 0) { acc ^= fold(a[at & (N - 1)]); at += step; } else { acc ^= fold(*q); q += step; }
    }
    long long to = clock64();
    atomicMin(&first, from); atomicMax(&last, to);
    q -= (size_t)step * rounds;
  }
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = last - first;
  if (acc == 0x7fffffff) out[1] = acc;
}
template <class T> void walk() {
  CHECK(cudaMemset(big, 0, 132ull * WIDTH_BYTES));
  int rounds = 1024, step = 32;
  walking<T, 0><<<132, 1024>>>((T*)big, rounds, step, result); CHECK(cudaGetLastError());
  row("width", "load, L1, masked index", p("bytes", sizeof(T)) + " " + p("threads", 1024), 32.0 * rounds / resultOf(), "warp instructions a cycle and SM");
  rounds = WIDTH_BYTES / sizeof(T) / 32 - 32;
  walking<T, 1><<<132, 1024>>>((T*)big, rounds, step, result); CHECK(cudaGetLastError());
  row("width", "load, L1, moving pointer", p("bytes", sizeof(T)) + " " + p("threads", 1024), 32.0 * rounds / resultOf(), "warp instructions a cycle and SM");
}
// --- DRAM and L2 streams
// Every round starts elsewhere, so that what a block finds is in L2 and not in its L1.
#define EACH(UNROLL) for (int r = 0; r < rounds; r++) for (size_t i = (size_t)((blockIdx.x + r * 37) % gridDim.x) * blockDim.x + threadIdx.x, stride = (size_t)gridDim.x * blockDim.x; i < n; i += stride * UNROLL)
template <class T, int UNROLL> __global__ void readStream(const T* a, size_t n, long long* out, int rounds = 1) {
  unsigned acc = 0;
  EACH(UNROLL) {
    T v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++) v[k] = a[i + k * stride];
#pragma unroll
    for (int k = 0; k < UNROLL; k++) acc += fold(v[k]);
  }
  if (acc == 0x7fffffff) *out = acc;
}
template <class T> __global__ void writeStream(T* a, size_t n, int rounds) { T v{}; *(unsigned*)&v = threadIdx.x; EACH(1) a[i] = v; }
template <class T, int UNROLL> __global__ void copyStream(const T* a, T* b, size_t n, int rounds) {
  EACH(UNROLL) {
    T v[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; k++) v[k] = a[i + k * stride];
#pragma unroll
    for (int k = 0; k < UNROLL; k++) b[i + k * stride] = v[k];
  }
}
void streams() {
  typedef float4 V;
  V *from = (V*)big, *to = (V*)(big + (8ull << 30));
  for (size_t mb : {24, 2048}) {
    size_t n = (mb << 20) / 16;
    const char* where = mb == 24 ? "l2" : "dram";
    for (int sms : {1, 2, 4, 8, 16, 33, 66, 99, 132}) {
      size_t chunk = (size_t)sms * 4096, m = mb == 24 ? n / chunk * chunk : n * std::max(sms, 4) / 132 / chunk * chunk, half = mb == 24 ? std::max(m / 2 / chunk * chunk, chunk) : m;
      int rounds = mb == 2048 ? 1 : sms < 16 ? 4 : 40;
      std::string ps = p("sms", sms) + " " + p("mb", m * 16.0 / 1048576);
      row(where, "read", ps, m * 16e-3 * rounds / medianUs([&] { readStream<V, 4><<<sms, 1024>>>(from, m, result, rounds); }), "GB/s");
      row(where, "write", ps, m * 16e-3 * rounds / medianUs([&] { writeStream<V><<<sms, 1024>>>(from, m, rounds); }), "GB/s");
      row(where, "copy (bytes read)", ps, half * 16e-3 * rounds / medianUs([&] { copyStream<V, 4><<<sms, 1024>>>(from, to, half, rounds); }), "GB/s");
    }
    for (int warps : {1, 2, 4, 8, 16, 32, 64}) {
      int blocks = warps > 32 ? 264 : 132, threads = warps > 32 ? 1024 : warps * 32, rounds = mb == 2048 ? 1 : 20;
      size_t chunk = 132 * 2048 * 4, m = n / chunk * chunk, m4 = 4 * m, half = mb == 24 ? chunk : m;
      std::string ps = p("warps_per_sm", warps) + " " + p("mb", m * 16.0 / 1048576);
      row(where, "read16x4", ps, m * 16e-3 * rounds / medianUs([&] { readStream<V, 4><<<blocks, threads>>>(from, m, result, rounds); }, 3), "GB/s");
      row(where, "read16x1", ps, m * 16e-3 * rounds / medianUs([&] { readStream<V, 1><<<blocks, threads>>>(from, m, result, rounds); }, 3), "GB/s");
      row(where, "read4x4", ps, m4 * 4e-3 * rounds / medianUs([&] { readStream<float, 4><<<blocks, threads>>>((float*)from, m4, result, rounds); }, 3), "GB/s");
      row(where, "read4x1", ps, m4 * 4e-3 * rounds / medianUs([&] { readStream<float, 1><<<blocks, threads>>>((float*)from, m4, result, rounds); }, 3), "GB/s");
      row(where, "write16", ps, m * 16e-3 * rounds / medianUs([&] { writeStream<V><<<blocks, threads>>>(from, m, rounds); }, 3), "GB/s");
      row(where, "write4", ps, m4 * 4e-3 * rounds / medianUs([&] { writeStream<float><<<blocks, threads>>>((float*)from, m4, rounds); }, 3), "GB/s");
      row(where, "copy16x4 (bytes read)", ps, half * 16e-3 * rounds / medianUs([&] { copyStream<V, 4><<<blocks, threads>>>(from, to, half, rounds); }, 3), "GB/s");
    }
  }
}
template <int UNROLL> __global__ void stridedRead(const float* a, size_t n, size_t step, long long* out, int rounds) {
  float acc = 0;
  EACH(UNROLL) {
#pragma unroll
    for (int k = 0; k < UNROLL; k++) acc += a[(i + k * stride) * step];
  }
  if (acc == 1e30f) *out = 1;
}
__global__ void randomSectors(const float* a, u32 mask, int rounds, long long* out) {
  u32 s = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 1; float acc = 0;
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int k = 0; k < 4; k++) { s = s * 1664525u + 1013904223u; acc += __ldcg(a + (size_t)((s ^ s >> 15) & mask) * 8); }
  }
  if (acc == 1e30f) *out = 1;
}
void sectors() {
  for (size_t mb : {24, 2048}) for (int bytes : {4, 8, 16, 32, 64, 128, 256}) {
    int rounds = mb == 24 ? 20 : 1;
    size_t n = (mb << 20) / bytes, chunk = 264 * 1024 * (mb == 24 ? 1 : 4); n = n / chunk * chunk; if (!n) continue;
    row(mb == 24 ? "l2" : "dram", "strided read", p("stride_bytes", bytes) + " " + p("mb", n * (double)bytes / 1048576), n * 1e-3 * rounds / medianUs([&] { if (mb == 24) stridedRead<1><<<264, 1024>>>((float*)big, n, bytes / 4, result, rounds); else stridedRead<4><<<264, 1024>>>((float*)big, n, bytes / 4, result, rounds); }), "G loads/s");
  }
  for (size_t mb : {1, 8, 16, 24, 32, 40, 48, 64, 128, 512, 2048, 16384, 65536}) {
    u32 mask = 1; while ((u64)mask * 2 * 32 <= mb << 20) mask *= 2; mask--; int rounds = 64;
    row(mb <= 32 ? "l2" : "dram", "random sectors past L1", p("mb", (mask + 1.0) / 32768), 264.0 * 1024 * rounds * 4 / 1e3 / medianUs([&] { randomSectors<<<264, 1024>>>((float*)big, mask, rounds, result); }), "G sectors/s");
  }
}
// --- atomics
#define ATOM(NAME, CODE) struct NAME { static __device__ __forceinline__ u32 go(void* q, u32 v) { CODE } static const char* name() { return #NAME; } };
ATOM(red_add_u32, asm volatile("red.global.add.u32 [%0], %1;" ::"l"(q), "r"(v) : "memory"); return 0;)
ATOM(atom_add_u32, u32 r; asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(q), "r"(v) : "memory"); return r;)
ATOM(red_add_f32, asm volatile("red.global.add.f32 [%0], %1;" ::"l"(q), "f"((float)v) : "memory"); return 0;)
ATOM(atom_add_f32, float r; asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(r) : "l"(q), "f"((float)v) : "memory"); return (u32)r;)
ATOM(red_add_f64, asm volatile("red.global.add.f64 [%0], %1;" ::"l"(q), "d"((double)v) : "memory"); return 0;)
ATOM(red_add_u64, asm volatile("red.global.add.u64 [%0], %1;" ::"l"(q), "l"((u64)v) : "memory"); return 0;)
ATOM(red_max_s32, asm volatile("red.global.max.s32 [%0], %1;" ::"l"(q), "r"(v) : "memory"); return 0;)
ATOM(atom_cas_u32, u32 r; asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "l"(q), "r"(v), "r"(v + 1) : "memory"); return r;)
ATOM(atom_exch_u32, u32 r; asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(r) : "l"(q), "r"(v) : "memory"); return r;)
ATOM(red_add_f16x2, asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(q), "r"(v) : "memory"); return 0;)
// Patterns: 0 one address; 1 one address a warp; 2 consecutive words; 3 a sector apart; 4 random in 64 MB; 5 random among 256 words; 6 every lane its own address, the same in all warps
__device__ size_t place(int pattern, u32 i, u32 r) {
  u32 h = (i * 2654435761u) ^ (r * 40503u * 65537u); h ^= h >> 15; h *= 0x85ebca6bu; h ^= h >> 13;
  switch (pattern) { case 0: return 0; case 1: return (i / 32 % 16384) * 16; case 2: return (size_t)(i + r * 1031u * 32) % (1u << 22) * 8; case 3: return (size_t)(i % (1u << 20)) * 32; case 4: return (size_t)(h & ((1u << 23) - 1)) * 8; case 5: return (h & 255) * 8; case 6: return (i & 31) * 8; default: return (size_t)(h & ((1u << 20) - 1)) * 8; }
}
template <class A> __global__ void atomicRate(char* a, int pattern, int rounds) { u32 i = blockIdx.x * blockDim.x + threadIdx.x; u32 acc = 0; for (int r = 0; r < rounds; r++) acc += A::go(a + place(pattern, i, r), i & 1); if (acc == 0x7fffff77u) a[1] = 1; }
template <class A> void atomics(bool few = false) {
  static const char* names[] = {"one address", "one address a warp", "consecutive words (8 bytes apart)", "a sector apart", "random in 64 MB", "random among 256", "32 addresses, one a lane", "random in 8 MB"};
  for (int k = 0; k < 8; k++) {
    if (few && k != 0 && k != 4) continue;
    int rounds = k == 0 || k == 5 || k == 6 ? 2 : 64;
    double us = medianUs([&] { atomicRate<A><<<264, 1024>>>(big, k, rounds); }, 3);
    row("atomic", A::name(), std::string("pattern=") + names[k], 264.0 * 1024 * rounds / us / 1e3, "G operations/s");
  }
}
__global__ void atomicLatency(u32* a, int kind, int steps, long long* out) {
  __shared__ u32 s[32]; s[threadIdx.x] = 0; u32 v = 0; __syncwarp();
  long long from = clock64();
  for (int k = 0; k < steps; k++) {
    if (kind == 0) v = atomicAdd(a + (v & 1), 2u); else if (kind == 1) v = atomicCAS(a + (v & 1), v, v + 2); else if (kind == 2) v = atomicExch(a + (v & 1), v + 2);
    else if (kind == 3) v = atomicAdd(s + (v & 1), 2u); else if (kind == 4) v = atomicCAS(s + (v & 1), v, v + 2); else if (kind == 5) v = (u32)atomicAdd((float*)a + (v & 1), 2.f);
    else if (kind == 6) v = (u32)atomicAdd((float*)s + (v & 1), 2.f);
  }
  long long to = clock64(); if (v != 77777777) *out = to - from;
}
template <int KIND> __global__ void __launch_bounds__(1024) sharedAtomics(int pattern, int rounds, long long* out) {
  __shared__ u32 s[2048]; __shared__ long long first, last;
  for (int k = threadIdx.x; k < 2048; k += blockDim.x) s[k] = 0;
  if (threadIdx.x == 0) { first = 0x7fffffffffffffffll; last = 0; }
  __syncthreads();
  u32 at = pattern == 0 ? 0 : pattern == 1 ? (threadIdx.x & 31) / 16 * 1 : pattern == 2 ? (threadIdx.x & 31) / 4 : pattern == 3 ? threadIdx.x & 31 : pattern == 4 ? threadIdx.x : pattern == 5 ? (threadIdx.x * 2654435761u >> 20) & 255 : (threadIdx.x & 31) * 32 % 1024 + threadIdx.x / 32;
  long long from = clock64();
  for (int r = 0; r < rounds; r++) {
    if (KIND == 0) atomicAdd(s + at, 1u + (at & r)); else if (KIND == 1) { u32 v = atomicAdd(s + at, 1u + (at & r)); asm volatile("" ::"r"(v)); } else if (KIND == 2) atomicAdd((float*)s + at, 1.f); else if (KIND == 3) { u32 v = atomicCAS(s + at, r, r + 1); asm volatile("" ::"r"(v)); } else if (KIND == 4) atomicMax((int*)s + at, r + (int)at); else atomicAdd((u64*)s + (at & 1023), 1ull + r);
  }
  long long to = clock64();
  atomicMin(&first, from); atomicMax(&last, to);
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = last - first;
}
template <int KIND> void sharedAtomic(const char* name) {
  static const char* names[] = {"one address", "two addresses a warp", "eight addresses a warp", "32 addresses, the same in all warps", "all different", "random among 256", "one bank, 32 addresses"};
  for (int k = 0; k < 7; k++) for (int threads : {32, 1024}) { int rounds = 256; sharedAtomics<KIND><<<132, threads>>>(k, rounds, result); sharedAtomics<KIND><<<132, threads>>>(k, rounds, result); row("shared atomic", name, std::string("pattern=") + names[k] + " " + p("threads", threads), resultOf() / (rounds * threads / 32.0), "cycles a warp operation"); }
}
// --- barriers
__global__ void barriers(int rounds, long long* out) { long long from = clock64(); for (int k = 0; k < rounds; k++) __syncthreads(); long long to = clock64(); if (threadIdx.x == 0 && blockIdx.x == 0) *out = to - from; }
__global__ void barrierAndShared(int rounds, long long* out) { __shared__ float s[1024]; float a = threadIdx.x; long long from = clock64(); for (int k = 0; k < rounds; k++) { s[threadIdx.x] = a; __syncthreads(); a += s[(threadIdx.x + 1) % blockDim.x]; __syncthreads(); } long long to = clock64(); if (threadIdx.x == 0 && blockIdx.x == 0) *out = to - from; if (a == 1e30f) out[1] = 1; }
template <int KIND> __global__ void fences(u32* a, int rounds, long long* out) { long long from = clock64(); for (int k = 0; k < rounds; k++) { a[threadIdx.x + blockIdx.x * blockDim.x] = k; if (KIND == 0) __threadfence_block(); else if (KIND == 1) __threadfence(); else __threadfence_system(); } long long to = clock64(); if (threadIdx.x == 0 && blockIdx.x == 0) *out = to - from; }
// --- launches
template <int BYTES> struct Parameters { char bytes[BYTES]; };
template <int BYTES> __global__ void parameters(const __grid_constant__ Parameters<BYTES> q, char* out) { if (out) *out = q.bytes[BYTES - 1]; }
__global__ void empty() {}
__global__ void withShared(char* out) { extern __shared__ char s[]; if (out) *out = s[0]; }
template <class L> double graphIntervalUs(L enqueue, int count) {
  cudaStream_t s; CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); cudaGraph_t g; cudaGraphExec_t x;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); for (int k = 0; k < count; k++) enqueue(s, k); CHECK(cudaStreamEndCapture(s, &g)); CHECK(cudaGraphInstantiate(&x, g, 0));
  std::vector<float> all;
  for (int k = 0; k < 7; k++) { float ms; CHECK(cudaEventRecord(e0, s)); CHECK(cudaGraphLaunch(x, s)); CHECK(cudaEventRecord(e1, s)); CHECK(cudaEventSynchronize(e1)); CHECK(cudaEventElapsedTime(&ms, e0, e1)); all.push_back(ms * 1000 / count); }
  cudaGraphExecDestroy(x); cudaGraphDestroy(g); cudaStreamDestroy(s);
  std::sort(all.begin(), all.end()); return all[3];
}
template <int BYTES> void parameterRow() { Parameters<BYTES> q = {}; row("launch", "interval in a graph", p("parameter_bytes", BYTES + 8), graphIntervalUs([&](cudaStream_t s, int) { parameters<BYTES><<<1, 32, 0, s>>>(q, nullptr); }, 200), "us"); row("launch", "interval in a stream", p("parameter_bytes", BYTES + 8), medianUs([&] { for (int k = 0; k < 200; k++) parameters<BYTES><<<1, 32>>>(q, nullptr); }) / 200, "us"); }
void launches() {
  parameterRow<8>(); parameterRow<56>(); parameterRow<248>(); parameterRow<1016>(); parameterRow<4000>(); parameterRow<16376>(); parameterRow<32744>();
  CHECK(cudaFuncSetAttribute(withShared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  for (int kb : {0, 16, 48, 100, 200, 227}) for (int grid : {1, 132, 1056}) row("launch", "empty kernel, dynamic shared memory", p("kb", kb) + " " + p("grid", grid), graphIntervalUs([&](cudaStream_t s, int) { withShared<<<grid, 128, kb * 1024, s>>>(nullptr); }, 200), "us");
  for (int kb : {16, 48, 100, 200}) row("launch", "empty kernels by turns without and with shared memory", p("kb", kb), graphIntervalUs([&](cudaStream_t s, int k) { withShared<<<132, 128, k & 1 ? kb * 1024 : 0, s>>>(nullptr); }, 200), "us");
  for (int threads : {32, 64, 128, 256, 512, 1024}) for (int grid : {132, 264, 528, 1056, 2112, 4224}) row("launch", "empty kernel", p("threads", threads) + " " + p("grid", grid), graphIntervalUs([&](cudaStream_t s, int) { empty<<<grid, threads, 0, s>>>(); }, 100), "us");
}
int main() {
  CHECK(cudaEventCreate(&e0)); CHECK(cudaEventCreate(&e1)); CHECK(cudaMalloc(&result, 1024));
  bigBytes = 96ull << 30; CHECK(cudaMalloc(&big, bigBytes)); CHECK(cudaMemset(big, 0, bigBytes)); CHECK(cudaDeviceSynchronize());
  for (int k = 0; k < 20; k++) readStream<float4, 4><<<264, 1024>>>((float4*)big, (size_t)264 * 4096 * 64, result);
  CHECK(cudaDeviceSynchronize());
  printf("group,what,parameters,value,unit\n");
  for (double mb : {0.0625, 0.125, 0.1875, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 40.0, 48.0, 56.0, 64.0, 96.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0, 98304.0}) {
    u64 lines = (u64)(mb * 8192); int steps = mb > 48 ? 4096 : 16384; double c[2];
    for (int kind = 0; kind < 2; kind++) {
      CHECK(cudaMemsetAsync(big + bigBytes - (1ull << 28), 0, 1ull << 28)); touch<<<132, 1024>>>((uint4*)big, (size_t)std::min(mb, 64.0) * 65536, result);
      if (kind) { randomChase<1><<<1, 1>>>((u32*)big, lines, steps, 32, result, 7); randomChase<1><<<1, 1>>>((u32*)big, lines, steps, 32, result, mb > 48 ? 99 : 7); } else { randomChase<0><<<1, 1>>>((u32*)big, lines, steps, 32, result, 7); randomChase<0><<<1, 1>>>((u32*)big, lines, steps, 32, result, mb > 48 ? 99 : 7); }
      c[kind] = resultOf() / steps;
    }
    row("latency", "random lines, past L1, with address arithmetic (the smallest window through L1 tells how much)", p("mb", mb), c[0], "cycles"); row("latency", "random lines, through L1, with address arithmetic (the smallest window through L1 tells how much)", p("mb", mb), c[1], "cycles");
  }
  { int lines = 2048; u32 *out, *sm; CHECK(cudaMalloc(&out, 132ull * lines * 4)); CHECK(cudaMalloc(&sm, 132 * 4));
    for (int stride : {32, 1024}) { lineLatencies<<<132, 1>>>((u32*)big, 4, stride, out, sm);
      std::vector<u32> h(132 * lines), id(132);
      // One SM after another, so that none waits for another.
      std::vector<double> means; std::vector<u32> all;
      lineLatencies<<<132, 1>>>((u32*)big, lines, stride, out, sm); CHECK(cudaDeviceSynchronize());
      CHECK(cudaMemcpy(h.data(), out, h.size() * 4, cudaMemcpyDeviceToHost)); CHECK(cudaMemcpy(id.data(), sm, 528, cudaMemcpyDeviceToHost));
      for (int b = 0; b < 132; b++) { std::vector<u32> mine(h.begin() + b * lines, h.begin() + (b + 1) * lines); std::sort(mine.begin(), mine.end()); double s = 0; for (u32 v : mine) s += v; all.insert(all.end(), mine.begin(), mine.end());
        if (b < 132) row("l2 latency of one SM", "mean of 2048 lines", p("sm", id[b]) + " " + p("stride_bytes", stride * 4), s / lines, "cycles");
        if (b == 0) for (int q : {1, 10, 25, 50, 75, 90, 99}) row("l2 latency of one SM", "percentile over lines", p("sm", id[b]) + " " + p("percentile", q) + " " + p("stride_bytes", stride * 4), mine[(size_t)lines * q / 100], "cycles"); }
      std::sort(all.begin(), all.end()); for (int q : {1, 5, 10, 25, 50, 75, 90, 95, 99}) row("l2 latency of all SMs", "percentile over lines and SMs", p("percentile", q) + " " + p("stride_bytes", stride * 4), all[all.size() * q / 100], "cycles"); } }
  sharedChase<<<1, 32>>>(1024, result); row("latency", "shared", "", resultOf() / 1024, "cycles");
  for (int kb : {4, 16, 64, 128, 192, 224, 240, 256, 320}) for (int step : {1, 8, 32}) { fillChase<<<64, 256>>>((u32*)big, kb * 256, step); int steps = kb * 256 / step; l1Chase<<<1, 1>>>((u32*)big, steps, result); row("latency", "l1 chase", p("kb", kb) + " " + p("step_bytes", step * 4), resultOf() / steps, "cycles"); }
  CHECK(cudaMemset(big, 0, 1 << 20));
  width<char, 0>("load, L1, address computed each time"); width<short, 0>("load, L1, address computed each time"); width<float, 0>("load, L1, address computed each time"); width<float2, 0>("load, L1, address computed each time"); width<float4, 0>("load, L1, address computed each time");
  offset<char>(); offset<short>(); offset<float>(); offset<float2>(); offset<float4>();
  walk<char>(); walk<float>(); walk<float2>(); walk<float4>();
  width<char, 1>("store, L2"); width<float, 1>("store, L2"); width<float2, 1>("store, L2"); width<float4, 1>("store, L2");
  width<char, 2>("load, shared"); width<float, 2>("load, shared"); width<float2, 2>("load, shared"); width<float4, 2>("load, shared");
  width<char, 3>("store, shared"); width<float, 3>("store, shared"); width<float2, 3>("store, shared"); width<float4, 3>("store, shared");
  streams(); sectors();
  atomics<red_add_u32>(); atomics<atom_add_u32>(); atomics<red_add_f32>(); atomics<atom_add_f32>(); atomics<red_add_f64>(); atomics<red_add_u64>(); atomics<red_max_s32>(); atomics<atom_cas_u32>(); atomics<atom_exch_u32>(); atomics<red_add_f16x2>();
  { static const char* names[] = {"add u32", "cas u32", "exch u32", "shared add u32", "shared cas u32", "add f32", "shared add f32"}; for (int k = 0; k < 7; k++) { atomicLatency<<<1, 1>>>((u32*)big, k, 1024, result); atomicLatency<<<1, 1>>>((u32*)big, k, 1024, result); row("atomic latency", names[k], "", resultOf() / 1024, "cycles"); } }
  sharedAtomic<0>("add u32"); sharedAtomic<1>("add u32, returned"); sharedAtomic<2>("add f32"); sharedAtomic<3>("cas u32"); sharedAtomic<4>("max s32"); sharedAtomic<5>("add u64");
  for (int threads : {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}) { int most = std::min(32, 2048 / threads); for (int blocks : {1, 132 * most}) { barriers<<<blocks, threads>>>(1000, result); barriers<<<blocks, threads>>>(1000, result); row("barrier", "bar.sync", p("threads", threads) + " " + p("blocks_per_sm", blocks == 1 ? 1 : most), resultOf() / 1000, "cycles"); barrierAndShared<<<blocks, threads>>>(1000, result); row("barrier", "store, bar.sync, load, add, bar.sync", p("threads", threads) + " " + p("blocks_per_sm", blocks == 1 ? 1 : most), resultOf() / 1000, "cycles"); } }
  fences<0><<<1, 32>>>((u32*)big, 1000, result); row("fence", "store, membar.cta", "", resultOf() / 1000, "cycles"); fences<1><<<1, 32>>>((u32*)big, 1000, result); row("fence", "store, membar.gl", "", resultOf() / 1000, "cycles"); fences<2><<<1, 32>>>((u32*)big, 1000, result); row("fence", "store, membar.sys", "", resultOf() / 1000, "cycles");
  fences<1><<<132, 1024>>>((u32*)big, 100, result); row("fence", "store, membar.gl", "all SMs 1024 threads", resultOf() / 100, "cycles");
  launches();
  CHECK(cudaDeviceSynchronize());
}
