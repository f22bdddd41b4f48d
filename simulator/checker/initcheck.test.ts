import { describe, expect, it } from 'vitest';
import {
  check,
  kernelText,
  lineOf,
  only,
  titles,
  zeros,
  type BenchLaunch,
  type BenchResult,
} from './tests/checkBench.js';

function reads(text: string, launch: BenchLaunch = {}): BenchResult {
  return check(text, launch, { checkers: ['initcheck'] });
}

const accumulate = kernelText(`cvt.u64.u32 %rd3, %r3;
add.s64 %rd4, %rd1, %rd3;
ld.global.u32 %r4, [%rd4];
add.s32 %r4, %r4, %r1;
st.global.u32 [%rd4], %r4;`);

describe('global memory', () => {
  it('a read of a buffer that nothing has written', () => {
    const found = reads(accumulate, { args: [{ bytes: 256 }] });
    const [address = 0] = found.addresses;
    expect(only(found)).toMatchObject({
      checker: 'initcheck',
      kind: 'uninitialized',
      title: 'Uninitialized global read of 4 bytes',
      at: { ptxLine: lineOf(accumulate, 'ld.global') },
      count: 64,
    });
    expect(only(found).occurrences[1]).toMatchObject({ thread: [1, 0, 0], access: { address: address + 4 } });
    expect(titles(reads(accumulate, { args: [zeros(256)] }))).toEqual([]);
  });

  it('a read after the kernel itself has written', () => {
    const text = accumulate.replace('ld.global', 'st.global.u32 [%rd4], %r1;\nld.global');
    expect(titles(reads(text, { args: [{ bytes: 256 }] }))).toEqual([]);
  });

  it('part of a vector', () => {
    const text = kernelText('st.global.u32 [%rd1+8], %r1;\nld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1];');
    const found = reads(text, { block: [1, 1, 1], args: [{ bytes: 16 }] });
    expect(only(found).occurrences[0]?.detail).toContain('nothing has written 12 of them');
  });

  it('an atomic is only noted, since a buffer without contents starts as zeros, and counts as a write', () => {
    const text = kernelText('atom.global.add.u32 %r4, [%rd1], 1;');
    expect(only(reads(text, { args: [{ bytes: 4 }] }))).toMatchObject({
      title: 'Uninitialized global atomic of 4 bytes',
      severity: 'info',
      count: 1,
    });
    expect(titles(reads(text, { args: [zeros(4)] }))).toEqual([]);
  });

  it('variables of the module start out written', () => {
    const text = kernelText('ld.global.u32 %r4, [v];', '.global .align 4 .u32 v;');
    expect(titles(reads(text))).toEqual([]);
  });
});

describe('shared memory', () => {
  const SHARED = '.shared .align 4 .b8 s[512];';
  const sum = (threads: number): string =>
    kernelText(
      `mov.u32 %r4, s;
setp.ge.u32 %p1, %r1, ${threads};
@%p1 bra SKIP;
add.s32 %r5, %r4, %r3;
st.shared.u32 [%r5], %r1;
SKIP:
bar.sync 0;
add.s32 %r5, %r4, %r3;
ld.shared.u32 %r6, [%r5];`,
      SHARED,
    );

  it('a read of what no thread of the block has written, in each block anew', () => {
    const text = sum(60);
    const found = reads(text, { grid: [2, 1, 1] });
    expect(only(found)).toMatchObject({
      title: 'Uninitialized shared read of 4 bytes',
      at: { ptxLine: lineOf(text, 'ld.shared') },
      count: 8,
    });
    expect(only(found).occurrences[0]).toMatchObject({ thread: [60, 0, 0], access: { address: 240 } });
    expect(titles(reads(sum(64), { grid: [2, 1, 1] }))).toEqual([]);
  });

  // As nvcc writes `cooperative_groups::tiled_partition<64>(this_thread_block())`.
  it('the barrier words of cooperative groups are the driver’s, in each block; what the kernel declares beside them is not', () => {
    const text = kernelText(
      `mov.u32 %r4, %reserved_smem_offset_1;
cvt.u64.u32 %rd3, %r4;
cvta.shared.u64 %rd4, %rd3;
red.and.release.cta.b32 [%rd4], -2;
barrier.sync 0;
atom.or.acq_rel.cta.b32 %r5, [%rd4], 1;
ld.acquire.cta.u32 %r6, [%rd4];
mov.u32 %r7, s;
ld.shared.u32 %r8, [%r7];`,
      SHARED,
    );
    expect(only(reads(text, { grid: [2, 1, 1] }))).toMatchObject({
      title: 'Uninitialized shared read of 4 bytes',
      at: { ptxLine: lineOf(text, 'ld.shared') },
      count: 128,
    });
  });
});
