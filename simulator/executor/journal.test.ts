import { describe, expect, it } from 'vitest';
import { ReferenceInterpreter, type RunResult } from './index.js';
import type { AccessJournal, JournalEntry } from './types.js';
import { LaunchBench, storingKernel, type KernelLaunch } from './tests/launchBench.js';

const bench = new LaunchBench();

function entriesOf(journal: AccessJournal): JournalEntry[] {
  return Array.from({ length: journal.length }, (_, index) => journal.at(index));
}

function journalOf(result: RunResult): AccessJournal {
  if (result.journal === undefined) throw new Error('no journal');
  return result.journal;
}

/** Instructions: 0-2 parameters and %tid, 3.. the body, then 5 and ret. */
describe('the journal of an observed run', () => {
  it('has the exact position, kind, address, bytes and old bytes of every access', () => {
    // A warp of 2 lanes. Lane 1 goes round the loop twice, lane 0 once.
    const body = `
add.s64 %rd1, %rd0, 64;
mov.u32 %r2, 0;
LOOP:
atom.global.add.u32 %r9, [%rd1], 5;
add.u32 %r2, %r2, 1;
setp.le.u32 %p1, %r2, %r1;
@%p1 bra LOOP;
@%p1 ld.global.u32 %r9, [%rd1];`;
    const out = bench.buffer(32);
    bench.space.view(out, 128).fill(7);
    const result = bench.run(storingKernel(body), { values: [out, 0], block: [2, 1, 1] }, 'observed');
    const journal = journalOf(result);
    // 5 before the loop, 4 in it, 1 + 5 behind it up to the store, and the return.
    const lane0 = 5 + 4 + 1 + 5 + 2;
    expect(result.counters.threadInstructions).toBe(lane0 + lane0 + 4);
    expect(journal.positions).toBe(lane0 + lane0 + 4);
    const at = (value: number): Uint8Array => new Uint8Array(new Uint32Array([value]).buffer);
    const filled = 0x07070707;
    const atomic = { kind: 'atomic', address: out + 64, bytes: 4, instruction: 5 };
    const store = { kind: 'store', bytes: 4, instruction: 15, old: at(filled) };
    expect(entriesOf(journal)).toEqual([
      // Lanes go in step: each comes to the atomic before either goes on.
      { ...atomic, position: 10, old: at(filled) },
      { ...atomic, position: 14, old: at(filled + 5) },
      { ...atomic, position: 18, old: at(filled + 10) },
      { ...store, position: 34, address: out },
      { ...store, position: 36, address: out + 4 },
    ]);
    journal.rollBack(0);
    expect(bench.words(out, 32)).toEqual(new Array<number>(32).fill(filled));
  });

  it('sees generic, vector and byte accesses to global memory, and none to other memory', () => {
    const body = `
mov.u64 %rd1, shared;
cvta.shared.u64 %rd2, %rd1;
st.u32 [%rd2], %r1;
ld.u32 %r9, [%rd2];
st.v4.u32 [%rd0], {%r1, %r1, %r9, %r9};
st.global.u8 [%rd0+17], 3;
ld.global.v2.u32 {%r2, %r3}, [%rd0+8];
red.global.add.u64 [%rd0+24], 1;`;
    const out = bench.buffer(32);
    const text = storingKernel(body, '.shared .align 4 .u32 shared;');
    const journal = journalOf(bench.run(text, { values: [out, 0], block: [1, 1, 1] }, 'observed'));
    const seen = entriesOf(journal).map(({ kind, address, bytes }) => [kind, address - out, bytes]);
    expect(seen).toEqual([
      ['store', 0, 16],
      ['store', 17, 1],
      ['load', 8, 8],
      ['atomic', 24, 8],
      ['store', 0, 4],
    ]);
  });

  it('is without loads where it is for taking back only', () => {
    const body = `
ld.global.u32 %r9, [%rd0+8];
st.global.v2.u32 [%rd0+16], {%r9, %r9};
ld.global.v4.u32 {%r2, %r3, %r2, %r3}, [%rd0+16];
atom.global.exch.b32 %r9, [%rd0+4], 9;`;
    const out = bench.buffer(32);
    bench.space.view(out, 128).fill(5);
    const { launch, range } = bench.place(storingKernel(body), { values: [out, 0], block: [2, 1, 1] });
    for (const executor of [bench.executor, new ReferenceInterpreter()]) {
      const [all, changes] = (['observed', 'undoable'] as const).map((variant) => {
        const journal = journalOf(executor.run(launch, range, variant, 1e6));
        const entries = entriesOf(journal);
        journal.rollBack(0);
        expect(bench.words(out, 32)).toEqual(new Array<number>(32).fill(0x05050505));
        return { entries, positions: journal.positions };
      });
      expect(changes.positions).toBe(all.positions);
      expect(changes.entries).toEqual(all.entries.filter(({ kind }) => kind !== 'load'));
      expect([all.entries.length, changes.entries.length]).toEqual([10, 6]);
    }
  });

  it('holds what was done before a fault', () => {
    const out = bench.buffer(20);
    const result = bench.run(storingKernel('mov.u32 %r9, 1;'), { values: [out, 0] }, 'observed');
    expect(result.status).toBe('fault');
    const journal = journalOf(result);
    // 11 instructions a lane, the store is the tenth: the lane with the fault has made 9.
    expect([journal.length, journal.positions]).toEqual([20, 20 * 11 + 9]);
    journal.rollBack(10 * 11);
    expect(bench.words(out, 20)).toEqual([
      ...new Array<number>(10).fill(1),
      ...new Array<number>(10).fill(0),
    ]);
  });

  it('takes more accesses than its buffer holds', () => {
    const out = bench.buffer(64);
    const body = `
mov.u32 %r2, 0;
LOOP:
red.global.add.u32 [%rd0+128], 1;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 2000;
@%p1 bra LOOP;`;
    const journal = journalOf(bench.run(storingKernel(body), { values: [out, 0] }, 'observed'));
    expect(journal.length).toBe(32 * 2001);
    expect(journal.at(40_000)).toMatchObject({ kind: 'atomic', address: out + 128 });
    const positions = entriesOf(journal).map(({ position }) => position);
    expect(positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0))).toBe(
      true,
    );
    const half = journal.at(32_016);
    journal.rollBack(half.position);
    const old = half.old ?? new Uint8Array(4);
    expect(bench.words(out + 128, 1)).toEqual([new Uint32Array(old.slice().buffer)[0]]);
    expect(() => journal.at(32 * 2001)).toThrow(RangeError);
  });
});

