import { describe, expect, it } from 'vitest';
import { DevicePace } from '../devicePace.js';
import { BlockEngine, emptyEngine } from '../dispatch/index.js';
import { PROFILE_NAMES, profileNamed, type DeviceProfile } from '../profiles/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, type BlockWork } from '../timing/index.js';
import { chipPicojoules, memoryPicojoules, unitEnergies } from './blockEnergy.js';
import { PowerMeter, emptyPower, totalWatts } from './index.js';
import { voltageShare } from './voltage.js';

const h200 = profileNamed('h200');

function work(sm: Partial<Record<string, number>>, device: Partial<Record<string, number>> = {}): BlockWork {
  return {
    sm: SM_RESOURCES.map((kind) => sm[kind] ?? 0),
    device: DEVICE_RESOURCES.map((kind) => device[kind] ?? 0),
    chainCycles: 1000,
    chainFixedNs: 0,
    warps: 8,
  };
}

const arithmetic = work({ issue: 4e6, float32: 4e6 });
const streaming = work({ issue: 1e5, l2Port: 4e6 }, { l2Bytes: 4e6, dramBytes: 4e6 });

function dynamicMillijoules(each: BlockWork, blocks: number): number {
  const energies = unitEnergies(h200.power);
  return (chipPicojoules(each, energies) + memoryPicojoules(each, energies)) * blocks * 1e-9;
}

/** Memory whose power goes with its bytes alone: energies then add up block by block. */
const additive: DeviceProfile = { ...h200, power: { ...h200.power, memoryAwakeWatts: 0 } };

/** An engine with a power meter, settling as a device does. */
class Bench {
  readonly engine: BlockEngine;
  readonly power: PowerMeter;
  readonly pace: DevicePace;

  constructor(readonly profile: DeviceProfile) {
    const power = (this.power = new PowerMeter(profile, emptyPower(profile, 0)));
    const state = emptyEngine(profile, 0);
    const onLeave: ConstructorParameters<typeof BlockEngine>[2] = (group, done) => {
      if (done === 1) power.finish(group, state.clockHz);
    };
    this.engine = new BlockEngine(profile, state, onLeave, false, (each) => power.energyOf(each));
    this.pace = new DevicePace(this.engine, power);
  }

  get nowNs(): number {
    return this.engine.state.asOfNs;
  }

  start(launch: number, each: BlockWork, sms: readonly number[]): void {
    this.engine.add(launch, [{ work: each, firstBlock: 0, sms }]);
  }

