import { describe, expect, it } from 'vitest';
import {
  check,
  kernelText,
  lineOf,
  only,
  titles,
  type BenchLaunch,
  type BenchResult,
} from './tests/checkBench.js';

function syncs(text: string, launch: BenchLaunch = {}): BenchResult {
  return check(text, launch, { checkers: ['synccheck'] });
}

describe('barriers of the block', () => {
  const divergent = kernelText(`setp.gt.u32 %p1, %r1, 9;
@%p1 bra SKIP;
bar.sync 0;
SKIP:
xor.b32 %r4, %r1, 1;`);
  const uniform = kernelText(`setp.gt.u32 %p1, %r1, 63;
@%p1 bra SKIP;
bar.sync 0;
SKIP:
add.s32 %r4, %r1, 1;`);

  it('a barrier that some lanes of a warp skip, with both places', () => {
    const found = syncs(divergent, { grid: [2, 1, 1] });
    expect(only(found)).toMatchObject({
      checker: 'synccheck',
      kind: 'divergentBarrier',
      title: 'Barrier in divergent code',
      at: { ptxLine: lineOf(divergent, 'bar.sync'), instruction: 'bar.sync 0;' },
      other: { ptxLine: lineOf(divergent, 'xor.b32') },
      otherRole: 'where others are',
      count: 2,
    });
    expect(only(found).occurrences[0]).toMatchObject({
      block: [0, 0, 0],
      thread: [0, 0, 0],
      other: { thread: [10, 0, 0] },
    });
    expect(only(found).occurrences[0]?.detail).toContain('lanes 0 to 9 of warp 0 wait here');
    expect(only(found).occurrences[1]).toMatchObject({ block: [1, 0, 0] });
    expect(titles(syncs(uniform, { grid: [2, 1, 1] }))).toEqual([]);
  });

  it('lanes of one warp at two barriers', () => {
    const text = kernelText(`setp.gt.u32 %p1, %r1, 9;
@%p1 bra ELSE;
bar.sync 0;
bra.uni JOIN;
ELSE:
bar.sync 0; // second
JOIN:
add.s32 %r4, %r1, 1;`);
    const found = syncs(text, { block: [32, 1, 1] });
    const lines = [only(found).at.ptxLine, only(found).other?.ptxLine].sort();
    expect(only(found).kind).toBe('divergentBarrier');
    expect(lines).toEqual([lineOf(text, 'bar.sync 0;\nbra'), lineOf(text, 'bar.sync 0; // second')].sort());
  });

  it('warps at barriers of different numbers', () => {
    const text = kernelText(`setp.gt.u32 %p1, %r1, 31;
@%p1 bra ELSE;
bar.sync 1;
bra.uni JOIN;
ELSE:
bar.sync 2;
JOIN:
add.s32 %r4, %r1, 1;`);
    const found = syncs(text);
    expect(only(found)).toMatchObject({ kind: 'divergentBarrier', otherRole: 'where others wait' });
    expect(titles(syncs(text.replace('bar.sync 2', 'bar.sync 1')))).toEqual([]);
  });

  it('threads that leave before others come are no mistake', () => {
    const text = kernelText('setp.gt.u32 %p1, %r1, 9;\n@%p1 ret;\nbar.sync 0;\nadd.s32 %r4, %r1, 1;');
    expect(titles(syncs(text))).toEqual([]);
  });

  it('a count that is never reached because threads left', () => {
    const text = kernelText('setp.gt.u32 %p1, %r1, 31;\n@%p1 bra OUT;\nbar.sync 1, 64;\nOUT:\n');
    const found = syncs(text);
    expect(only(found)).toMatchObject({
      kind: 'unreachedBarrier',
      title: 'Barrier that not enough threads reach',
      at: { ptxLine: lineOf(text, 'bar.sync') },
      other: { ptxLine: lineOf(text, 'ret;') },
      otherRole: 'where others left',
    });
    expect(only(found).occurrences[0]?.other?.thread).toEqual([32, 0, 0]);
    expect(titles(syncs(text.replace('1, 64', '1, 32')))).toEqual([]);
  });

  it('a number that no barrier has', () => {
    const text = kernelText('add.s32 %r4, %r2, 16;\nbar.sync %r4;');
    const found = syncs(text, { block: [32, 1, 1] });
    expect(only(found)).toMatchObject({
      kind: 'barrierNumber',
      title: 'Barrier 16 does not exist',
      at: { ptxLine: lineOf(text, 'bar.sync') },
    });
    expect(titles(syncs(text.replace('%r2, 16', '%r2, 15'), { block: [32, 1, 1] }))).toEqual([]);
  });

  it('a count that is no multiple of the warp, and one beyond the block', () => {
    const counted = (count: number): string => kernelText(`add.s32 %r4, %r2, ${count};\nbar.sync 0, %r4;`);
    expect(only(syncs(counted(33)))).toMatchObject({
      kind: 'barrierCount',
      title: 'Barrier with a count of 33 threads',
    });
    expect(syncs(counted(128)).report.findings.map(({ kind }) => kind)).toEqual([
      'barrierCount',
      'unreachedBarrier',
    ]);
    expect(titles(syncs(counted(64)))).toEqual([]);
  });
});

