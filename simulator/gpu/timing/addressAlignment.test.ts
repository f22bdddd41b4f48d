import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { registerAlignments } from './addressAlignment.js';

/** What is known of the register that is written last. */
function alignmentOf(body: string): { modulus: number; remainder: number } | undefined {
  const [kernel] = parseModule(
    `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n) {
  .reg .b32 %r<9>; .reg .pred %p<2>;
  .shared .align 4 .b8 tile[8320];
  mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
  ${body}
  ret;
}`,
    'k.ptx',
  ).functions;
  return registerAlignments(kernel)[kernel.registers.findIndex(({ name }) => name === '%r8')];
}

describe('what the code tells of an address', () => {
  it('rows of 16 words are aligned for the widest load, rows of 65 for none', () => {
    expect(alignmentOf('mad.lo.s32 %r8, %r1, 64, %r2;')).toEqual({ modulus: 16, remainder: 0 });
    expect(alignmentOf('mad.lo.s32 %r8, %r1, 260, %r2;')).toEqual({ modulus: 4, remainder: 0 });
    expect(alignmentOf('shl.b32 %r3, %r1, 3; add.s32 %r8, %r2, %r3;')).toEqual({ modulus: 8, remainder: 0 });
  });

  it('keeps remainders', () => {
    expect(alignmentOf('add.s32 %r3, %r2, 20; sub.s32 %r8, %r3, 8;')).toEqual({ modulus: 16, remainder: 12 });
    expect(alignmentOf('shl.b32 %r3, %r1, 1; add.s32 %r3, %r3, 1; mul.lo.s32 %r8, %r3, 4;')).toEqual({
      modulus: 4,
      remainder: 0,
    });
  });

  it('takes what all turns of a loop have in common', () => {
    const loop = (step: number): string =>
      `mov.u32 %r8, tile; $top: add.s32 %r8, %r8, ${step}; setp.lt.s32 %p1, %r8, 4096; @%p1 bra $top;`;
    expect(alignmentOf(loop(32))).toEqual({ modulus: 16, remainder: 0 });
    expect(alignmentOf(loop(8))).toEqual({ modulus: 8, remainder: 0 });
  });

  it('knows nothing of what is loaded', () => {
    expect(alignmentOf('ld.param.u32 %r8, [n];')).toEqual({ modulus: 1, remainder: 0 });
  });
});
