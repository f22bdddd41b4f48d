import { describe, expect, it } from 'vitest';
import { check, lineOf, only, titles, type BenchResult } from './tests/checkBench.js';

/** One thread takes `bytes` bytes (%rd1 points there), does something with them and gives them back. */
function heapKernel(bytes: number, body: string): string {
  return `.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 s);
.extern .func free (.param .b64 p);
.visible .entry k()
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
mov.u64 %rd2, ${bytes};
{
.param .b64 p0;
st.param.b64 [p0], %rd2;
.param .b64 r0;
call.uni (r0), malloc, (p0);
ld.param.b64 %rd1, [r0];
}
${body}
ret;
}
`;
}

function giveBack(pointer: string): string {
  return `{
.param .b64 p1;
st.param.b64 [p1], ${pointer};
call.uni free, (p1);
}`;
}

function found(bytes: number, body: string): BenchResult & { readonly kernel: string } {
  const kernel = heapKernel(bytes, body);
  return { ...check(kernel, { block: [1, 1, 1] }), kernel };
}

describe('the device heap', () => {
  it('is clean when used as it should be', () => {
    const used = found(64, `st.u32 [%rd1+60], 1;\nld.u32 %r1, [%rd1+60];\n${giveBack('%rd1')}`);
    expect(titles(used)).toEqual([]);
  });

  it('a write past the end of a chunk', () => {
    const result = found(60, `st.u32 [%rd1+60], 1;\n${giveBack('%rd1')}`);
    expect(only(result)).toMatchObject({
      checker: 'memcheck',
      kind: 'outOfBounds',
      at: { ptxLine: lineOf(result.kernel, 'st.u32') },
    });
    expect(only(result).occurrences[0]?.detail).toMatch(
      /0 bytes after the end of a heap chunk of thread \(0, 0, 0\) of block \(0, 0, 0\) \(60 bytes/,
    );
  });

  it('a read of what was given back', () => {
    const result = found(64, `st.u32 [%rd1], 1;\n${giveBack('%rd1')}\nld.u32 %r1, [%rd1];`);
    expect(only(result)).toMatchObject({
      kind: 'useAfterFree',
      at: { ptxLine: lineOf(result.kernel, 'ld.u32') },
    });
    expect(only(result).occurrences[0]?.detail).toContain('given back at line');
  });

  it('a chunk given back twice, and one that malloc never gave', () => {
    const twice = found(64, `${giveBack('%rd1')}\n${giveBack('%rd1')}`);
    expect(only(twice)).toMatchObject({ checker: 'memcheck', kind: 'badFree', title: 'Double free' });
    const inner = found(64, `add.s64 %rd3, %rd1, 8;\n${giveBack('%rd3')}`);
    expect(only(inner)).toMatchObject({ kind: 'badFree', title: 'Free of what malloc did not give' });
  });

  it('a read of a chunk that nothing has written, also where an earlier chunk lay', () => {
    const fresh = found(64, `ld.u32 %r1, [%rd1];\n${giveBack('%rd1')}`);
    expect(only(fresh)).toMatchObject({
      checker: 'initcheck',
      title: 'Uninitialized global read of 4 bytes',
    });
  });
});
