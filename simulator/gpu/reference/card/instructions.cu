// Dependent latency and throughput of machine instructions, one class at a time.
//   nvcc -O3 -arch=sm_90 -cudart static instructions.cu -o instructions && ./instructions > h200-instructions.csv
// A step is x = op(x, the x before, y): every result is used twice, so the assembler has nothing to merge.
#include <cstdio>
#include <cuda_runtime.h>
constexpr int STEPS = 32, ROUNDS = 32;
typedef unsigned u32; typedef unsigned long long u64;
__constant__ u32 table[1024];

#define OP2(NAME, T, CODE, C) \
  struct NAME { typedef T type; static const char* name() { return #NAME; } \
    static __device__ __forceinline__ T step(T x, T p, T y) { T r; asm volatile(CODE : "=" C(r) : C(x), C(p), C(y)); return r; } };
#define U(NAME, CODE) OP2(NAME, u32, CODE, "r")
#define W(NAME, CODE) OP2(NAME, u64, CODE, "l")
#define F(NAME, CODE) OP2(NAME, float, CODE, "f")
#define D(NAME, CODE) OP2(NAME, double, CODE, "d")
U(add_s32, "add.s32 %0, %1, %2;") U(lop3_b32, "lop3.b32 %0, %1, %2, %3, 0x96;")
U(mul_lo_u32, "mul.lo.u32 %0, %1, %2;") U(mad_lo_u32, "mad.lo.u32 %0, %1, %2, %3;") U(mul_hi_u32, "mul.hi.u32 %0, %1, %2;")
U(shl_b32, "shl.b32 %0, %1, %2;") U(shr_s32, "shr.s32 %0, %1, %2;") U(shf_wrap, "shf.l.wrap.b32 %0, %1, %2, %3;")
U(min_s32, "min.s32 %0, %1, %2;") U(max_u32, "max.u32 %0, %1, %2;") U(prmt_b32, "prmt.b32 %0, %1, %2, %3;")
U(bfe_u32, "bfe.u32 %0, %1, %3, 7;") U(bfe_const_add, "{.reg .u32 t; bfe.u32 t, %1, 5, 7; add.u32 %0, t, %2;} // %3") U(shr_const_xor, "{.reg .u32 t; shr.u32 t, %1, 7; xor.b32 %0, t, %2;} // %3") U(cvt_u8, "{.reg .u32 t; cvt.u32.u8 t, %1; add.u32 %0, t, %2;} // %3") U(and_add, "{.reg .u32 t; and.b32 t, %1, 4095; add.u32 %0, t, %2;} // %3") U(bfi_b32, "bfi.b32 %0, %1, %2, %3, 5;") U(popc_b32, "popc.b32 %0, %1; // %2 %3") U(clz_b32, "clz.b32 %0, %1; // %2 %3")
U(brev_add, "{.reg .u32 t; brev.b32 t, %1; add.u32 %0, t, %2;}") U(dp4a_u32, "dp4a.u32.u32 %0, %1, %2, %3;") U(sad_u32, "sad.u32 %0, %1, %2, %3;")
U(setp_selp, "{.reg .pred q; setp.lt.s32 q, %1, %2; selp.b32 %0, %3, %1, q;}")
U(mad_lo_two, "mad.lo.u32 %0, %1, %3, %3; // %2") U(mad_wide_index, "{.reg .u64 t; .reg .u32 h; mul.wide.s32 t, %1, %3; mov.b64 {%0, h}, t; xor.b32 %0, %0, h;} // %2") U(div_s32, "div.s32 %0, %1, %3; // %2") U(rem_u32, "rem.u32 %0, %1, %3; // %2")
U(shfl_bfly, "shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff; // %2 %3") U(shfl_down_add, "{.reg .u32 t; shfl.sync.down.b32 t, %1, 4, 31, 0xffffffff; add.u32 %0, t, %2;} // %3") U(shfl_idx, "shfl.sync.idx.b32 %0, %1, %3, 31, 0xffffffff; // %2")
U(vote_ballot, "{.reg .pred q; setp.lt.s32 q, %1, %2; vote.sync.ballot.b32 %0, q, 0xffffffff;} // %3")
U(redux_add, "redux.sync.add.s32 %0, %1, 0xffffffff; // %2 %3") U(match_any, "match.any.sync.b32 %0, %1, 0xffffffff; // %2 %3")
U(bar_warp_add, "bar.warp.sync 0xffffffff; add.u32 %0, %1, %2; // %3")
U(clock_add, "{.reg .u32 t; mov.u32 t, %%clock; add.u32 %0, %1, t;} // %2 %3")
U(add_f16x2, "add.rn.f16x2 %0, %1, %2; // %3") U(fma_f16x2, "fma.rn.f16x2 %0, %1, %2, %3;") U(fma_bf16x2, "fma.rn.bf16x2 %0, %1, %2, %3;") U(ex2_f16x2, "ex2.approx.f16x2 %0, %1; // %2 %3") U(tanh_f16x2, "tanh.approx.f16x2 %0, %1; // %2 %3") U(max_f16x2, "max.f16x2 %0, %1, %2; // %3")
W(add_s64, "add.s64 %0, %1, %2;") W(mul_lo_u64, "mul.lo.u64 %0, %1, %2;") W(mul_hi_u64, "mul.hi.u64 %0, %1, %2;") W(mad_lo_u64, "mad.lo.u64 %0, %1, %2, %3;") W(div_u64, "div.u64 %0, %1, %3; // %2")
W(shl_b64, "{.reg .u32 t; cvt.u32.u64 t, %2; and.b32 t, t, 31; shl.b64 %0, %1, t;} // %3") W(mad_wide_u32, "{.reg .u32 a, b; cvt.u32.u64 a, %1; cvt.u32.u64 b, %3; mad.wide.u32 %0, a, b, %2;}") W(popc_b64, "{.reg .u32 t; popc.b64 t, %1; cvt.u64.u32 %0, t;} // %2 %3") W(setp_selp_64, "{.reg .pred q; setp.lt.s64 q, %1, %2; selp.b64 %0, %3, %1, q;}")
F(add_f32, "add.rn.f32 %0, %1, %2; // %3") F(mul_f32, "mul.rn.f32 %0, %1, %2; // %3") F(fma_f32, "fma.rn.f32 %0, %1, %2, %3;") F(fma_f32_square, "fma.rn.f32 %0, %1, %1, %3; // %2") F(fma_f32_two, "fma.rn.f32 %0, %1, %3, %3; // %2") F(fma_f32_immediate, "fma.rn.f32 %0, %1, 0f3F7FBE77, %3; // %2") F(max_f32, "max.f32 %0, %1, %2; // %3") F(setp_selp_f32, "{.reg .pred q; setp.lt.f32 q, %1, %2; selp.f32 %0, %3, %1, q;}")
F(rcp_approx_ftz_add, "{.reg .f32 t; rcp.approx.ftz.f32 t, %1; add.rn.f32 %0, t, %2;} // %3") F(rcp_approx, "rcp.approx.f32 %0, %1; // %2 %3") F(rsqrt_approx_ftz, "rsqrt.approx.ftz.f32 %0, %1; // %2 %3") F(sqrt_approx_ftz, "sqrt.approx.ftz.f32 %0, %1; // %2 %3")
F(sin_approx_ftz, "sin.approx.ftz.f32 %0, %1; // %2 %3") F(ex2_approx_ftz, "ex2.approx.ftz.f32 %0, %1; // %2 %3") F(ex2_approx, "ex2.approx.f32 %0, %1; // %2 %3") F(lg2_approx_ftz, "lg2.approx.ftz.f32 %0, %1; // %2 %3") F(tanh_approx, "tanh.approx.f32 %0, %1; // %2 %3")
F(div_rn_f32, "div.rn.f32 %0, %3, %1; // %2") F(div_approx_f32, "div.approx.f32 %0, %3, %1; // %2") F(div_full_f32, "div.full.f32 %0, %3, %1; // %2") F(sqrt_rn_f32, "sqrt.rn.f32 %0, %1; // %2 %3") F(rcp_rn_f32, "rcp.rn.f32 %0, %1; // %2 %3")
F(f2i_i2f, "{.reg .s32 t; cvt.rzi.s32.f32 t, %1; cvt.rn.f32.s32 %0, t;} // %2 %3") F(f2h_h2f, "{.reg .f16 t; cvt.rn.f16.f32 t, %1; cvt.f32.f16 %0, t;} // %2 %3") F(cvt_rni_f32, "cvt.rni.f32.f32 %0, %1; // %2 %3") F(f2bf_pack, "{.reg .b32 t; cvt.rn.bf16x2.f32 t, %1, %2; mov.b32 %0, t;} // %3") F(f2d_d2f, "{.reg .f64 t; cvt.f64.f32 t, %1; add.f64 t, t, t; cvt.rn.f32.f64 %0, t;} // %2 %3")
D(add_f64, "add.rn.f64 %0, %1, %2; // %3") D(mul_f64, "mul.rn.f64 %0, %1, %2; // %3") D(fma_f64, "fma.rn.f64 %0, %1, %2, %3;") D(fma_f64_square, "fma.rn.f64 %0, %1, %1, %3; // %2") D(setp_selp_f64, "{.reg .pred q; setp.lt.f64 q, %1, %2; selp.f64 %0, %3, %1, q;}") D(div_rn_f64, "div.rn.f64 %0, %3, %1; // %2") D(sqrt_rn_f64, "sqrt.rn.f64 %0, %1; // %2 %3") D(d2i_i2d, "{.reg .s32 t; cvt.rzi.s32.f64 t, %1; cvt.rn.f64.s32 %0, t;} // %2 %3")
struct ldc_divergent { typedef u32 type; static const char* name() { return "ldc_divergent_dependent"; } static __device__ __forceinline__ u32 step(u32 x, u32, u32) { return table[x & 1023]; } };

// The same without divergence: the address is one for all lanes.
struct ldc_uniform { typedef u32 type; static const char* name() { return "ldc_uniform_dependent"; } static __device__ __forceinline__ u32 step(u32 x, u32, u32) { return table[x >> 16 & 1023]; } };

template <class O> __global__ void chain(typename O::type* out, long long* cycles, typename O::type a, typename O::type b, typename O::type y) {
  typedef typename O::type T;
  T x = a + (T)threadIdx.x, p = b + (T)(3 * threadIdx.x);
  y += (T)(threadIdx.x & 3);
  for (int warm = 0; warm < 2; warm++) {
    long long from = clock64();
#pragma unroll 1
    for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
      for (int k = 0; k < STEPS; k++) { T n = O::step(x, p, y); p = x; x = n; }
    }
    long long to = clock64();
    if (threadIdx.x == 0) *cycles = to - from;
  }
  out[threadIdx.x] = x;
}
template <class O, int CHAINS> __global__ void __launch_bounds__(1024) rate(typename O::type* out, long long* cycles, typename O::type a, typename O::type b, typename O::type y) {
  typedef typename O::type T;
  T x[CHAINS];
  y += (T)(threadIdx.x & 3);
#pragma unroll
  for (int k = 0; k < CHAINS; k++) x[k] = (k & 1 ? a : b) + (T)(threadIdx.x + k);
  __shared__ long long first, last;
  for (int warm = 0; warm < 2; warm++) {
    if (threadIdx.x == 0) { first = 0x7fffffffffffffffll; last = 0; }
    __syncthreads();
    long long from = clock64();
#pragma unroll 1
    for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
      for (int s = 0; s < STEPS / CHAINS; s++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++) x[k] = O::step(x[k], x[(k + 1) % CHAINS], y);
    }
    long long to = clock64();
    atomicMin(&first, from); atomicMax(&last, to);
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) *cycles = last - first;
    __syncthreads();
  }
  T s = x[0];
