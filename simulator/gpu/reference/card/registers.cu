// Kernels of a chosen number of registers: 240 live values, what does not fit is spilled.
#define BODY(N) extern "C" __global__ void __maxnreg__(N) registers_##N(const float* in, float* out, int rounds) { \
  float v[240]; \
  _Pragma("unroll") for (int k = 0; k < 240; k++) v[k] = in[k * 1024 + threadIdx.x]; \
  for (int r = 0; r < rounds; r++) { _Pragma("unroll") for (int k = 0; k < 240; k++) v[k] = v[k] * v[(k + 1) % 240] + 1.f; } \
  float a = 0; \
  _Pragma("unroll") for (int k = 0; k < 240; k++) a += v[k]; \
  out[threadIdx.x] = a; }
BODY(24) BODY(32) BODY(40) BODY(48) BODY(56) BODY(64) BODY(72) BODY(80) BODY(96) BODY(104) BODY(112) BODY(128) BODY(144) BODY(160) BODY(168) BODY(184) BODY(200) BODY(224) BODY(240) BODY(255)
extern "C" __global__ void few(float* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void static_16k(float* out) { __shared__ float s[4096]; s[threadIdx.x] = out[threadIdx.x]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1]; }
extern "C" __global__ void static_40k(float* out) { __shared__ float s[10240]; s[threadIdx.x] = out[threadIdx.x]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1]; }
