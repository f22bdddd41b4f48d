// What requests, atomic operations and blocks that wait for one another take of L2 and DRAM.
//   nvcc -O3 -arch=sm_90 -std=c++17 traffic.cu -o traffic && ./traffic > h200-traffic.csv && ./traffic pages >> h200-traffic.csv
// One row a figure; what a and b are is told by ../README.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>
typedef unsigned u32;
typedef unsigned long long u64;

static cudaEvent_t first, last;
static void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  fprintf(stderr, "%s\n", cudaGetErrorString(code));
  exit(1);
}
// Median time of a launch in microseconds, without waiting for the host.
static double usOf(std::function<void()> launch, int times = 5) {
  launch();
  std::vector<float> all;
  for (int i = 0; i < times; i++) {
    cudaEventRecord(first);
    launch();
    cudaEventRecord(last);
    cudaEventSynchronize(last);
    float ms;
    cudaEventElapsedTime(&ms, first, last);
    all.push_back(ms * 1000);
  }
  check(cudaGetLastError());
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}
static void row(const char* what, const char* kind, long a, long b, double value) { printf("%s,%s,%ld,%ld,%.2f\n", what, kind, a, b, value); }

// Half of the blocks add to one word, half to another.
__global__ void twoWords(u32* a, long i, long j, int rounds) {
  if (threadIdx.x & 31) return;
  u32* at = a + (blockIdx.x & 1 ? i : j);
  for (int r = 0; r < rounds; r++) atomicAdd(at, 1u);
}
template <class T> __global__ void addToWords(T* a, int words, int stride, int rounds) {
  T* at = a + (long)((blockIdx.x * blockDim.x + threadIdx.x) % words) * stride;
  for (int r = 0; r < rounds; r++) atomicAdd(at, (T)(1 + r + threadIdx.x));
}
template <class T> __global__ void sharedAdds(u32* cycles, int words, int rounds, bool own) {
  __shared__ T s[2048];
  for (int i = threadIdx.x; i < 2048; i += blockDim.x) s[i] = 0;
  __syncthreads();
  u32 h = threadIdx.x * 2654435761u + blockIdx.x;
  long long from = clock64();
  for (int r = 0; r < rounds; r++) {
    h = h * 1664525u + 1013904223u;
    atomicAdd(&s[own ? threadIdx.x % words : (h >> 12) % words], (T)(h | 1));
  }
  __syncthreads();
  long long to = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = (u32)(to - from);
  if (s[threadIdx.x] == (T)12345678) cycles[0] = 1;
}
// Requests for some sectors each of so many lines. MODE 0 loads, 1 stores sectors, 2 stores a word a sector, 3 adds to a word a sector.
template <int MODE> __global__ void sectors(u32* a, u32* out, int lines, int of, int together, int rounds) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31, warps = (gridDim.x * blockDim.x) >> 5;
  int each = MODE == 1 ? 8 : 1;
  if (lane >= together * of * each) return;
  int line = lane / (of * each), within = lane % (of * each);
  u32 sum = 0;
  for (int r = 0; r < rounds; r++)
    for (int u = 0; u < 4; u++) {
      u32 place = (((u32)(warp + r * warps) * 4 + u) * together + line) % lines;
      u32* at = a + (size_t)place * 32 + within / each * 8 + within % each;
      if (MODE == 0) sum += __ldcg(at);
      else if (MODE == 3) atomicAdd(at, 1u);
      else *at = r;
    }
  if (MODE == 0) out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// Words `gap` apart, `run` of them side by side at places drawn at random. MODE 0 loads, 1 stores sectors, 2 stores words, 3 copies words.