describe('a run stopped at a position', () => {
  /** Warps, barriers, atomics, loops and exchanges over 48 words. */
  const body = `
mul.wide.u32 %rd1, %r1, 4;
add.s64 %rd1, %rd0, %rd1;
and.b32 %r2, %r1, 3;
LOOP:
ld.global.u32 %r3, [%rd1];
mad.lo.u32 %r3, %r3, 3, %r2;
st.global.u32 [%rd1], %r3;
atom.global.add.u32 %r4, [%rd0+160], %r3;
sub.u32 %r2, %r2, 1;
setp.ge.s32 %p1, %r2, 0;
@%p1 bra LOOP;
bar.sync 0;
xor.b32 %r5, %r1, 1;
mul.wide.u32 %rd2, %r5, 4;
add.s64 %rd2, %rd0, %rd2;
ld.global.u32 %r6, [%rd2];
shfl.sync.down.b32 %r7, %r6, 1, 31, -1;
bar.sync 0;
@%p1 st.global.u32 [%rd2], 0;
add.u32 %r9, %r6, %r7;`;
  const launch: KernelLaunch = { block: [34, 1, 1], grid: [1, 1, 1], fuel: 1e6 };

  it('has left what a run rolled back to it leaves, at every position', () => {
    const out = bench.buffer(48);
    const { launch: placed, range } = bench.place(storingKernel(body), { ...launch, values: [out, 0] });
    const reset = (): void => {
      bench.space.view(out, 192).forEach((_, index, all) => (all[index] = index * 37));
    };
    const all = bench.executor.run(placed, range, 'fast', 1e6);
    expect(all.status).toBe('done');
    const count = all.counters.threadInstructions;
    reset();
    const whole = journalOf(bench.executor.run(placed, range, 'observed', 1e6));
    expect(whole.positions).toBe(count);
    const final = bench.words(out, 48);
    for (let position = count; position >= 0; position--) {
      // The same journal is rolled back further and further.
      whole.rollBack(position);
      const rolledBack = bench.words(out, 48);
      reset();
      const { journal, stopped } = bench.executor.runUntil(placed, range, position, 1e6);
      expect(bench.words(out, 48), `position ${position}`).toEqual(rolledBack);
      expect(stopped || position >= count - 2 * 34).toBe(true);
      expect(journal.length).toBeLessThanOrEqual(whole.length);
      // Memory again as the whole journal left it, for the next step.
      bench.space.view(out, 192).set(new Uint8Array(new Int32Array(rolledBack).buffer));
    }
    reset();
    bench.executor.run(placed, range, 'observed', 1e6);
    expect(bench.words(out, 48)).toEqual(final);
  });
});
