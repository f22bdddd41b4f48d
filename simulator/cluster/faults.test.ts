import { describe, expect, it } from 'vitest';
import type { FaultAt } from '../faults/index.js';
import { VirtualClock } from '../time/index.js';
import { Contended, ELEMENTS, inputs } from './tests/killedKernel.js';
import { GpuNode, type GpuNodeOptions } from './index.js';

function run(options: Partial<GpuNodeOptions>, isInPlace = false): Contended {
  const session = new Contended(options, isInPlace);
  session.startVictim();
  return session;
}

const POINTS: readonly Partial<FaultAt>[] = [
  { block: 0, part: 0 },
  { block: 1, part: 0.3 },
  { block: 3, part: 0.7 },
  { block: 2, part: 0.98 },
];
const outputs = [false, true].map((isInPlace) => run({}, isInPlace).output());

function at(point: Partial<FaultAt>, launch = 0): GpuNodeOptions['faults'] {
  return { seed: 3, at: [{ launch, ...point }] };
}

function failureOf(session: Contended): string | undefined {
  session.clock.run();
  return session.best.completions.find(({ op }) => op === 'launch')?.failure?.message;
}

describe('a transient fault', () => {
  it('ends the launch and its context, and nothing else, where nothing recovers', () => {
    const session = run({ faults: at(POINTS[1]) });
    expect(failureOf(session)).toBe(
      "a transient fault struck block (1, 0, 0) of 'strides'; it is not run again: recovery is 'none'",
    );
    expect(session.best.call('malloc', { bytes: 4 }).failure?.code).toBe('contextFaulted');
    expect(session.critical.call('malloc', { bytes: 4 }).failure).toBeUndefined();
    expect(session.node.reading(0).faults).toMatchObject({ injected: 1, unrecovered: 1, unprotected: 0 });
  });

  it('leaves the stores that had happened until then, and no other', () => {
    for (const part of [0, 0.3, 0.7]) {
      const session = run({ faults: at({ block: 1, part }) });
      session.clock.run();
      const stored = session.elements().reduce((count, value) => count + (value === 0 ? 0 : 1), 0);
      expect(stored / ELEMENTS).toBeGreaterThan(part - 0.05);
      expect(stored / ELEMENTS).toBeLessThan(part + 0.05);
    }
  });

  it('flips a bit of what was stored last, where it is to', () => {
    const bytes = ['failure', 'bitFlip'].map((kind) => {
      const session = run({ faults: { ...at({ block: 1, part: 0.5 }), kind: kind as 'bitFlip' } });
      session.clock.run();
      return new Uint8Array(session.elements().buffer);
    });
    const different = Array.from(bytes[0]).flatMap((value, index) =>
      value === bytes[1][index] ? [] : [value ^ bytes[1][index]],
    );
    expect(different).toHaveLength(1);
    expect([1, 2, 4, 8, 16, 32, 64, 128]).toContain(different[0]);
  });

  it.each(['restore', 'klevel', 'verdicts'])(
    'changes no byte under %s, wherever and whatever it strikes',
    (recovery) => {
      for (const isInPlace of [false, true]) {
        for (const point of recovery === 'verdicts' ? POINTS : POINTS.slice(1, 3)) {
          const kind = point === POINTS[1] ? 'bitFlip' : 'failure';
          const session = run({ recovery, faults: { ...at(point), kind } }, isInPlace);
          expect([point, Buffer.compare(session.output(), outputs[Number(isInPlace)])]).toEqual([point, 0]);
          expect(session.best.completions.filter(({ op }) => op === 'launch')).toHaveLength(1);
          const { faults } = session.node.reading(0);
          const isAgain = recovery === 'verdicts' && !isInPlace;
          expect(faults).toMatchObject({
            injected: 1,
            reexecuted: isAgain ? 1 : 0,
            restored: isAgain ? 0 : 1,
            unrecovered: 0,
            savedBytes: isAgain ? 0 : 4 * ELEMENTS * (isInPlace || recovery === 'verdicts' ? 1 : 2),
          });
        }
      }
    },
  );

  it('would change what a launch leaves that overwrites its input, were nothing restored', () => {
    const session = run({ faults: at(POINTS[1]) }, true);
    session.clock.run();
    const after = session.elements();
    const input = new Float32Array(inputs(1).buffer);
    expect(after.some((value, index) => value !== input[index])).toBe(true);
  });

  it('may strike runs that follow, until it is given up', () => {
    const strike = (launches: readonly number[]): Contended =>
      run({
        recovery: 'verdicts',
        faults: { at: launches.map((launch) => ({ launch, block: 2, part: 0.5 })) },
      });
    const three = strike([0, 1, 2]);
    expect(Buffer.compare(three.output(), outputs[0])).toBe(0);
    const report = three.best.completions.find(({ op }) => op === 'launch')?.result?.launch;
    expect(report?.runs).toBe(4);
    const four = strike([0, 1, 2, 3]);
    expect(failureOf(four)).toMatch(/it is not run again: faults struck 4 runs of it/);
    expect(four.node.reading(0).faults).toMatchObject({ injected: 4, reexecuted: 3, unrecovered: 1 });
  });

  it('strikes a launch that was killed before, and one that is killed later', () => {
    for (const [killNs, part] of [
      [10_000, 0.9],
      [60_000, 0.2],
    ]) {
      const session = run({
        recovery: 'verdicts',
        scheduling: 'killRestart',
        faults: at({ block: 0, part }),
      });
      session.clock.run(session.clock.nowNs() + killNs);
      session.startUrgent();
      expect(Buffer.compare(session.output(), outputs[0])).toBe(0);
      const { faults, preemptions } = session.node.reading(0);
      expect([faults?.injected, faults?.reexecuted, preemptions.kills]).toEqual([1, 1, 1]);
    }
  });

  it('goes on in a fork and in a restored snapshot, to the same hash', () => {
    const options = { recovery: 'verdicts', faults: at(POINTS[2]) };
    const session = run(options, true);
    const { node, clock } = session;
    while (node.reading(0).faults?.savedLaunches === 0) clock.step();
    const startNs = clock.nowNs();
    for (const afterNs of [1_000, 60_000]) {
      clock.run(startNs + afterNs);
      const forked = new VirtualClock();
      forked.advanceTo(clock.nowNs());
      const fork = node.fork(forked);
      const restored = new VirtualClock();
      restored.advanceTo(clock.nowNs());
      const again = GpuNode.restore(
        restored,
        { gpus: ['h200'], backingBytes: 64 * 2 ** 20, ...options },
        node.snapshot(),
      );
      clock.run(startNs + afterNs + 30_000);
      forked.run(startNs + afterNs + 30_000);
      restored.run(startNs + afterNs + 30_000);
      expect(fork.hash()).toBe(node.hash());
      expect(again.hash()).toBe(node.hash());
    }
    expect(Buffer.compare(session.output(), outputs[1])).toBe(0);
  });

  it('gives back what it saved, on the GPU or at the host, where the bus takes longer', () => {
    const [device, host] = ['device', 'host'].map((saveTo) => {
      const session = run({ recovery: 'restore', saveTo, faults: at(POINTS[1]) });
      const { usedBytes } = session.node.reading(0);
      expect(Buffer.compare(session.output(), outputs[0])).toBe(0);
      const reading = session.node.reading(0);
      expect(reading.faults).toMatchObject({ savedBytes: 8 * ELEMENTS, restored: 1 });
      expect(reading.usedBytes).toBe(usedBytes);
      return reading.faults?.saveNs ?? NaN;
    });
    // 614 KB: at some 50 GB/s over the bus.
    expect(host).toBeGreaterThan(10_000);
    expect(host).toBeLessThan(20_000);
    expect(device).toBeLessThan(5_000);
  });

  it('is not recovered from where memory for saving is missing, and says so', () => {
    const session = new Contended({ recovery: 'restore', faults: at(POINTS[1]) });
    const { declaredBytes } = session.node.profiles[0].memory;
    const { usedBytes } = session.node.reading(0);
    session.node.snapshot();
    // Declared and never backed: more than is behind all of the node cannot be allocated, so the rest is taken on paper.
    session.takeRoom(declaredBytes - usedBytes - 100_000);
    session.startVictim();
    expect(failureOf(session)).toMatch(
      new RegExp(
        `it is not run again: the ${8 * ELEMENTS} bytes that had to be saved before it did not fit into the memory of GPU 0`,
      ),
    );
    expect(session.node.reading(0).faults).toMatchObject({
      unprotected: 1,
      savedLaunches: 0,
      unrecovered: 1,
    });
  });

  /** A copy of another stream overwrites some of the input once the launch has been struck. */
  function overwritten(recovery: string, holdsKilled: boolean): { output: Uint8Array; order: string[] } {
    const session = new Contended({ recovery, holdsKilled, faults: at({ block: 1, part: 0.5 }) });
    const stream = session.best.handle('streamCreate', { priority: 0, nonBlocking: true });
    session.startVictim();
    while (session.node.reading(0).faults?.injected === 0) session.clock.step();
    const bytes = inputs(5e6).subarray(0, 4096);
    session.best.send('memcpyHostToDevice', { address: session.from, bytes, pinned: true }, stream);
    const output = session.output();
    return { output, order: session.best.completions.slice(-3).map(({ op }) => op) };
  }

  it('is held against copies of other streams until the launch has run again', () => {
    for (const recovery of ['verdicts', 'restore']) {
      const { output, order } = overwritten(recovery, true);
      expect(Buffer.compare(output, outputs[0])).toBe(0);
      expect(order).toEqual(['launch', 'memcpyHostToDevice', 'memcpyDeviceToHost']);
    }
  });

  it('would not leave the same where nothing is held: the hold is needed', () => {
    const { output, order } = overwritten('verdicts', false);
    expect(order).toEqual(['memcpyHostToDevice', 'launch', 'memcpyDeviceToHost']);
    expect(Buffer.compare(output, outputs[0])).not.toBe(0);
  });

  it('is not recovered from where a copy beside the launch touches its memory', () => {
    const session = new Contended({ recovery: 'verdicts', faults: at({ block: 1, part: 0.9 }) });
    const stream = session.best.handle('streamCreate', { priority: 0, nonBlocking: true });
    session.startVictim();
    session.clock.run(session.clock.nowNs() + 20_000);
    session.best.send(
      'memcpyHostToDevice',
      { address: session.from, bytes: inputs(1), pinned: true },
      stream,
    );
    expect(failureOf(session)).toMatch(/a command beside it touches the same memory/);
  });
});

describe('options', () => {
  it('are refused by name', () => {
    const make = (options: Partial<GpuNodeOptions>) => () => new Contended(options);
    expect(make({ recovery: 'magic' })).toThrow(
      "recovery: 'magic'; there are: none, restore, klevel, verdicts",
    );
    expect(make({ recovery: 'restore', saveTo: 'disk' })).toThrow("saveTo: 'disk'; there are: device, host");
    expect(make({ faults: { rate: 2 } })).toThrow('faults.rate: 2 is not a probability, 0 to 1');
    expect(make({ faults: { seed: 0.5 } })).toThrow('faults.seed: 0.5 is not a whole number');
    expect(make({ faults: { at: [{ launch: -1 }] } })).toThrow(
      'faults.at[0].launch: -1 is not a whole number, 0 or more',
    );
    expect(make({ faults: { at: [{ launch: 0, part: 1 }] } })).toThrow(
      'faults.at[0].part: 1 is not a part of the block, 0 to 0.98',
    );
  });
});
