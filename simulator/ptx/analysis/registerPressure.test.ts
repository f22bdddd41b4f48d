import { describe, expect, it } from 'vitest';
import { parseModule, registerPressure } from '../index.js';

function kernel(body: string) {
  const text = `.version 9.0\n.target sm_90\n.address_size 64\n${body}`;
  const fn = parseModule(text, 'k.ptx').functions[0];
  if (fn === undefined || fn.refusal !== undefined) throw new Error('not a kernel');
  return fn;
}

describe('register pressure', () => {
  it('counts 32-bit units that live at once, uniform values apart', () => {
    const fn = kernel(`.entry k(.param .u64 p) { .reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .pred %q;
      ld.param.u64 %rd1, [p];
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, %ctaid.x;
      setp.lt.u32 %q, %r1, %r2;
      mul.wide.u32 %rd2, %r1, 4;
      @%q add.s64 %rd1, %rd1, %rd2;
      st.u32 [%rd1], %r2; }`);
    // %rd1 (2), %rd2 (2) and %r2 (1) before the addition; %rd1 becomes varying by it, %r2 stays uniform.
    expect(registerPressure(fn)).toEqual({ all: 5, varying: 4 });
  });
});