  /** Runs until `untilNs`, or until nothing is resident. */
  run(untilNs = Infinity): void {
    for (;;) {
      const nextNs = Math.min(this.pace.rerate(), untilNs);
      if (nextNs === Infinity) return;
      this.power.advance(nextNs);
      this.engine.advance(nextNs);
      this.pace.control(nextNs);
      this.engine.takeFinished();
      if (nextNs >= untilNs) return;
    }
  }
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

describe('energy', () => {
  it('is that of the blocks and of the time, however blocks share the card', () => {
    const bench = new Bench(additive);
    bench.start(1, arithmetic, range(0, 132));
    bench.run(40_000);
    bench.start(2, streaming, range(0, 60));
    bench.run(90_000);
    bench.start(3, arithmetic, [...range(100, 132), ...range(100, 132)]);
    bench.run();
    const { idleWatts } = h200.power;
    const expected =
      dynamicMillijoules(arithmetic, 132 + 64) +
      dynamicMillijoules(streaming, 60) +
      idleWatts * bench.nowNs * 1e-6;
    expect(bench.power.state.millijoules / expected).toBeCloseTo(1, 9);
  });

  it('counts a dropped launch as far as it has come', () => {
    const bench = new Bench(h200);
    bench.start(1, arithmetic, range(0, 132));
    bench.run(100_000);
    const [group] = bench.engine.state.groups;
    const done = 1 - group.remaining;
    expect(done).toBeGreaterThan(0.05);
    expect(done).toBeLessThan(0.95);
    bench.engine.takeLaunch(1);
    const expected = dynamicMillijoules(arithmetic, 132) * done + h200.power.idleWatts * bench.nowNs * 1e-6;
    expect(bench.power.state.millijoules / expected).toBeCloseTo(1, 9);
  });

  it('is the integral of the power', () => {
    const bench = new Bench(h200);
    bench.start(1, arithmetic, range(0, 66));
    bench.run(50_000);
    const before = bench.power.state.millijoules;
    const watts = totalWatts(bench.power.state.watts);
    expect(watts).toBeGreaterThan(h200.power.idleWatts);
    bench.run(70_000);
    expect(bench.power.state.millijoules - before).toBeCloseTo(watts * 20_000 * 1e-6, 9);
    expect(bench.power.millijoulesAt(bench.nowNs + 1e6) - bench.power.state.millijoules).toBeCloseTo(
      watts,
      6,
    );
  });
});

describe('clocks', () => {
  const seconds = (each: BlockWork, set: (engine: BlockEngine) => void): number => {
    const bench = new Bench(h200);
    bench.power.state.applicationClockHz = 0;
    set(bench.engine);
    bench.start(1, each, range(0, 132));
    bench.run();
    return bench.nowNs;
  };

  it('slow down what they drive, and not the other', () => {
    const halfSm = (engine: BlockEngine): void => engine.setClock(h200.clockHz / 2);
    const halfMemory = (engine: BlockEngine): void => engine.setMemoryClock(h200.clocks.memoryHz / 2);
    const asIs = (): void => undefined;
    expect(seconds(arithmetic, halfSm) / seconds(arithmetic, asIs)).toBeCloseTo(2, 1);
    expect(seconds(arithmetic, halfMemory) / seconds(arithmetic, asIs)).toBeCloseTo(1, 3);
    const bound = work({ issue: 1e4 }, { l2Bytes: 4e6, dramBytes: 4e6 });
    expect(seconds(bound, halfMemory) / seconds(bound, asIs)).toBeGreaterThan(1.9);
    expect(seconds(bound, halfSm) / seconds(bound, asIs)).toBeLessThan(1.1);
  });

  it('fall when the power would stay above the limit, and rise again when it is gone', () => {
    const bench = new Bench(h200);
    bench.pace.setPowerLimit(250);
    const hungry = work({ issue: 4e9, float32: 4e9 });
    bench.start(1, hungry, range(0, 132));
    bench.run(1e6);
    expect(totalWatts(bench.power.state.watts)).toBeGreaterThan(250);
    expect(bench.engine.state.clockHz).toBe(h200.clockHz);
    bench.run(400e6);
    const throttled = bench.engine.state.clockHz;
    expect(throttled).toBeLessThan(h200.clockHz);
    expect(throttled % h200.clocks.stepHz).toBe(0);
    expect(totalWatts(bench.power.state.watts)).toBeLessThanOrEqual(250);
    expect(totalWatts(bench.power.state.watts)).toBeGreaterThan(240);
    bench.engine.takeLaunch(1);
    bench.run();
    expect(bench.engine.state.clockHz).toBe(h200.clockHz);
  });

  it('are looked at again when the limit is moved, though no rate has changed', () => {
    const bench = new Bench(h200);
    bench.start(1, work({ issue: 4e9, float32: 4e9 }), range(0, 132));
    bench.run(1e6);
    expect(bench.power.state.controlNs).toBeUndefined();
    bench.pace.setPowerLimit(250);
    expect(bench.pace.rerate()).toBe(bench.power.state.controlNs);
    bench.run(400e6);
    expect(bench.engine.state.clockHz).toBeLessThan(h200.clockHz);
    bench.pace.setPowerLimit(h200.power.limitWatts);
    bench.pace.setClock(h200.clocks.minimumHz);
    bench.run(800e6);
    expect(bench.engine.state.clockHz).toBe(h200.clocks.minimumHz);
  });

  it('let a burst pass that the average hides', () => {
    const bench = new Bench(h200);
    bench.pace.setPowerLimit(250);
    bench.start(1, work({ issue: 2e7, float32: 2e7 }), range(0, 132));
    bench.run();
    expect(bench.engine.state.clockHz).toBe(h200.clockHz);
  });

  it('take less energy a block the lower they are', () => {
    expect(voltageShare(h200, h200.clockHz)).toBe(1);
    expect(voltageShare(h200, 1.89e9)).toBeLessThan(0.97);
    expect(voltageShare(h200, h200.clocks.minimumHz)).toBe(h200.power.lowestVoltageShare);
    expect(voltageShare(profileNamed('8800gtx'), 1.35e9)).toBe(1);
  });
});

it('memory takes its own once it is in use', () => {
  const bench = new Bench(h200);
  bench.start(1, streaming, [0]);
  bench.run(100);
  const { memoryAwakeWatts, picojoules } = h200.power;
  const [{ ratePerNs }] = bench.engine.state.groups;
  const bytesWatts = ratePerNs * 4e6 * picojoules.dramBytes * 1e-3;
  expect(bench.power.state.watts.memory).toBeGreaterThan(bytesWatts);
  expect(bench.power.state.watts.memory).toBeLessThanOrEqual(bytesWatts + memoryAwakeWatts);
});

describe('a card full of multiply-adds', () => {
  const sustained = (name: string): number => {
    const card = profileNamed(name);
    const bench = new Bench(card);
    bench.start(1, work({ issue: 1e10, float32: 1e10 }), range(0, card.sms));
    bench.run(500e6);
    expect(totalWatts(bench.power.state.watts)).toBeLessThanOrEqual(card.power.limitWatts);
    return bench.engine.state.clockHz;
  };

  it.each(PROFILE_NAMES)('keeps the clock that the maker of %s guarantees', (name) => {
    expect(sustained(name)).toBeGreaterThanOrEqual(profileNamed(name).clocks.baseHz);
  });

  it('runs at its highest clock on an H200, and below it on a T4, whose limit is low', () => {
    expect(sustained('h200')).toBe(1.98e9);
    expect(sustained('t4')).toBeLessThan(1.5e9);
  });
});
