import { describe, expect, it } from 'vitest';
import { parseModule } from '../ptx/index.js';
import { leftWords, WAYS, type Way } from './tests/everyWay.js';

const early = '.version 1.3\n.target sm_10, map_f64_to_f32\n.reg .u32 %ra<17>;\n.reg .f32 %fa<17>;';
const head = '.entry k\n{\n.reg .u32 %r<9>; .reg .u64 %rd<4>; .reg .f32 %f<9>; .reg .pred %p<4>;';
const smallest = '0f00400000';

/** The words that a kernel of the first compilers leaves in its buffer `p`, with 3 for `n`. */
function leaves(way: Way, header: string, text: string, count: number): number[] {
  return leftWords(way, `${header}\n${text}`, count, [3]);
}

describe.each(WAYS)('texts of the first compilers, %s', (way) => {
  it('take parameters that the body of an entry declares, and registers of the module', () => {
    const text = `@@DWARF .section .debug_pubnames, "", @progbits
@@DWARF .byte 0x2b, 0x00
${head}
.param .u64 __cudaparm_k_p;
.param .s32 __cudaparm_k_n;
$LBB1_k:
ld.param.u64 %rd1, [__cudaparm_k_p]; // id:12 __cudaparm_k_p+0x0
ld.param.s32 %ra1, [__cudaparm_k_n];
add.s32 %ra2, %ra1, 4;
{ .reg .u32 %ra<3>; mov.u32 %ra2, 99; }
st.global.u32 [%rd1+0], %ra2;
set.ne.u32.u32 %r4, %ra1, %ra2;
neg.s32 %r5, %r4;
st.global.u32 [%rd1+4], %r5;
setp.ne.u32 %p1, %ra1, 0;
vote.any.pred %p2, %p1;
selp.u32 %ra3, 1, 0, %p2;
st.global.s8 [%rd1+8], %ra3;
exit;
$LDWend_k:
} // k`;
    expect(leaves(way, early, text, 3)).toEqual([7, 1, 1]);
  });

  it('flush subnormals on sm_1x, and not on sm_20', () => {
    const body = `.entry k (.param .u64 p, .param .s32 n)
{ .reg .u64 %rd<3>; .reg .f32 %f<4>; .reg .u32 %r<3>; .reg .pred %p<2>;
ld.param.u64 %rd1, [p];
mov.f32 %f1, ${smallest};
add.f32 %f2, %f1, 0f00000000; st.global.f32 [%rd1], %f2;
mad.rn.f32 %f2, %f1, 0f3F800000, %f1; st.global.f32 [%rd1+4], %f2;
set.gt.u32.f32 %r1, %f1, 0f00000000; st.global.u32 [%rd1+8], %r1;
neg.f32 %f2, %f1; st.global.f32 [%rd1+12], %f2;
mov.f32 %f2, %f1; st.global.f32 [%rd1+16], %f2;
exit; }`;
    expect(leaves(way, '.version 1.4\n.target sm_13', body, 5)).toEqual([0, 0, 0, 0x80000000, 0x400000]);
    const later = '.version 2.3\n.target sm_20\n.address_size 64';
    expect(leaves(way, later, body, 5)).toEqual([0x400000, 0x800000, 0xffffffff, 0x80400000, 0x400000]);
  });

  it('approximate where they do not say so, up to 1.3', () => {
    const unspoken = `${head} .param .u64 p; .param .s32 n;
ld.param.u64 %rd1, [p];
mov.f32 %f1, 0f3F600000;
rcp.f32 %f2, %f1; st.global.f32 [%rd1], %f2;
sqrt.f32 %f2, %f1; st.global.f32 [%rd1+4], %f2;
rsqrt.f32 %f2, %f1; st.global.f32 [%rd1+8], %f2;
sin.f32 %f2, %f1; st.global.f32 [%rd1+12], %f2;
ex2.f32 %f2, %f1; st.global.f32 [%rd1+16], %f2;
lg2.f32 %f2, %f1; st.global.f32 [%rd1+20], %f2;
div.f32 %f2, %f1, 0f40400000; st.global.f32 [%rd1+24], %f2;
mad.f32 %f2, %f1, %f1, %f1; st.global.f32 [%rd1+28], %f2;
exit; }`;
    const spoken = unspoken
      .replace(/\b(rcp|sqrt|rsqrt|sin|ex2|lg2|div)\.f32/g, '$1.approx.ftz.f32')
      .replace('mad.f32', 'mad.rn.ftz.f32')
      .replace('.entry k\n{', '.entry k (.param .u64 p, .param .s32 n)\n{')
      .replace('.param .u64 p; .param .s32 n;\n', '\n');
    const expected = leaves(way, '.version 8.0\n.target sm_90\n.address_size 64', spoken, 8);
    expect(leaves(way, early, unspoken, 8)).toEqual(expected);
    expect(expected).not.toContain(0);
  });

  it('divide integers, which are never approximate', () => {
    const text = `${head} .param .u64 p; .param .s32 n;
ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
div.s32 %r2, -22, %r1; st.global.u32 [%rd1], %r2;
exit; }`;
    expect(leaves(way, early, text, 1)).toEqual([-7 >>> 0]);
  });

  it('read the number of the grid in 16 bits', () => {
    const body = `.entry k (.param .u64 p, .param .s32 n)
{ .reg .u64 %rd<3>; .reg .u16 %h; ld.param.u64 %rd1, [p]; mov.u16 %h, %gridid; st.global.u16 [%rd1], %h; exit; }`;
    expect(leaves(way, '.version 1.4\n.target sm_13', body, 1)[0]).toBeLessThan(0x10000);
  });
});

describe('registers of the module', () => {
  const body = '.func f { mov.u32 %ra1, 7; ret; } .entry k { call f; exit; }';
  it('are refused by name where functions share them, and are not PTX from 3.0 on', () => {
    const module = parseModule(`.version 1.3\n.target sm_13\n.reg .u32 %ra<3>;\n${body}`, 'f.ptx');
    expect(module.functions[0]?.refusal?.instruction).toBe('.reg %ra1');
    expect(() => parseModule(`.version 3.0\n.target sm_20\n.reg .u32 %ra<3>;\n${body}`, 'f.ptx')).toThrow(
      "f.ptx:3: expected registers inside of functions (outside, up to PTX 2.3), found '.reg'",
    );
  });
});
