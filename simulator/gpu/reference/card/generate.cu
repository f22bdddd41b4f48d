// The contents rules of launch specs (../README.md), on the card.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__device__ unsigned mixu(unsigned i, unsigned seed) {
  unsigned u = (i + seed * 7919u) * 2654435761u;
  u ^= u >> 16; u *= 0x85ebca6bu; u ^= u >> 13;
  return u;
}
template <class T> __device__ void fill(T* out, long long n, unsigned seed, float scale, float shift) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float m = (mixu(i, seed) & 0x7fffffu) / 8388608.0 * 2 - 1;
    out[i] = (T)__fadd_rn(__fmul_rn(m, scale), shift);
  }
}
template <class T> __device__ void mod(T* out, long long n, unsigned seed, unsigned m, long long plus) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = (T)(mixu(i, seed) % m + plus);
}
#define FILL(name, T) extern "C" __global__ void fill_##name(T* o, long long n, unsigned s, float a, float b) { fill(o, n, s, a, b); }
#define MOD(name, T) extern "C" __global__ void mod_##name(T* o, long long n, unsigned s, unsigned m, long long p) { mod(o, n, s, m, p); }
FILL(f32, float) FILL(f64, double) FILL(f16, __half) FILL(bf16, __nv_bfloat16)
MOD(f32, float) MOD(i32, int) MOD(u32, unsigned) MOD(i64, long long) MOD(u64, unsigned long long) MOD(i16, short) MOD(u16, unsigned short) MOD(i8, signed char) MOD(u8, unsigned char)
