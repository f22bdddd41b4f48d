import { describe, expect, it } from 'vitest';
import { DEVICE_RESOURCES, type ContextSharing } from '../gpu/index.js';
import { VirtualClock } from '../time/index.js';
import { FAKE_PTX, FakeExecutor } from './tests/fakeExecutor.js';
import { Session, pointerParams } from './tests/session.js';
import { GpuNode, type GpuReading } from './index.js';

/** Stacks of 1 KiB for 132 SMs of 64 warps. */
const CONTEXT_BYTES = 132 * 64 * 32 * 1024;
const DRAM = DEVICE_RESOURCES.indexOf('dramBytes');

interface Program {
  readonly node: GpuNode;
  readonly clock: VirtualClock;
  readonly sessions: readonly Session[];
}

/** Two contexts, each with a launch of uneven blocks and copies. @param look is called at every step of the clock */
function run(
  look: (node: GpuNode) => void = () => undefined,
  kernel: 'add' | 'bad' = 'add',
  contexts: ContextSharing = 'shared',
): Program {
  const clock = new VirtualClock();
  const node = new GpuNode(clock, {
    gpus: ['h200'],
    contexts,
    backingBytes: 64 * 2 ** 20,
    executor: () => new FakeExecutor((block) => 1000 + 900 * (block % 7)),
  });
  const sessions = [new Session(node, clock).open(), new Session(node, clock).open()];
  const tickets = sessions.map((session, index) => {
    const module = session.handle('moduleLoad', { ptx: FAKE_PTX, file: 'fake.ptx' });
    const address = session.handle('malloc', { bytes: 40_000 });
    session.send('memcpyHostToDevice', { address, bytes: new Uint8Array(4000), pinned: true });
    session.send('memset', { address, value: 0, bytes: 1000 });
    const shape = { grid: [500 + 500 * index, 1, 1], block: [256, 1, 1], dynamicSharedBytes: 0 } as const;
    const entry = index === 0 ? kernel : 'add';
    const params = entry === 'bad' ? pointerParams(address) : pointerParams(address, 1);
    session.send('launch', { module, kernel: entry, ...shape, params });
    return session.send('memcpyDeviceToHost', { address, bytes: 3000, pinned: true });
  });
  while (tickets.some((ticket, index) => sessions[index].find(ticket) === undefined) && clock.step())
    look(node);
  return { node, clock, sessions };
}

function reports(sessions: readonly Session[]) {
  return sessions.flatMap(({ completions }) =>
    completions.flatMap(({ result }) => (result?.launch === undefined ? [] : [result.launch])),
  );
}

describe('the reading of a GPU', () => {
  it('agrees with the reports of launches and copies', () => {
    const { node, clock, sessions } = run();
    const reading = node.reading(0);
    const launches = reports(sessions);
    expect(reading.blocks).toBe(1500);
    expect(reading.device[DRAM]).toBeCloseTo(launches.reduce((sum, { dramBytes }) => sum + dramBytes, 0));
    expect(reading.copies).toEqual({
      toDeviceBytes: 8000,
      toHostBytes: 6000,
      memoryBytes: 2 * (4000 + 1000 + 3000),
    });
    expect(reading.asOfNs).toBe(clock.nowNs());
    expect(reading.smCycles).toBeCloseTo(clock.nowNs() * 1.98);
    expect(reading.busyNs).toBeGreaterThan(0);
    expect(reading.busyNs).toBeLessThanOrEqual(
      launches.reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0),
    );
    expect(reading.smBusyNs).toBeLessThanOrEqual(132 * reading.busyNs);
    expect(reading.warpNs).toBeLessThanOrEqual(64 * reading.smBusyNs);
    expect(reading.usedBytes).toBe(2 * (CONTEXT_BYTES + 40_000));
    expect(reading.sensors).toMatchObject({ atNs: clock.nowNs(), smClockHz: 1.98e9 });
    const idleMillijoules = (node.profiles[0].power.idleWatts * clock.nowNs()) / 1e6;
    expect(reading.sensors.energyMillijoules).toBeGreaterThan(idleMillijoules);
    expect(reading.contexts.map(({ usedBytes }) => usedBytes)).toEqual(
      Array.from({ length: 2 }, () => CONTEXT_BYTES + 40_000),
    );
    expect(reading.contexts.reduce((sum, { warpNs }) => sum + warpNs, 0)).toBeCloseTo(reading.warpNs);
    expect(reading.launches).toBe(0);
  });

  it.each(['shared', 'timeSliced'] as const)('only grows, and to look changes nothing: %s', (contexts) => {
    const seen: GpuReading[] = [];
    const watched = run((node) => seen.push(node.reading(0)), 'add', contexts);
    for (let index = 1; index < seen.length; index++) {
      const [before, after] = [seen[index - 1], seen[index]];
      for (const sum of ['asOfNs', 'smCycles', 'busyNs', 'smBusyNs', 'warpNs', 'blocks'] as const)
        expect(after[sum]).toBeGreaterThanOrEqual(before[sum]);
      after.device.forEach((amount, of) => expect(amount).toBeGreaterThanOrEqual(before.device[of] - 1e-6));
    }
    expect(seen.some(({ launches }) => launches > 0)).toBe(true);
    expect(seen.some(({ contexts }) => contexts.some(({ queued }) => queued > 0))).toBe(true);
    expect(watched.node.hash()).toBe(run(undefined, 'add', contexts).node.hash());
    expect(seen.at(-1)?.blocks).toBe(1500);
  });

  it('goes on after a fault, with what the killed blocks have done', () => {
    const { node, sessions } = run(undefined, 'bad');
    expect(sessions[0].completions.some(({ failure }) => failure?.code === 'kernelFault')).toBe(true);
    const { blocks, launches } = node.reading(0);
    expect(blocks).toBe(1000);
    expect(launches).toBe(0);
  });

  it('forgets contexts that were destroyed', () => {
    const { node, sessions } = run();
    sessions[0].call('contextDestroy', {});
    const { contexts, usedBytes } = node.reading(0);
    expect(contexts.map(({ context }) => context)).toEqual([sessions[1].context]);
    expect(usedBytes).toBe(CONTEXT_BYTES + 40_000);
  });
});
