import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyedDraw } from '../../selection/index.js';
import { QuantileController, controllerFor } from './index.js';

const SEED = 20170327;

function controllerOf(objectiveNs: number, ceiling = 4096): QuantileController {
  const controller = new QuantileController({ ceiling });
  controller.setObjectiveNs(objectiveNs);
  return controller;
}

/** Full batches; the limits after each. */
function drive(controller: QuantileController, count: number, serviceNs: (size: number) => number): number[] {
  return Array.from({ length: count }, () => {
    const limit = controller.limit();
    controller.observe({ size: limit, limit, serviceNs: serviceNs(limit) });
    return controller.limit();
  });
}

/** ± 5 %. */
function jittered(serviceNs: (size: number) => number): (size: number) => number {
  const next = new KeyedDraw(SEED).of('jitter');
  return (size) => serviceNs(size) * (0.95 + 0.1 * next());
}

describe('quantile regression', () => {
  it.each([
    ['no fixed cost', 0, 50, 200],
    ['a high fixed cost', 8000, 20, 100],
    ['a fixed cost above half of the objective', 9000, 1, 1000],
    ['expensive items', 100, 3000, 3],
  ])('finds the largest size in time with %s', (_what, fixed, item, largest) => {
    const limits = drive(controllerOf(10_000), 600, (size) => fixed + item * size);
    expect(Math.max(...limits.slice(300))).toBeLessThanOrEqual(largest + 1);
    expect(Math.min(...limits.slice(300))).toBeGreaterThanOrEqual(0.97 * largest);
  });

  it('keeps the 99th percentile of a spread time within the objective', () => {
    const controller = controllerOf(10_000);
    const service = jittered((size) => 2000 + 50 * size);
    drive(controller, 400, service);
    let late = 0;
    drive(controller, 2000, (size) => {
      const serviceNs = service(size);
      if (serviceNs > 10_000) late += 1;
      return serviceNs;
    });
    expect(late).toBeLessThanOrEqual(40);
    // 10,000 / 1.05 allows 150.
    expect(controller.limit()).toBeGreaterThanOrEqual(140);
    expect(controller.limit()).toBeLessThanOrEqual(165);
  });

  it('moves by a quarter up and by half down at most', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50_000 }), { maxLength: 300 }), (times) => {
        const controller = controllerOf(10_000, 1000);
        for (const serviceNs of times) {
          const limit = controller.limit();
          controller.observe({ size: limit, limit, serviceNs });
          expect(controller.limit()).toBeLessThanOrEqual(Math.min(1000, Math.max(limit + 2, limit * 1.25)));
          expect(controller.limit()).toBeGreaterThanOrEqual(Math.max(1, Math.floor(limit / 2)));
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  it('does not leap when the sizes of late tell it nothing', () => {
    const controller = controllerOf(10_000);
    const service = jittered((size) => 2000 + 50 * size);
    drive(controller, 400, service);
    // 10,000 / 1.05 allows 150; a fit to two neighbouring sizes says anything.
    expect(Math.max(...drive(controller, 20_000, service))).toBeLessThanOrEqual(170);
  });

  it('grows on full batches only', () => {
    const controller = controllerOf(10_000);
    drive(controller, 20, (size) => size);
    const limit = controller.limit();
    for (let at = 0; at < 400; at++) controller.observe({ size: limit - 1, limit, serviceNs: limit - 1 });
    expect(controller.limit()).toBe(limit);
  });

  it.each([5, 50, 300])('shrugs off one stray batch, after %i', (before) => {
    const service = (size: number) => 2000 + 50 * size;
    const calm = drive(controllerOf(10_000), before + 200, service);
    const controller = controllerOf(10_000);
    drive(controller, before, service);
    const limit = controller.limit();
    controller.observe({ size: limit, limit, serviceNs: 1e9 });
    const limits = drive(controller, 199, service);
    expect(Math.min(...limits)).toBeGreaterThanOrEqual(Math.floor(0.9 * limit));
    expect(limits[198]).toBeGreaterThanOrEqual(0.9 * calm[before + 199]);
  });

  it('heeds strays that are more than one in a hundred', () => {
    const controller = controllerOf(10_000);
    drive(controller, 400, (size) => 100 * size);
    let batch = 0;
    drive(controller, 400, (size) => (batch++ % 25 === 0 ? 400 : 100) * size);
    expect(controller.limit()).toBeLessThanOrEqual(26);
  });

  it('follows a model that becomes slower within a few batches, and back within the window', () => {
    const controller = controllerOf(10_000);
    drive(controller, 400, (size) => 100 * size);
    expect(controller.limit()).toBeGreaterThanOrEqual(97);
    drive(controller, 24, (size) => 400 * size);
    expect(controller.limit()).toBeLessThanOrEqual(25);
    drive(controller, 280, (size) => 100 * size);
    expect(controller.limit()).toBeGreaterThanOrEqual(97);
  });

  it('recovers from a time when not even one item was in time', () => {
    const controller = controllerOf(10_000);
    drive(controller, 100, () => 50_000);
    expect(controller.limit()).toBe(1);
    drive(controller, 320, (size) => 100 * size);
    expect(controller.limit()).toBeGreaterThanOrEqual(97);
  });

  it('stays within the ceiling, and grows to it without an objective', () => {
    const controller = new QuantileController({ ceiling: 64 });
    expect(drive(controller, 100, (size) => 1e9 * size).at(-1)).toBe(64);
  });

  it('decides the same twice', () => {
    const run = () =>
      drive(
        controllerOf(10_000),
        500,
        jittered((size) => 1000 + 30 * size),
      );
    expect(run()).toEqual(run());
  });
});

it('has a controller for each strategy', () => {
  expect(controllerFor({ strategy: 'quantile' }, 8).strategy).toBe('quantile');
  const none = controllerFor({ strategy: 'none' }, 8);
  expect([none.strategy, none.limit()]).toEqual(['none', 1]);
});
