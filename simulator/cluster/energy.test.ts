import { describe, expect, it } from 'vitest';
import { profileNamed, type DeviceProfile } from '../gpu/index.js';
import { VirtualClock } from '../time/index.js';
import { FAKE_PTX, FakeExecutor } from './tests/fakeExecutor.js';
import { Session, pointerParams } from './tests/session.js';
import { GpuNode } from './index.js';

/** Memory whose power goes with its bytes alone: energies then add up launch by launch. */
const h200 = profileNamed('h200');
const card: DeviceProfile = { ...h200, power: { ...h200.power, memoryAwakeWatts: 0 } };

const OPTIONS = {
  gpus: [card],
  backingBytes: 64 * 2 ** 20,
  executor: () => new FakeExecutor((block: number) => 20_000 + 9_000 * (block % 7)),
};

/** Launches of different sizes, one behind the other or side by side. */
function run(sideBySide: boolean): { readonly node: GpuNode; readonly clock: VirtualClock; dynamic: number } {
  const clock = new VirtualClock();
  const node = new GpuNode(clock, OPTIONS);
  const session = new Session(node, clock).open();
  const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
  const address = session.handle('malloc', { bytes: 40_000 });
  const sizes = [90, 700, 1500];
  const streams = sizes.map(() => session.handle('streamCreate', { priority: 0 }));
  const tickets = sizes.map((blocks, index) => {
    const stream = sideBySide ? streams[index] : streams[0];
    const grid = [blocks, 1, 1] as const;
    const shape = { grid, block: [256, 1, 1] as const, dynamicSharedBytes: 0 };
    return session.send(
      'launch',
      { module, kernel: 'add', ...shape, params: pointerParams(address, 1) },
      stream,
    );
  });
  while (tickets.some((ticket) => session.find(ticket) === undefined) && clock.step());
  const { energyMillijoules, atNs } = node.device(0).readings();
  return { node, clock, dynamic: energyMillijoules - (card.power.idleWatts * atNs) / 1e6 };
}

describe('energy of a node', () => {
  it('is the same however launches share the card, what it takes when idle apart', () => {
    const together = run(true);
    const apart = run(false);
    expect(together.clock.nowNs()).not.toBe(apart.clock.nowNs());
    expect(together.dynamic).toBeGreaterThan(1);
    // Blocks whose work differs by less than a hundredth stand for each other.
    expect(together.dynamic / apart.dynamic).toBeCloseTo(1, 3);
  });

  it('goes on while nothing runs, and is part of what a copy takes over', () => {
    const { node, clock } = run(true);
    const before = node.device(0).readings();
    const other = new VirtualClock(clock.nowNs());
    const copy = node.fork(other);
    expect(copy.hash()).toBe(node.hash());
    expect(copy.device(0).readings()).toEqual(before);
    clock.advanceTo(clock.nowNs() + 1e6);
    const { energyMillijoules, powerWatts } = node.device(0).readings();
    expect(energyMillijoules - before.energyMillijoules).toBeCloseTo(card.power.idleWatts, 6);
    expect(powerWatts).toBeCloseTo(card.power.idleWatts, 9);
  });

  it('counts clocks that differ as different states', () => {
    const clock = new VirtualClock();
    const node = new GpuNode(clock, OPTIONS);
    const before = node.hash();
    node.setClock(0, card.clockHz / 2);
    expect(node.hash()).not.toBe(before);
    expect(node.device(0).readings()).toMatchObject({
      smClockHz: card.clockHz / 2,
      throttle: 'applicationClock',
    });
    expect(() => node.setClock(0, card.clockHz * 2)).toThrow('clockHz: 3960 MHz; h200 takes');
  });
});