template <int MODE> __global__ void runs(const u32* a, u32* b, u32* out, int run, int gapWords, u64 places) {
  u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, h = i / run * 0x9E3779B97F4A7C15ull;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9ull;
  h ^= h >> 32;
  u64 at = (h % places) * run * gapWords + i % run * gapWords;
  if (MODE == 0 && __ldcg(a + at) == 0x1234567) out[0] = 1;
  if (MODE == 1) for (int q = 0; q < 2; q++) *(uint4*)(b + at + 4 * q) = make_uint4(1, 2, 3, 4);
  if (MODE == 2) b[at] = (u32)i;
  if (MODE == 3) b[at] = __ldcg(a + at);
}
// Each block waits for the one before it. HOW 0 with a fence, 1 without, 2 by atomics, 3 by acquire and release, 4 with barriers around.
template <int HOW> __global__ void chain(volatile u32* flags) {
  const int far = 32;
  volatile u32 *mine = flags + blockIdx.x * far, *before = mine - far;
  if (HOW == 4) {
    if (threadIdx.x == 0 && blockIdx.x > 0) {
      while (*before == 0) {}
      *before = 0;
    }
    __syncthreads();
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x < gridDim.x - 1) *mine = 1;
    return;
  }
  if (threadIdx.x) return;
  if (blockIdx.x > 0) {
    u32 seen = 0;
    while (!seen) {
      if (HOW == 2) seen = atomicAdd((u32*)before, 0u);
      else if (HOW == 3) asm volatile("ld.acquire.gpu.global.u32 %0,[%1];" : "=r"(seen) : "l"((u32*)before) : "memory");
      else seen = *before;
    }
    *before = 0;
  }
  if (HOW == 0) __threadfence();
  if (blockIdx.x == gridDim.x - 1) return;
  if (HOW == 2) atomicExch((u32*)mine, 1u);
  else if (HOW == 3) asm volatile("st.release.gpu.global.u32 [%0],%1;" ::"l"((u32*)mine), "r"(1) : "memory");
  else *mine = 1;
}
// Words of pages of 2 MB: `together` lanes side by side want as many lines of one page, pages at random or one after the other.
__global__ void pages(const u32* a, u32* out, u32 count, u32 together, u32 linesOfEach, u32 rounds, bool inOrder) {
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31, sum = 0;
#pragma unroll 8
  for (u32 r = 0; r < rounds; r++) {
    u32 turn = warp * rounds + r, group = turn * (32 / together) + lane / together;
    u32 page = inOrder ? group : (group * 2654435761u) >> 13;
    u32 line = ((turn * 32 + lane) * 2246822519u) >> 11;
    sum += __ldcg(a + (u64)(page & (count - 1)) * (1 << 19) + (line & (linesOfEach - 1)) * 32);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// The same one after the other: cycles each.
__global__ void pageChase(const u32* a, u32* out, u32 count, u32 linesOfEach, u32 rounds) {
  u32 at = 0, sum = 0;
  for (u32 pass = 0; pass < 2; pass++) {
    long start = clock64();
    for (u32 r = 0; r < rounds; r++) {
      u32 h = (r + at) * 2654435761u;
      at = __ldcg(a + (u64)((h >> 13) & (count - 1)) * (1 << 19) + ((h >> 5) & (linesOfEach - 1)) * 32);
      sum += at;
    }
    out[pass] = (u32)((clock64() - start) / rounds);
  }
  out[2] = sum;
}
static int measurePages() {
  u32 *a, *out;
  const u64 most = 16384;
  check(cudaMalloc(&a, most << 21));
  check(cudaMalloc(&out, 1 << 22));
  check(cudaMemset(a, 0, most << 21));
  cudaEventCreate(&first);
  cudaEventCreate(&last);
  for (int blocks : {1, 2, 16, 66, 1056})
    for (u32 together : {32, 8, 4, 1})
      for (u32 count = 1; count <= most; count *= 2) {
        if (blocks != 1056 && together != 1 && together != 32) continue;
        u32 lines = std::max<u64>(4, std::min<u64>(2048, (8 << 20) / 128 / count)), rounds = 64;
        int threads = blocks == 1056 ? 256 : 1024;
        for (int ordered = 0; ordered < 2; ordered++) {
          char kind[40];
          sprintf(kind, "%s by %d blocks", ordered ? "in order" : "random", blocks);
          double us = usOf([&] { pages<<<blocks, threads>>>(a, out, count, together, lines, rounds, ordered); });
          printf("pages,%s,%u,%u,%.2f\n", kind, count, together, (double)blocks * threads * rounds / us / 1e3);
        }
      }
  for (u32 count = 1; count <= most; count *= 2) {
    u32 lines = std::max<u64>(4, std::min<u64>(2048, (8 << 20) / 128 / count)), cycles[2];
    pageChase<<<1, 1>>>(a, out, count, lines, 1 << 17);
    cudaMemcpy(cycles, out, sizeof cycles, cudaMemcpyDeviceToHost);
    printf("pages,chase,%u,1,%u\n", count, cycles[1]);
  }
  check(cudaGetLastError());
  return 0;
}
int main(int argc, char** argv) {
  if (argc > 1) return measurePages();
  cudaEventCreate(&first);
  cudaEventCreate(&last);
  const size_t bytes = 8ull << 30;
  u32 *a, *b, *out;
  check(cudaMalloc(&a, bytes));
  check(cudaMalloc(&b, bytes));
  check(cudaMalloc(&out, 64 << 20));
  cudaMemset(a, 0, bytes);
  cudaMemset(b, 0, bytes);
  for (int i = 0; i < 300; i++) addToWords<u32><<<528, 256>>>(a, 65536, 1, 64);
  printf("experiment,kind,a,b,value\n");
  std::vector<long> met;
  for (long piece = 0; piece < 256; piece++) {
    size_t slice = 0;
    for (; slice < met.size(); slice++)
      if (usOf([&] { twoWords<<<264, 128>>>(a, met[slice], piece * 64, 64); }, 3) > 34) break;
    if (slice == met.size()) met.push_back(piece * 64);
    row("slice", "", piece * 256, 0, slice);
  }
  for (int stride : {32, 64, 128, 256, 512, 1024, 2048, 4096, 16384})
    for (int words : {1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096}) {
      row("spread", "u32", stride, words, usOf([&] { addToWords<u32><<<528, 256>>>(a, words, stride / 4, 16); }, 3));
      row("spread", "u64", stride, words, usOf([&] { addToWords<u64><<<528, 256>>>((u64*)a, words, stride / 8, 16); }, 3));
    }
  auto shared = [&](const char* kind, void (*kernel)(u32*, int, int, bool), int words, int threads, bool own) {
    u32 cycles[132];
    for (int i = 0; i < 2; i++) kernel<<<132, threads>>>(out, words, 64, own);
    cudaMemcpy(cycles, out, sizeof cycles, cudaMemcpyDeviceToHost);
    std::sort(cycles, cycles + 132);
    row("shared", kind, words, threads, cycles[66] / (64.0 * threads / 32));
  };
  for (int threads : {32, 256, 1024})
    for (int words = 1; words <= 2048; words *= 2) {
      shared("u32", sharedAdds<u32>, words, threads, false);
      shared("f32", sharedAdds<float>, words, threads, false);
      shared("u64", sharedAdds<u64>, words, threads, false);
      shared("f64", sharedAdds<double>, words, threads, false);
      if (words >= 32) shared("u64 own", sharedAdds<u64>, words, threads, true);
    }
  for (int blocks : {33, 132})
    for (int of : {1, 2, 3, 4})
      for (int together = 1; together * of <= 32; together *= 2) {
        double lines = (double)blocks * 32 * 16 * 4 * together / 1e3;
        const char* few = blocks == 33 ? " 33 blocks" : "";
        auto note = [&](const char* kind, double us) { char name[40]; sprintf(name, "%s%s", kind, few); row("sectors", name, of, together, lines / us); };
        note("load", usOf([&] { sectors<0><<<blocks, 1024>>>(a, out, 1 << 16, of, together, 16); }, 3));
        if (together * of * 8 <= 32) note("store", usOf([&] { sectors<1><<<blocks, 1024>>>(a, out, 1 << 16, of, together, 16); }, 3));
        note("store words", usOf([&] { sectors<2><<<blocks, 1024>>>(a, out, 1 << 16, of, together, 16); }, 3));
        note("add", usOf([&] { sectors<3><<<blocks, 1024>>>(a, out, 1 << 16, of, together, 16); }, 3));
      }
  for (int gap : {32, 64, 128, 256, 1024})
    for (int run = 1; run <= 32; run *= 2) {
      u64 places = bytes / ((u64)run * gap);
      dim3 grid((32 << 20) / 256);
      row("runs", "load", gap, run, usOf([&] { runs<0><<<grid, 256>>>(a, b, out, run, gap / 4, places); }, 3));
      row("runs", "store sectors", gap, run, usOf([&] { runs<1><<<grid, 256>>>(a, b, out, run, gap / 4, places); }, 3));
      row("runs", "store words", gap, run, usOf([&] { runs<2><<<grid, 256>>>(a, b, out, run, gap / 4, places); }, 3));
      row("runs", "copy words", gap, run, usOf([&] { runs<3><<<grid, 256>>>(a, b, out, run, gap / 4, places); }, 3));
    }
  cudaMemset(a, 0, 1 << 24);
  for (int blocks : {8, 32, 132, 528, 1056}) {
    row("chain", "fence", blocks, 0, usOf([&] { chain<0><<<blocks, 64>>>(a); }));
    row("chain", "plain", blocks, 0, usOf([&] { chain<1><<<blocks, 64>>>(a); }));
    row("chain", "atomics", blocks, 0, usOf([&] { chain<2><<<blocks, 64>>>(a); }));
    row("chain", "acquire", blocks, 0, usOf([&] { chain<3><<<blocks, 64>>>(a); }));
    row("chain", "barriers", blocks, 0, usOf([&] { chain<4><<<blocks, 256>>>(a); }));
  }
  return 0;
}