#pragma unroll
  for (int k = 1; k < CHAINS; k++) s = s + x[k];
  out[(blockIdx.x * 1024 + threadIdx.x) & 4095] = s;
}
// A register tile of a matrix product: SIDE x SIDE sums, from SIDE + SIDE values that change every step.
template <int SIDE> __global__ void __launch_bounds__(256) tile(float* out, long long* cycles, float a, float b) {
  float c[SIDE][SIDE] = {}, x[SIDE], y[SIDE];
#pragma unroll
  for (int k = 0; k < SIDE; k++) { x[k] = a + threadIdx.x * k; y[k] = b - threadIdx.x * k; }
  __shared__ long long first, last;
  if (threadIdx.x == 0) { first = 0x7fffffffffffffffll; last = 0; }
  __syncthreads();
  long long from = clock64();
#pragma unroll 1
  for (int r = 0; r < 256; r++) {
#pragma unroll
    for (int k = 0; k < SIDE; k++) { x[k] += 1.f; y[k] -= 1.f; }
#pragma unroll
    for (int i = 0; i < SIDE; i++)
#pragma unroll
      for (int j = 0; j < SIDE; j++) c[i][j] += x[i] * y[j];
  }
  long long to = clock64();
  atomicMin(&first, from); atomicMax(&last, to);
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) *cycles = last - first;
  float s = 0;