describe('warp-level operations', () => {
  it('a mask that leaves out the caller', () => {
    const text = kernelText('bar.warp.sync 0x0000ffff;');
    const found = syncs(text, { block: [32, 1, 1] });
    expect(only(found)).toMatchObject({
      kind: 'maskWithoutCaller',
      at: { ptxLine: lineOf(text, 'bar.warp') },
    });
    expect(only(found).occurrences[0]).toMatchObject({ thread: [16, 0, 0] });
    expect(titles(syncs(text.replace('0x0000ffff', '0xffffffff'), { block: [32, 1, 1] }))).toEqual([]);
  });

  it('a mask that names lanes that have left', () => {
    const text = kernelText(`setp.gt.u32 %p1, %r1, 19;
@%p1 ret;
shfl.sync.down.b32 %r4, %r1, 1, 31, 0xffffffff;`);
    const found = syncs(text, { block: [32, 1, 1] });
    expect(only(found)).toMatchObject({
      kind: 'exitedLanes',
      at: { ptxLine: lineOf(text, 'shfl') },
      other: { ptxLine: lineOf(text, '@%p1 ret') },
    });
    expect(only(found).occurrences[0]?.detail).toContain('lanes 20 to 31');
    // The last lane that is left still reads one that has gone.
    const named = only(syncs(text.replace('0xffffffff', '0x000fffff'), { block: [32, 1, 1] }));
    expect(named).toMatchObject({ kind: 'readsNobody', severity: 'warning', count: 1 });
  });

  it('lanes that a warp never had are no mistake: the last warp of a block may be short', () => {
    const text = kernelText('shfl.sync.down.b32 %r4, %r1, 1, 31, 0xffffffff;');
    expect(titles(syncs(text, { block: [40, 1, 1] }))).toEqual([]);
  });

  it('lanes of the mask that never come', () => {
    const text = kernelText(`setp.gt.u32 %p1, %r1, 15;
@%p1 bra ELSE;
bar.warp.sync 0xffffffff;
bra.uni JOIN;
ELSE:
shfl.sync.down.b32 %r4, %r1, 1, 31, 0xffffffff;
JOIN:
add.s32 %r5, %r1, 1;`);
    const found = syncs(text, { block: [32, 1, 1] });
    const lines = [only(found).at.ptxLine, only(found).other?.ptxLine].sort();
    expect(only(found).title).toBe('Warp-level operation that lanes of its mask do not reach');
    expect(lines).toEqual([lineOf(text, 'bar.warp'), lineOf(text, 'shfl.sync')].sort());
  });

  it('both arms of a branch may meet in bar.warp.sync', () => {
    const text = kernelText(`setp.gt.u32 %p1, %r1, 15;
@%p1 bra ELSE;
bar.warp.sync 0xffffffff;
bra.uni JOIN;
ELSE:
bar.warp.sync 0xffffffff;
JOIN:
add.s32 %r5, %r1, 1;`);
    expect(titles(syncs(text, { block: [32, 1, 1] }))).toEqual([]);
  });

  it('without synccheck the fault itself is reported', () => {
    const text = kernelText('bar.warp.sync 0x0000ffff;');
    const found = check(text, { block: [32, 1, 1] }, { checkers: ['memcheck'] });
    expect(only(found)).toMatchObject({ checker: 'launch', faultCode: 'divergentBarrier' });
  });
});

describe('shuffles', () => {
  const shuffle = (mask: string): string =>
    kernelText(`setp.gt.u32 %p1, %r1, 7;
@%p1 bra SKIP;
shfl.sync.down.b32 %r4, %r1, 8, 31, ${mask};
SKIP:
add.s32 %r5, %r1, 1;`);

  it('warns of a lane that takes no part', () => {
    const found = syncs(shuffle('0xff'), { block: [32, 1, 1] });
    expect(only(found)).toMatchObject({ kind: 'readsNobody', severity: 'warning', count: 8 });
    expect(only(found).occurrences[1]?.detail).toContain(
      'lane 1 reads lane 9, which the mask 0x000000ff does not name',
    );
    const whole = kernelText('shfl.sync.down.b32 %r4, %r1, 8, 31, 0xffffffff;');
    expect(titles(syncs(whole, { block: [32, 1, 1] }))).toEqual([]);
  });
});
