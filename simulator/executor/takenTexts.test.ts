import { describe, expect, it } from 'vitest';
import { leftWords, WAYS } from './tests/everyWay.js';

const modern = '.version 8.0\n.target sm_90\n.address_size 64\n';
/** `.tex` and the like were given up with PTX 1.5. */
const first = '.version 1.4\n.target sm_13\n';
const registers =
  '.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<32>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .u64 %o;';
const out = `${registers} ld.param.u64 %o, [p];`;
/** Where a thread stores its own words. */
const own = `${out} mov.u32 %r30, %tid.x; mul.wide.u32 %rd8, %r30, 4; add.u64 %o, %o, %rd8;`;
const lanes = (of: (lane: number) => number): number[] =>
  Array.from({ length: 32 }, (_, lane) => of(lane) >>> 0);

/** What ptxas takes beside what nvcc writes today, with the words that a thread, or each lane, leaves. */
const TEXTS: readonly (readonly [what: string, text: string, words: readonly number[]])[] = [
  [
    'a prototype without a semicolon, and its body behind it',
    `${modern}.func (.param .b32 r) twice (.param .b32 a)
.func (.param .b32 r) twice (.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a]; add.s32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; }
.entry k(.param .u64 p) { ${own}
{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r30; call (r), twice, (a); ld.param.b32 %r1, [r]; }
st.global.u32 [%o], %r1; ret; }`,
    lanes((lane) => 2 * lane),
  ],
  [
    'variables of a kernel in .global and .const, of scopes with the same name',
    `${modern}.global .u32 g = 1;
.entry k(.param .u64 p) { ${out} .global .u32 g = 2; .const .u32 c[2] = {3, 4}; .global .u64 q = c+4;
{ .const .u32 g = 5; ld.const.u32 %r1, [g]; } ld.global.u32 %r2, [g]; ld.const.u32 %r3, [c];
ld.global.u64 %rd1, [q]; ld.const.u32 %r4, [%rd1];
st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4}; ret; }`,
    [5, 2, 3, 4],
  ],
  [
    'vectors and predicates as parameters of a function, in registers',
    `${modern}.func (.reg .pred q, .reg .u32 s) f (.reg .pred p, .reg .v2 .u32 a) { setp.lt.and.u32 q, a.x, a.y, p; sub.u32 s, a.y, a.x; ret; }
.entry k(.param .u64 p) { ${own} .reg .v2 .u32 %v; .reg .pred %q;
mov.u32 %v.x, %r30; mov.u32 %v.y, 20; setp.ne.u32 %p1, %r30, 3;
call (%q, %r1), f, (%p1, %v);
selp.u32 %r1, %r1, 99, %q; st.global.u32 [%o], %r1; ret; }`,
    lanes((lane) => (lane < 20 && lane !== 3 ? 20 - lane : 99)),
  ],
  [
    'a vector that a function returns',
    `${modern}.func (.reg .v2 .u32 r) f (.reg .u32 a, .reg .v4 .u32 b) { add.u32 r.x, a, b.w; mul.lo.u32 r.y, a, b.x; ret; }
.entry k(.param .u64 p) { ${own} .reg .v2 .u32 %v; .reg .v4 .u32 %w; mov.u32 %w.x, 3; mov.u32 %w.y, 0; mov.u32 %w.z, 0; mov.u32 %w.w, 100;
call (%v), f, (%r30, %w); add.u32 %r1, %v.x, %v.y; st.global.u32 [%o], %r1; ret; }`,
    lanes((lane) => 4 * lane + 100),
  ],
  [
    'a predicate that goes through two functions',
    `${modern}.func (.reg .pred q) not (.reg .pred p) { not.pred q, p; ret; }
.func (.reg .pred q) same (.reg .pred p) { .reg .pred t; call (t), not, (p); call (q), not, (t); ret; }
.entry k(.param .u64 p) { ${own} .reg .pred %q; and.b32 %r1, %r30, 1; setp.eq.u32 %p1, %r1, 1;
call (%q), same, (%p1); @%q bra L; add.u32 %r1, %r1, 10; L: st.global.u32 [%o], %r1; ret; }`,
    lanes((lane) => (lane % 2 === 1 ? 1 : 10)),
  ],
  [
    'vectors in registers',
    `${modern}.entry k(.param .u64 p) { ${own} .reg .v4 .f32 %v; .reg .v2 .u32 %w;
cvt.rn.f32.u32 %f1, %r30; mov.f32 %v.x, %f1; mov.f32 %v.y, 0f40000000; mov.f32 %v.z, 0f3F800000; mov.f32 %v.w, %v.y;
fma.rn.f32 %f2, %v.x, %v.y, %v.z; mul.f32 %f2, %f2, %v.w; cvt.rzi.u32.f32 %w.y, %f2; mov.u32 %w.x, %w.y;
st.global.u32 [%o], %w.x; ret; }`,
    lanes((lane) => (2 * lane + 1) * 2),
  ],
  [
    'constant expressions in operands, offsets and initial values',
    `${modern}.global .align 8 .u8 g[16] = {1+1, ~0, (3+4)*5-1};
.entry k(.param .u64 p) { ${out} mov.u32 %r1, (3+4)*5-1; mov.u32 %r2, ~5; add.u32 %r3, %r1, 1<<4|3;
ld.global.u8 %r4, [g+4-2]; ld.global.u8 %r5, [g + (1 ? 1 : 0)]; mov.s32 %r6, -7/2; mov.u32 %r7, 017 + 0b101 + 0x1FU;
st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4}; st.global.v4.u32 [%o+(2*8)], {%r5, %r6, %r7, 2+3*4}; ret; }`,
    [34, 0xfffffffa, 53, 34, 255, 0xfffffffd, 51, 14],
  ],
  [
    'bytes and words of addresses as initial values',
    `${modern}.global .u32 g[4] = {7, 8, 9, 10};
.global .align 8 .u8 b[8] = {0xff(g), 0xff00(g), 0xff0000(g), 0xff000000(g), 0xff00000000(g), 0xff0000000000(g), 0xff000000000000(g), 0xff00000000000000(g)};
.global .u64 q = generic(g)+8; .global .u32 l = g+4;
.entry k(.param .u64 p) { ${out} ld.global.u64 %rd1, [b]; ld.global.u32 %r1, [%rd1+12];
ld.global.u64 %rd2, [q]; ld.u32 %r2, [%rd2]; ld.global.u32 %r3, [l]; cvt.u32.u64 %r4, %rd1; sub.u32 %r3, %r3, %r4;
st.global.v2.u32 [%o], {%r1, %r2}; st.global.u32 [%o+8], %r3; ret; }`,
    [10, 9, 4],
  ],
  [
    'textures by name that nothing reads',
    `${first}.tex .u64 ta, tb;
.entry k(.param .u64 p) { ${own} add.u32 %r1, %r30, 1; st.global.u32 [%o], %r1; exit; }`,
    lanes((lane) => lane + 1),
  ],
  [
    'braces around one register, as code for Triton has them',
    `${modern}.shared .u32 s[32];
.entry k(.param .u64 .ptr .global .align 1 p) { ${own} setp.lt.u32 %p1, %r30, 30;
mov.u32 %r1, 0x7; st.global.b32 [ %o + 0 ], { %r30 }; @%p1 ld.global.b32 { %r1 }, [ %o + 0 ];
mov.b32 {%r2}, {%r1}; shl.b32 %r3, %r30, 2; mov.u32 %r4, s; add.u32 %r4, %r4, %r3;
st.shared.b32 [ %r4 + 0 ], {%r2}; ld.volatile.shared.b32 {%r5}, [%r4]; cvt.u16.u32 %h1, %r5;
mov.u16 %h2, 0x0; st.global.b8 [ %o + 1 ], { %h1 }; ld.global.L1::evict_first.b16 { %h2 }, [ %o + 0 ];
cvt.u32.u16 %r6, %h2; add.u32 %r6, %r6, %r5; st.global.b32 [%o], {%r6}; ret; }`,
    lanes((lane) => {
      const kept = lane < 30 ? lane : 7;
      return (kept << 8) + lane + kept;
    }),
  ],
  [
    'no address size, from 2.3 on',
    `.version 2.3\n.target sm_20\n.entry k(.param .u64 p) { ${own} st.global.u32 [%o], %r30; ret; }`,
    lanes((lane) => lane),
  ],
];

describe.each(WAYS)('texts that the assembler takes, %s', (way) => {
  it.each(TEXTS)('%s', (_what, text, words) => {
    expect(leftWords(way, text, words.length)).toEqual(words);
  });
});