#pragma unroll
  for (int i = 0; i < SIDE; i++)
#pragma unroll
    for (int j = 0; j < SIDE; j++) s += c[i][j];
  out[threadIdx.x] = s;
}
void* buffer; long long* cycles;
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)); } } while (0)
template <class O> void measure(double a, double b, double y) {
  typedef typename O::type T;
  long long one, warps[3];
  chain<O><<<1, 32>>>((T*)buffer, cycles, (T)a, (T)b, (T)y);
  CHECK(cudaMemcpy(&one, cycles, 8, cudaMemcpyDeviceToHost));
  int sizes[3] = {128, 512, 1024};
  for (int k = 0; k < 3; k++) {
    rate<O, 4><<<132, sizes[k]>>>((T*)buffer, cycles, (T)a, (T)b, (T)y);
    CHECK(cudaMemcpy(&warps[k], cycles, 8, cudaMemcpyDeviceToHost));
  }
  double n = STEPS * ROUNDS;
  printf("%s,%.2f,%.3f,%.3f,%.3f\n", O::name(), one / n, 4 * n / warps[0], 16 * n / warps[1], 32 * n / warps[2]);
}
template <int SIDE> void tiles(const char* name) {
  long long c;
  for (int k = 0; k < 2; k++) { tile<SIDE><<<132, 256>>>((float*)buffer, cycles, 1, 2); CHECK(cudaMemcpy(&c, cycles, 8, cudaMemcpyDeviceToHost)); }
  printf("%s,,,%.3f,\n", name, 8. * 256 * SIDE * SIDE / c);
}
int main() {
  cudaMalloc(&buffer, 1 << 20); cudaMalloc(&cycles, 8);
  u32 host[1024];
  for (int k = 0; k < 1024; k++) host[k] = (k * 37 + 11) & 1023;
  cudaMemcpyToSymbol(table, host, sizeof host);
  for (int k = 0; k < 300; k++) rate<fma_f32, 4><<<132, 1024>>>((float*)buffer, cycles, 1, 1, 1);
  CHECK(cudaDeviceSynchronize());
  printf("op,latency_cycles,warp_ops_per_cycle_sm_4_warps,warp_ops_per_cycle_sm_16_warps,warp_ops_per_cycle_sm_32_warps\n");
#define I(NAME) measure<NAME>(12345, 6789, 7);
#define R(NAME) measure<NAME>(1.5, 0.75, 1.25);
  I(add_s32) I(lop3_b32) I(mul_lo_u32) I(mad_lo_u32) I(mul_hi_u32) I(shl_b32) I(shr_s32) I(shf_wrap) I(min_s32) I(max_u32) I(prmt_b32) I(bfe_u32) I(bfe_const_add) I(shr_const_xor) I(cvt_u8) I(and_add) I(bfi_b32) I(popc_b32) I(clz_b32) I(brev_add) I(dp4a_u32) I(sad_u32) I(setp_selp) I(mad_lo_two) I(mad_wide_index) I(div_s32) I(rem_u32)
  I(shfl_bfly) I(shfl_down_add) I(shfl_idx) I(vote_ballot) I(redux_add) I(match_any) I(bar_warp_add) I(clock_add) I(add_f16x2) I(fma_f16x2) I(fma_bf16x2) I(max_f16x2) I(ex2_f16x2) I(tanh_f16x2)
  I(add_s64) I(mul_lo_u64) I(mul_hi_u64) I(mad_lo_u64) I(div_u64) I(shl_b64) I(mad_wide_u32) I(popc_b64) I(setp_selp_64)
  R(add_f32) R(mul_f32) R(fma_f32) R(fma_f32_square) R(fma_f32_two) R(fma_f32_immediate) R(max_f32) R(setp_selp_f32) R(rcp_approx_ftz_add) R(rcp_approx) R(rsqrt_approx_ftz) R(sqrt_approx_ftz) R(sin_approx_ftz) R(ex2_approx_ftz) R(ex2_approx) R(lg2_approx_ftz) R(tanh_approx) R(div_rn_f32) R(div_approx_f32) R(div_full_f32) R(sqrt_rn_f32) R(rcp_rn_f32) R(f2i_i2f) R(f2h_h2f) R(cvt_rni_f32) R(f2bf_pack) R(f2d_d2f)
  R(add_f64) R(mul_f64) R(fma_f64) R(fma_f64_square) R(setp_selp_f64) R(div_rn_f64) R(sqrt_rn_f64) R(d2i_i2d) I(ldc_divergent) I(ldc_uniform)
  tiles<2>("fma_f32_tile_2x2_of_8_warps"); tiles<4>("fma_f32_tile_4x4_of_8_warps"); tiles<8>("fma_f32_tile_8x8_of_8_warps");
  CHECK(cudaDeviceSynchronize());
}
