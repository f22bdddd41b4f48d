// What a card answers to texture and surface instructions; compiled to a cubin, run by runTextures.py.
// Every kernel: handle, points (4 words each), two further operands (4 words each), results (4 words each), count.
#include <cstdint>
#define ARGS unsigned long long t, const float4 *c, const float4 *d, const float4 *e, uint4 *o, int n
#define BODY(NAME, ASM)                                                                  \
  extern "C" __global__ void NAME(ARGS) {                                                \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                       \
    if (i >= n) return;                                                                  \
    float4 p = c[i], q = d[i], r = e[i];                                                 \
    uint4 v = make_uint4(0, 0, 0, 0);                                                    \
    (void)(q.x + r.x);                                                                   \
    ASM;                                                                                 \
    o[i] = v;                                                                            \
  }
#define OUT "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
#define BITS(x) __float_as_int(x)
#define TEX1(NAME, OP) BODY(NAME, asm volatile(OP " {%0,%1,%2,%3}, [%4, {%5}];" : OUT : "l"(t), "f"(p.x)))
#define TEX2(NAME, OP) BODY(NAME, asm volatile(OP " {%0,%1,%2,%3}, [%4, {%5,%6}];" : OUT : "l"(t), "f"(p.x), "f"(p.y)))
#define TEX3(NAME, OP) BODY(NAME, asm volatile(OP " {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];" : OUT : "l"(t), "f"(p.x), "f"(p.y), "f"(p.z)))
#define TEXA1(NAME, OP) BODY(NAME, asm volatile(OP " {%0,%1,%2,%3}, [%4, {%5,%6}];" : OUT : "l"(t), "r"(BITS(p.w)), "f"(p.x)))
#define TEXA2(NAME, OP) BODY(NAME, asm volatile(OP " {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];" : OUT : "l"(t), "r"(BITS(p.w)), "f"(p.x), "f"(p.y)))
#define TEXAC(NAME, OP) BODY(NAME, asm volatile(OP " {%0,%1,%2,%3}, [%4, {%5,%6,%7,%8}];" : OUT : "l"(t), "r"(BITS(p.w)), "f"(p.x), "f"(p.y), "f"(p.z)))
TEX1(tex1, "tex.1d.v4.u32.f32")
TEX2(tex2, "tex.2d.v4.u32.f32")
TEX3(tex3, "tex.3d.v4.u32.f32")
TEXA1(texa1, "tex.a1d.v4.u32.f32")
TEXA2(texa2, "tex.a2d.v4.u32.f32")
TEX3(texc, "tex.cube.v4.u32.f32")
TEXAC(texac, "tex.acube.v4.u32.f32")
BODY(tex1i, asm volatile("tex.1d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5}];" : OUT : "l"(t), "r"(BITS(p.x))))
BODY(tex2i, asm volatile("tex.2d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6}];" : OUT : "l"(t), "r"(BITS(p.x)), "r"(BITS(p.y))))
BODY(tex3i, asm volatile("tex.3d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];" : OUT : "l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "r"(BITS(p.z))))
BODY(texa2i, asm volatile("tex.a2d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];" : OUT : "l"(t), "r"(BITS(p.w)), "r"(BITS(p.x)), "r"(BITS(p.y))))
BODY(lod1, asm volatile("tex.level.1d.v4.u32.f32 {%0,%1,%2,%3}, [%4, {%5}], %6;" : OUT : "l"(t), "f"(p.x), "f"(q.x)))
BODY(lod2, asm volatile("tex.level.2d.v4.u32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}], %7;" : OUT : "l"(t), "f"(p.x), "f"(p.y), "f"(q.x)))
BODY(lod3, asm volatile("tex.level.3d.v4.u32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}], %8;" : OUT : "l"(t), "f"(p.x), "f"(p.y), "f"(p.z), "f"(q.x)))
BODY(lodc, asm volatile("tex.level.cube.v4.u32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}], %8;" : OUT : "l"(t), "f"(p.x), "f"(p.y), "f"(p.z), "f"(q.x)))
BODY(lod2i, asm volatile("tex.level.2d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6}], %7;" : OUT : "l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "r"(BITS(q.x))))
BODY(grad1, asm volatile("tex.grad.1d.v4.u32.f32 {%0,%1,%2,%3}, [%4, {%5}], {%6}, {%7};" : OUT : "l"(t), "f"(p.x), "f"(q.x), "f"(r.x)))
BODY(grad2, asm volatile("tex.grad.2d.v4.u32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}], {%7,%8}, {%9,%10};" : OUT : "l"(t), "f"(p.x), "f"(p.y), "f"(q.x), "f"(q.y), "f"(r.x), "f"(r.y)))
BODY(grad3, asm volatile("tex.grad.3d.v4.u32.f32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}], {%8,%9,%10,%10}, {%11,%12,%13,%13};" : OUT : "l"(t), "f"(p.x), "f"(p.y), "f"(p.z), "f"(q.x), "f"(q.y), "f"(q.z), "f"(r.x), "f"(r.y), "f"(r.z)))
TEX2(gather_r, "tld4.r.2d.v4.u32.f32")
TEX2(gather_g, "tld4.g.2d.v4.u32.f32")
TEX2(gather_b, "tld4.b.2d.v4.u32.f32")
TEX2(gather_a, "tld4.a.2d.v4.u32.f32")
TEXA2(gathera_r, "tld4.r.a2d.v4.u32.f32")
TEX3(gatherc_r, "tld4.r.cube.v4.u32.f32")
#define QUERY(NAME, OP) BODY(NAME, asm volatile(OP " %0, [%1];" : "=r"(v.x) : "l"(t)))
QUERY(q_width, "txq.width.b32")
QUERY(q_height, "txq.height.b32")
QUERY(q_depth, "txq.depth.b32")
QUERY(q_type, "txq.channel_data_type.b32")
QUERY(q_order, "txq.channel_order.b32")
QUERY(q_layers, "txq.array_size.b32")
QUERY(q_levels, "txq.num_mipmap_levels.b32")
QUERY(q_samples, "txq.num_samples.b32")
BODY(q_level, asm volatile("txq.level.width.b32 %0, [%1], %2;" : "=r"(v.x) : "l"(t), "r"(BITS(q.x))); asm volatile("txq.level.height.b32 %0, [%1], %2;" : "=r"(v.y) : "l"(t), "r"(BITS(q.x))); asm volatile("txq.level.depth.b32 %0, [%1], %2;" : "=r"(v.z) : "l"(t), "r"(BITS(q.x))))
QUERY(s_width, "suq.width.b32")
QUERY(s_height, "suq.height.b32")
QUERY(s_depth, "suq.depth.b32")
QUERY(s_type, "suq.channel_data_type.b32")
QUERY(s_order, "suq.channel_order.b32")
QUERY(s_layers, "suq.array_size.b32")
#define LD(NAME, TYPE, SHAPE, COORDS, MODE, WIDE)                                                                    \
  BODY(NAME, WIDE("suld.b." SHAPE, TYPE, COORDS, MODE))
#define W32(OP, TYPE, COORDS, MODE) asm volatile(OP "." TYPE "." MODE " {%0}, [%1, {" COORDS "}];" : "=r"(v.x) : "l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "r"(BITS(p.z)), "r"(BITS(p.w)))
#define W128(OP, TYPE, COORDS, MODE) asm volatile(OP ".v4." TYPE "." MODE " {%0,%1,%2,%3}, [%4, {" COORDS "}];" : OUT : "l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "r"(BITS(p.z)), "r"(BITS(p.w)))
#define W16(OP, TYPE, COORDS, MODE) unsigned short h; asm volatile(OP "." TYPE "." MODE " {%0}, [%1, {" COORDS "}];" : "=h"(h) : "l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "r"(BITS(p.z)), "r"(BITS(p.w))); v.x = h
#define W64(OP, TYPE, COORDS, MODE) unsigned long long h; asm volatile(OP "." TYPE "." MODE " {%0}, [%1, {" COORDS "}];" : "=l"(h) : "l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "r"(BITS(p.z)), "r"(BITS(p.w))); v.x = (unsigned)h; v.y = (unsigned)(h >> 32)
LD(ld1_b32_zero, "b32", "1d", "%2", "zero", W32)
LD(ld1_b32_clamp, "b32", "1d", "%2", "clamp", W32)
LD(ld2_b32_zero, "b32", "2d", "%2,%3", "zero", W32)
LD(ld2_b32_clamp, "b32", "2d", "%2,%3", "clamp", W32)
LD(ld2_b32_trap, "b32", "2d", "%2,%3", "trap", W32)
LD(ld2_b8_zero, "b8", "2d", "%2,%3", "zero", W16)
LD(ld2_b8_clamp, "b8", "2d", "%2,%3", "clamp", W16)
LD(ld2_b16_zero, "b16", "2d", "%2,%3", "zero", W16)
LD(ld2_b16_clamp, "b16", "2d", "%2,%3", "clamp", W16)
LD(ld2_b64_zero, "b64", "2d", "%2,%3", "zero", W64)
LD(ld2_b64_clamp, "b64", "2d", "%2,%3", "clamp", W64)
LD(ld2_v4b32_zero, "b32", "2d", "%5,%6", "zero", W128)
LD(ld2_v4b32_clamp, "b32", "2d", "%5,%6", "clamp", W128)
LD(ld3_b32_zero, "b32", "3d", "%2,%3,%4,%4", "zero", W32)
LD(ld3_b32_clamp, "b32", "3d", "%2,%3,%4,%4", "clamp", W32)
LD(lda1_b32_zero, "b32", "a1d", "%5,%2", "zero", W32)
LD(lda1_b32_clamp, "b32", "a1d", "%5,%2", "clamp", W32)
LD(lda2_b32_zero, "b32", "a2d", "%5,%2,%3,%3", "zero", W32)
LD(lda2_b32_clamp, "b32", "a2d", "%5,%2,%3,%3", "clamp", W32)
#define ST(NAME, OP, COORDS) BODY(NAME, asm volatile(OP " [%0, {" COORDS "}], {%5};" ::"l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "r"(BITS(p.z)), "r"(BITS(p.w)), "r"(BITS(q.x)) : "memory"); v.x = 1)
#define RED(NAME, OP, COORDS) BODY(NAME, asm volatile(OP " [%0, {" COORDS "}], %5;" ::"l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "r"(BITS(p.z)), "r"(BITS(p.w)), "r"(BITS(q.x)) : "memory"); v.x = 1)
#define ST4(NAME, OP, COORDS) BODY(NAME, asm volatile(OP " [%0, {" COORDS "}], {%5,%6,%7,%8};" ::"l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "r"(BITS(p.z)), "r"(BITS(p.w)), "r"(BITS(q.x)), "r"(BITS(q.y)), "r"(BITS(q.z)), "r"(BITS(q.w)) : "memory"); v.x = 1)
ST(st2_b32_zero, "sust.b.2d.b32.zero", "%1,%2")
ST(st2_b32_clamp, "sust.b.2d.b32.clamp", "%1,%2")
ST(st2_b32_trap, "sust.b.2d.b32.trap", "%1,%2")
ST4(st2_v4b32_zero, "sust.b.2d.v4.b32.zero", "%1,%2")
ST4(st2_v4b32_clamp, "sust.b.2d.v4.b32.clamp", "%1,%2")
BODY(st2_b8_clamp, asm volatile("sust.b.2d.b8.clamp [%0, {%1,%2}], {%3};" ::"l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "h"((unsigned short)BITS(q.x)) : "memory"))
BODY(st2_b16_clamp, asm volatile("sust.b.2d.b16.clamp [%0, {%1,%2}], {%3};" ::"l"(t), "r"(BITS(p.x)), "r"(BITS(p.y)), "h"((unsigned short)BITS(q.x)) : "memory"))
ST(stp2_zero, "sust.p.2d.b32.zero", "%1,%2")
ST(stp2_clamp, "sust.p.2d.b32.clamp", "%1,%2")
ST4(stp2_v4_zero, "sust.p.2d.v4.b32.zero", "%1,%2")
ST4(stp2_v4_clamp, "sust.p.2d.v4.b32.clamp", "%1,%2")
RED(red2_add_u32_clamp, "sured.b.2d.add.u32.clamp", "%1,%2")
RED(red2_add_u32_zero, "sured.b.2d.add.u32.zero", "%1,%2")
RED(red2_min_s32_clamp, "sured.b.2d.min.s32.clamp", "%1,%2")
RED(red2_max_u32_clamp, "sured.b.2d.max.u32.clamp", "%1,%2")
RED(red2_and_b32_clamp, "sured.b.2d.and.b32.clamp", "%1,%2")
RED(red2_or_b32_clamp, "sured.b.2d.or.b32.clamp", "%1,%2")
RED(redp2_add_b32_clamp, "sured.p.2d.add.b32.clamp", "%1,%2")
RED(redp2_min_b32_clamp, "sured.p.2d.min.b32.clamp", "%1,%2")
BODY(is_tex, asm volatile("{.reg .pred %%q; istypep.texref %%q, %1; selp.u32 %0, 1, 0, %%q;}" : "=r"(v.x) : "l"(t)); asm volatile("{.reg .pred %%q; istypep.surfref %%q, %1; selp.u32 %0, 1, 0, %%q;}" : "=r"(v.y) : "l"(t)); asm volatile("{.reg .pred %%q; istypep.samplerref %%q, %1; selp.u32 %0, 1, 0, %%q;}" : "=r"(v.z) : "l"(t)))

// Times: one warp's chain of dependent fetches, and many independent ones of so many warps; cycles of the clock of an SM.
// `step` is 0 at run time, so that an address depends on the result before it and stays the same.
#define CHAIN(NAME, FETCH)                                                                                            \
  extern "C" __global__ void NAME(unsigned long long t, float step, float spread, int rounds, uint2 *o) {             \
    float x = spread * (threadIdx.x & 31) + 0.5f, y = 0.5f + (threadIdx.x >> 5);                                      \
    float4 f = make_float4(0, 0, 0, 0);                                                                               \
    for (int i = 0; i < 16; ++i) { FETCH; x += f.x * step; }                                                          \
    __syncthreads();                                                                                                  \
    unsigned s = clock();                                                                                             \
    for (int i = 0; i < rounds; ++i) { FETCH; x += f.x * step; }                                                      \
    unsigned z = clock();                                                                                             \
    if ((threadIdx.x & 31) == 0) o[blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)] = make_uint2(s, z);           \
    if (x == 12345.678f) o[0].x = 1;                                                                                  \
  }
#define RATE(NAME, FETCH)                                                                                             \
  extern "C" __global__ void NAME(unsigned long long t, float step, float spread, int rounds, uint2 *o) {             \
    float x0 = spread * (threadIdx.x & 31) + 0.5f, y = 0.5f + (threadIdx.x >> 5), sum = 0;                            \
    float4 f = make_float4(0, 0, 0, 0);                                                                               \
    float x = x0;                                                                                                     \
    for (int i = 0; i < 16; ++i) { FETCH; sum += f.x; }                                                               \
    __syncthreads();                                                                                                  \
    unsigned s = clock();                                                                                             \
    for (int i = 0; i < rounds; ++i) {                                                                                \
      _Pragma("unroll") for (int k = 0; k < 8; ++k) { x = x0 + (float)k + step * (float)i; FETCH; sum += f.x + f.w; } \
    }                                                                                                                 \
    __syncthreads();                                                                                                  \
    unsigned z = clock();                                                                                             \
    if ((threadIdx.x & 31) == 0) o[blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)] = make_uint2(s, z);           \
    if (sum == 12345.678f) o[0].x = 1;                                                                                \
  }
#define FT(OP, COORDS) asm volatile(OP " {%0,%1,%2,%3}, [%4, {" COORDS "}];" : "=f"(f.x), "=f"(f.y), "=f"(f.z), "=f"(f.w) : "l"(t), "f"(x), "f"(y), "r"((int)x), "r"((int)y))
#define BOTH(NAME, FETCH) CHAIN(chain_##NAME, FETCH) RATE(rate_##NAME, FETCH)
BOTH(tex1, FT("tex.1d.v4.f32.f32", "%5"))
BOTH(tex1i, FT("tex.1d.v4.f32.s32", "%7"))
BOTH(tex2, FT("tex.2d.v4.f32.f32", "%5,%6"))
BOTH(tex3, FT("tex.3d.v4.f32.f32", "%5,%6,%6,%6"))
BOTH(texa2, FT("tex.a2d.v4.f32.f32", "%8,%5,%6,%6"))
BOTH(texc, FT("tex.cube.v4.f32.f32", "%5,%6,%6,%6"))
BOTH(lod2, FT("tex.level.2d.v4.f32.f32", "%5,%6}], %6; // {"))
BOTH(gather, FT("tld4.r.2d.v4.f32.f32", "%5,%6"))
// Of one channel: the others are not asked for.
BOTH(tex2one, asm volatile("{.reg .f32 %%a, %%b, %%c; tex.2d.v4.f32.f32 {%0,%%a,%%b,%%c}, [%1, {%2,%3}];}" : "=f"(f.x) : "l"(t), "f"(x), "f"(y)))
BOTH(suld, asm volatile("suld.b.2d.b32.zero {%0}, [%1, {%2,%3}];" : "=f"(f.x) : "l"(t), "r"((int)x * 4), "r"((int)y)))
BOTH(sust, asm volatile("sust.b.2d.b32.zero [%0, {%1,%2}], {%3};" ::"l"(t), "r"((int)x * 4), "r"((int)y), "f"(x) : "memory"))
BOTH(sured, asm volatile("sured.b.2d.add.u32.clamp [%0, {%1,%2}], %3;" ::"l"(t), "r"((int)x * 4), "r"((int)y), "r"((int)x) : "memory"))

// Whole launches, as programs have them.
extern "C" __global__ void launch_copy(unsigned long long t, float *o, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) o[y * w + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}
extern "C" __global__ void launch_transposed(unsigned long long t, float *o, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) o[y * w + x] = tex2D<float>(t, y + 0.5f, x + 0.5f);
}
extern "C" __global__ void launch_stencil(unsigned long long t, float *o, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float s = 0;
#pragma unroll
  for (int j = -1; j <= 1; ++j)
#pragma unroll
    for (int i = -1; i <= 1; ++i) s += tex2D<float>(t, x + i + 0.5f, y + j + 0.5f);
  o[y * w + x] = s;
}
extern "C" __global__ void launch_rotate(unsigned long long t, float *o, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float u = x - 0.5f * w, v = y - 0.5f * h;
  o[y * w + x] = tex2D<float>(t, 0.8f * u - 0.6f * v + 0.5f * w, 0.6f * u + 0.8f * v + 0.5f * h);
}
extern "C" __global__ void launch_row17(unsigned long long t, float *o, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float s = 0;
#pragma unroll
  for (int i = -8; i <= 8; ++i) s += (9 - abs(i)) * tex2D<float>(t, x + i + 0.5f, y + 0.5f);
  o[y * w + x] = s;
}
extern "C" __global__ void launch_random(unsigned long long t, float *o, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  unsigned k = (y * w + x) * 2654435761u; k ^= k >> 15; k *= 2246822519u; k ^= k >> 13;
  o[y * w + x] = tex2D<float>(t, (k & 0xffff) * (w / 65536.0f), (k >> 16) * (h / 65536.0f));
}
extern "C" __global__ void launch_surface(unsigned long long t, float *o, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float v;
  asm volatile("suld.b.2d.b32.zero {%0}, [%1, {%2,%3}];" : "=f"(v) : "l"(t), "r"(x * 4), "r"(y));
  asm volatile("sust.b.2d.b32.zero [%0, {%1,%2}], {%3};" ::"l"(t), "r"(x * 4), "r"(y), "f"(v + 1) : "memory");
}
