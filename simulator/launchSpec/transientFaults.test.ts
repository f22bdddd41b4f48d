import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LaunchSpecError, runLaunchSpec, runWorkSpec, type LaunchSpecOptions } from './index.js';

const KERNELS = resolve(import.meta.dirname, '../gpu/reference/kernels');
const NODE = { backingBytes: 2 ** 26 };
const COUNT = 4096;
const ONES = { type: 'f32', count: COUNT, fill: { seed: 1, scale: 0, shift: 1 } };
const SHAPE = { kernel: 'saxpy', grid: [COUNT / 256, 1, 1], block: [256, 1, 1] };

/** y = 2 x + y, in place: not idempotent. */
const ONE = {
  ptx: 'saxpy.ptx',
  device: 'h200',
  ...SHAPE,
  args: [{ i32: COUNT }, { f32: 2 }, { buffer: ONES }, { buffer: { ...ONES, out: true } }],
};
const saxpy = (y: string): object => ({
  ...SHAPE,
  args: [{ i32: COUNT }, { f32: 2 }, { pointer: { of: 'x' } }, { pointer: { of: y } }],
});
const SEVERAL = {
  ptx: 'saxpy.ptx',
  device: 'h200',
  buffers: { x: ONES, y: { ...ONES, out: true } },
  launches: [saxpy('y'), saxpy('y'), saxpy('y')],
};

const one = (fields: object, options: LaunchSpecOptions = {}) =>
  runLaunchSpec({ ...ONE, ...fields }, KERNELS, { ...options, node: { ...NODE, ...options.node } });

function complaint(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof LaunchSpecError) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('it ran');
}

describe('transient faults of a spec', () => {
  it('end its launch where nothing recovers', () => {
    expect(complaint(() => one({ faults: { at: [{ launch: 0, block: 3, part: 0.5 }] } }))).toBe(
      "fault a transient fault struck block (3, 0, 0) of 'saxpy'; it is not run again: recovery is 'none'",
    );
  });

  it('leave what was expected where something does, and are reported', () => {
    for (const saveTo of ['device', 'host']) {
      const { buffers, faults, durationUs } = one({
        faults: { kind: 'bitFlip', at: [{ launch: 0 }] },
        recovery: 'verdicts',
        saveTo,
      });
      expect(buffers[0].sum).toBe(3 * COUNT);
      expect(faults).toMatchObject({
        injected: 1,
        reexecuted: 0,
        restored: 1,
        savedLaunches: 1,
        savedBytes: 4 * COUNT,
        unprotected: 0,
      });
      expect(durationUs).toBeGreaterThan((faults?.savingUs ?? NaN) + (faults?.recoveryUs ?? NaN));
    }
  });

  it('give way to what options say', () => {
    const spec = { faults: { seed: 1, rate: 1 }, recovery: 'none' };
    const { faults } = one(spec, { node: { faults: { rate: 0 }, recovery: 'restore' } });
    expect(faults).toMatchObject({ injected: 0, savedLaunches: 1, savedBytes: 8 * COUNT });
    expect(one({}).faults).toBeUndefined();
  });

  it('strike launches of a spec of several by their order', () => {
    const { buffers, faults } = runWorkSpec(
      { ...SEVERAL, faults: { at: [{ launch: 1 }, { launch: 3 }] }, recovery: 'verdicts' },
      KERNELS,
      { node: NODE },
    );
    expect(buffers[0].sum).toBe(7 * COUNT);
    expect(faults).toMatchObject({ injected: 2, restored: 2, savedLaunches: 3 });
  });

  it.each([
    [{ faults: { rate: 1.5 } }, /faults\.rate/],
    [{ faults: { at: [{ launch: -1 }] } }, /faults\.at\[0\]\.launch/],
    [{ faults: { kind: 'smoke' } }, /faults\.kind.*failure.*bitFlip/],
    [{ faults: { often: true } }, /faults.*often/],
    [{ recovery: 'magic' }, /recovery.*none.*restore.*klevel.*verdicts/],
    [{ saveTo: 'disk' }, /saveTo.*device.*host/],
  ])('%j is refused by name', (fields, message) => {
    expect(complaint(() => one(fields))).toMatch(message);
  });
});
