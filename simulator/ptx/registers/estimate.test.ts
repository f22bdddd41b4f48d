import { describe, expect, it } from 'vitest';
import { estimateRegistersPerThread, lowerModule, parseModule, type IrFunction } from '../index.js';

function kernel(body: string): IrFunction {
  const text = `.version 9.0\n.target sm_90\n.address_size 64\n${body}`;
  const fn = lowerModule(parseModule(text, 'k.ptx')).functions.find(({ isEntry }) => isEntry);
  if (fn === undefined || fn.refusal !== undefined) throw new Error('not a kernel');
  return fn;
}

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

/** Loads `count` words, then stores them where the assembler cannot know that nothing overlaps. */
function heldWords(count: number, directives = ''): IrFunction {
  return kernel(`.entry k(.param .u64 p, .param .u64 q) ${directives} {
    .reg .b32 %r<${count}>; .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [p];
    ld.param.u64 %rd1, [q];
    ${lines(count, (index) => `ld.global.u32 %r${index}, [%rd0+${index * 4}];`)}
    ${lines(count, (index) => `st.global.u32 [%rd1+${index * 4}], %r${index};`)}
    ret; }`);
}

/** A loop that sums a row, with what stands before its first instruction. */
function rowSum(pragma: string, step: string): IrFunction {
  return kernel(`.entry k(.param .u64 p, .param .u32 n) {
    .reg .b32 %i<3>; .reg .f32 %f<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd0, [p];
    ld.param.u32 %i2, [n];
    mov.u32 %i0, %tid.x;
    mul.wide.u32 %rd1, %i0, 4;
    add.s64 %rd2, %rd0, %rd1;
    mov.f32 %f0, 0f00000000;
    mov.u32 %i1, 0;
  L:
    ${pragma}
    ${lines(6, (index) => `ld.global.f32 %f1, [%rd2+${index * 128}]; add.f32 %f0, %f0, %f1;`)}
    add.s64 %rd2, %rd2, 1024;
    add.s32 %i1, %i1, ${step};
    setp.lt.s32 %p0, %i1, %i2;
    @%p0 bra L;
    st.global.f32 [%rd2], %f0;
    ret; }`);
}

describe('registers a thread', () => {
  it('holds values that must live at once', () => {
    expect(estimateRegistersPerThread(heldWords(100))).toBeGreaterThan(100);
    expect(estimateRegistersPerThread(heldWords(100))).toBeLessThan(112);
  });

  it('needs none for parameters, constants and block indices', () => {
    const fn = kernel(`.entry k(.param .u64 p, .param .u32 a, .param .u32 b, .param .u32 c) {
      .reg .b32 %r<9>; .reg .b64 %rd<3>;
      ld.param.u64 %rd0, [p]; ld.param.u32 %r0, [a]; ld.param.u32 %r1, [b]; ld.param.u32 %r2, [c];
      mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r6, %r3, %r4, %r5;
      mul.wide.u32 %rd1, %r6, 4; add.s64 %rd2, %rd0, %rd1;
      add.s32 %r7, %r0, %r1; mul.lo.s32 %r7, %r7, %r2; add.s32 %r8, %r6, %r7;
      st.global.u32 [%rd2], %r8; ret; }`);
    expect(estimateRegistersPerThread(fn)).toBeLessThanOrEqual(12);
  });

  it('hoists the loads of a loop that it unrolls, within the registers of a full SM', () => {
    const unrolled = estimateRegistersPerThread(rowSum('', '1'));
    expect(unrolled).toBeGreaterThanOrEqual(28);
    expect(unrolled).toBeLessThanOrEqual(32);
  });

  it.each([
    ['a pragma', rowSum('.pragma "nounroll";', '1')],
    ['a step that is no constant', rowSum('', '%i0')],
  ])('leaves a loop as it is for %s', (_, fn) => {
    expect(estimateRegistersPerThread(fn)).toBeLessThanOrEqual(18);
  });

  it.each([
    ['.maxnreg 64', 64],
    ['.maxntid 256, 1, 1 .minnctapersm 4', 64],
    ['.reqntid 16, 64, 1', 64],
    ['.maxntid 1024, 1, 1 .minnctapersm 2', 32],
    ['.maxntid 128, 1, 1', 200],
  ])('is capped by %s', (directives, most) => {
    const found = estimateRegistersPerThread(heldWords(200, directives));
    if (most < 200) expect(found).toBe(most);
    else expect(found).toBeGreaterThan(most);
  });

  it('calls functions of the device runtime by the convention', () => {
    const fn = kernel(`.extern .func (.param .b64 r) malloc (.param .b64 s);
      .entry k(.param .u64 p) { .reg .b64 %rd<3>;
      { .param .b64 a; .param .b64 b; st.param.b64 [a], 64; call.uni (b), malloc, (a); ld.param.b64 %rd0, [b]; }
      ld.param.u64 %rd1, [p]; st.global.u64 [%rd1], %rd0; ret; }`);
    expect(estimateRegistersPerThread(fn)).toBe(24);
  });
});
