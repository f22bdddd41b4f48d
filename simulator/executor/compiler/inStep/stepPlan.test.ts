import { describe, expect, it } from 'vitest';
import { parseModule } from '../../../ptx/index.js';
import { planSteps } from './stepPlan.js';

/** Whether lanes wait for one another in a kernel with `%t` = tid.x and `%out` its output. */
function waits(body: string): boolean {
  const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_out, .param .u64 k_in)
{
.reg .b32 %t, %r<9>;
.reg .b64 %out, %in, %q<9>;
.reg .pred %p<4>;
.shared .align 4 .b8 s[4096];
ld.param.u64 %out, [k_out];
ld.param.u64 %in, [k_in];
mov.u32 %t, %tid.x;
mul.wide.u32 %q0, %t, 4;
add.s64 %q1, %in, %q0;
add.s64 %q2, %out, %q0;
ld.global.u32 %r0, [%q1];
setp.gt.s32 %p0, %r0, 7;
${body}
ret;
}
`;
  const [fn] = parseModule(text, 'k.ptx').functions;
  if (fn === undefined) throw new Error('no kernel');
  return planSteps(fn, [], { givesWay: false, isSpin: () => false }) !== undefined;
}

describe('which kernels make lanes wait for one another', () => {
  it.each([
    ['a flag that any lane may set', '@%p0 st.global.u32 [%out], 1;', false],
    ['a lane that any may name', '@%p0 st.global.u32 [%out], %t;', true],
    ['a word a lane', 'st.global.u32 [%q2], %r0;', false],
    [
      'a place that each has read',
      'mul.wide.u32 %q3, %r0, 4;\nadd.s64 %q3, %out, %q3;\nst.global.u32 [%q3], %t;',
      true,
    ],
    [
      'words behind a pointer that all have read',
      'ld.global.u64 %q3, [%in];\nadd.s64 %q3, %q3, %q0;\nst.global.u32 [%q3], %t;',
      false,
    ],
    [
      'a word of each warp, by its first lane',
      'and.b32 %r1, %t, 31;\nsetp.eq.u32 %p1, %r1, 0;\nshr.u32 %r2, %t, 5;\nshl.b32 %r2, %r2, 2;\n@%p1 st.shared.u32 [%r2], %r0;',
      false,
    ],
    ['a word of four lanes', 'shr.u32 %r2, %t, 2;\nshl.b32 %r2, %r2, 2;\nst.shared.u32 [%r2], %r0;', true],
    [
      'an edge that the first lanes store beside their own words',
      'shl.b32 %r2, %t, 2;\nst.shared.u32 [%r2+16], %r0;\nsetp.lt.u32 %p1, %t, 4;\n@%p1 st.shared.u32 [%r2], %r0;',
      false,
    ],
    [
      'words of neighbours',
      'shl.b32 %r2, %t, 2;\nst.shared.u32 [%r2+16], %r0;\nst.shared.u32 [%r2], %r0;',
      true,
    ],
  ])('%s', (_name, body, expected) => {
    expect(waits(body)).toBe(expected);
  });
});
