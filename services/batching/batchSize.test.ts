import { describe, expect, it } from 'vitest';
import { AimdController, controllerFor, type BatchSizeController } from './index.js';

/** Sends full batches until the limit has gone round `count` times. */
function drive(
  controller: BatchSizeController,
  count: number,
  serviceNs: (size: number) => number,
): number[] {
  const limits: number[] = [];
  for (let at = 0; at < count; at++) {
    const limit = controller.limit();
    controller.observe({ size: limit, limit, serviceNs: serviceNs(limit) });
    limits.push(controller.limit());
  }
  return limits;
}

describe('AIMD', () => {
  it('adds a fixed amount until a batch takes too long, then backs off by 10 %', () => {
    const controller = new AimdController({ ceiling: 1000, increase: 5 });
    controller.setObjectiveNs(100);
    const limits = drive(controller, 40, (size) => size);
    expect(limits.slice(0, 4)).toEqual([6, 11, 16, 21]);
    // 101 items take longer than 100: 90.9, rounded down; from then on it saws between 90 % and a little over.
    expect(limits.slice(19, 27)).toEqual([101, 90, 95, 100, 105, 94, 99, 104]);
    expect(Math.min(...limits.slice(20))).toBe(90);
    expect(Math.max(...limits)).toBe(105);
  });

  it('grows on full batches only, and never from the time that a small one took', () => {
    const controller = new AimdController({ ceiling: 1000 });
    controller.setObjectiveNs(100);
    drive(controller, 10, () => 1);
    const limit = controller.limit();
    for (let at = 0; at < 100; at++) controller.observe({ size: limit - 1, limit, serviceNs: 1 });
    expect(controller.limit()).toBe(limit);
  });

  it('backs off once for the batches that were in flight together', () => {
    const controller = new AimdController({ ceiling: 1000 });
    controller.setObjectiveNs(100);
    drive(controller, 49, () => 1);
    const limit = controller.limit();
    controller.observe({ size: limit, limit, serviceNs: 200 });
    controller.observe({ size: limit, limit, serviceNs: 200 });
    expect(controller.limit()).toBe(Math.floor(limit * 0.9));
  });

  it('stays within 1 and the ceiling', () => {
    const controller = new AimdController({ ceiling: 8 });
    controller.setObjectiveNs(100);
    expect(Math.max(...drive(controller, 30, () => 1))).toBe(8);
    expect(Math.min(...drive(controller, 30, () => 1000))).toBe(1);
  });

  it('follows a model that becomes slower', () => {
    const controller = new AimdController({ ceiling: 1000 });
    controller.setObjectiveNs(100);
    drive(controller, 200, (size) => size);
    expect(controller.limit()).toBeGreaterThan(85);
    drive(controller, 100, (size) => 4 * size);
    expect(controller.limit()).toBeLessThanOrEqual(27);
  });
});

it('takes a fixed maximum, within what the container takes', () => {
  const controller = controllerFor({ strategy: 'fixed', maxBatchSize: 64 }, 16);
  expect(drive(controller, 3, () => 1e12)).toEqual([16, 16, 16]);
  expect(() => controllerFor({ strategy: 'fixed', maxBatchSize: 0 }, 16)).toThrow(/maxBatchSize must be/);
});
