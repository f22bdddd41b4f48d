import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ContainerFrame } from '../../containers/protocol/index.js';
import { Registry, type ModelRecord } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Deployer, type ReplicaStatus } from './index.js';
import { FakeContainer } from './tests/fakeContainer.js';

const model = (
  version: string,
  container: ModelRecord['container'] = { kind: 'constant', output: '1' },
): ModelRecord => ({
  name: 'm',
  version,
  inputType: 'doubles',
  labels: [],
  container,
  batching: { strategy: 'aimd' },
});

describe('Deployer', () => {
  let registry: Registry;
  let started: FakeContainer[];
  let frames: ContainerFrame['kind'][];
  let lost: ReplicaStatus[];
  /** Versions, each time that they were told to be ready. */
  let ready: string[];
  /** Replicas that answer what they have: the test says when they are done. */
  let draining: (() => void)[];
  let onStart: () => void;
  let numbers: number[] | undefined;
  let onRoom: () => void;
  let deployer: Deployer;

  beforeEach(async () => {
    registry = new Registry(new MemoryStore());
    started = [];
    frames = [];
    lost = [];
    ready = [];
    draining = [];
    onStart = () => undefined;
    numbers = undefined;
    onRoom = () => undefined;
    await registry.addModel(model('1'));
    deployer = new Deployer({
      registry,
      starter: {
        start: (record, replica) => {
          const container = new FakeContainer(record, replica);
          started.push(container);
          onStart();
          return container;
        },
        numbers: () => numbers,
        watchRoom: (listener) => {
          onRoom = listener;
        },
      },
      addReplica: (channel) => {
        channel.open({ onFrame: (frame) => frames.push(frame.kind) });
        return { drain: (done) => draining.push(done) };
      },
      backOff: { firstMs: 1, longestMs: 4, forgivenAfterMs: 60_000 },
      onReady: ({ version }) => ready.push(version),
      onLost: (status) => lost.push(status),
    });
  });
  afterEach(() => deployer.stop());

  it('runs every version that is registered and stops deleted ones', async () => {
    deployer.start();
    await registry.addModel(model('2'));
    await registry.addModel(model('3', { kind: 'external', containerName: 'x', modelDataPath: '' }));
    expect(started.map((container) => container.model.version)).toEqual(['1', '2']);
    await registry.deleteVersion('m', '1');
    expect(started.map((container) => container.closed)).toEqual([true, false]);
    expect(deployer.statuses().map(({ version }) => version)).toEqual(['2']);
    // The same version registered anew is another container.
    await registry.addModel(model('1'));
    expect(started).toHaveLength(3);
  });

  describe('where somebody else says which replicas run', () => {
    const named = (...present: number[]) => {
      numbers = present;
      onRoom();
      return new Promise((resolve) => setImmediate(resolve));
    };
    const states = () => deployer.statuses().map(({ replica, state }) => `${replica} ${state}`);

    it('runs those, and not as many as the scale says', async () => {
      numbers = [0, 4];
      deployer.start();
      expect(states()).toEqual(['0 starting', '4 starting']);
      await registry.setScale('m', '1', { replicas: 5 });
      expect(states()).toEqual(['0 starting', '4 starting']);
      await named(4, 5);
      // Nothing is lost with one that was not up.
      expect(states()).toEqual(['4 starting', '5 starting']);
      numbers = undefined;
      await registry.setScale('m', '1', { replicas: 3 });
      expect(states()).toEqual(['0 starting', '4 starting', '5 starting']);
    });

    it('lets one go once another answers, and starts its number again once it has gone', async () => {
      numbers = [0];
      deployer.start();
      started[0].hello();
      await named(1);
      expect(states()).toEqual(['0 up', '1 starting']);
      started[1].hello();
      await named(1);
      expect(states()).toEqual(['0 draining', '1 up']);
      await named(0, 1);
      expect(states()).toEqual(['0 draining', '1 up']);
      draining[0]();
      await named(0, 1);
      expect(states()).toEqual(['0 starting', '1 up']);
      expect(started[0].closed).toBe(true);
    });

    it('lets all go where none is to run, and one that is lost meanwhile is not started again', async () => {
      numbers = [0, 1];
      deployer.start();
      for (const container of started) container.hello();
      await named(2);
      expect(states()).toEqual(['0 up', '1 up', '2 starting']);
      started[1].down('its node died');
      // Longer than lost ones wait for their next start.
      await new Promise((resolve) => setTimeout(resolve, 20));
      await named(2);
      expect(states()).toEqual(['0 up', '2 starting']);
      await named();
      expect(states()).toEqual(['0 draining']);
      expect(started.map(({ closed }) => closed)).toEqual([false, true, true]);
    });
  });

  it('is settled once each replica is up or has failed', async () => {
    deployer.start();
    let settled = false;
    const settling = deployer.settled(() => true).then(() => (settled = true));
    await Promise.resolve();
    expect(settled).toBe(false);
    started[0].hello();
    await settling;
    expect(deployer.statuses()).toEqual([{ model: 'm', version: '1', replica: 0, state: 'up', restarts: 0 }]);
    expect(frames).toEqual(['hello']);
  });

  it('is settled for some models while others are on their way up', async () => {
    deployer.start();
    await registry.addModel({ ...model('1'), name: 'never' });
    let everybody = false;
    void deployer.settled(() => true).then(() => (everybody = true));
    const settling = deployer.settled((name) => name === 'm');
    started[0].hello();
    await settling;
    expect(everybody).toBe(false);
    expect(deployer.statuses().map(({ model: name, state }) => [name, state])).toEqual([
      ['m', 'up'],
      ['never', 'starting'],
    ]);
  });

  it('starts a lost replica again, and tells why it was lost', async () => {
    deployer.start();
    started[0].hello();
    const again = new Promise<void>((resolve) => (onStart = resolve));
    started[0].down('the thread died');
    expect(deployer.statuses()[0]).toMatchObject({ state: 'down', lastFailure: 'the thread died' });
    expect(lost).toHaveLength(1);
    await again;
    started[1].hello();
    expect(deployer.statuses()[0]).toMatchObject({
      state: 'up',
      restarts: 1,
      lastFailure: 'the thread died',
    });
    expect(frames).toEqual(['hello', 'down', 'hello']);
  });

  it('waits twice as long before each start, up to the longest wait, and begins anew once it has stayed up', () => {
    vi.useFakeTimers();
    try {
      deployer.start();
      const lose = (waitMs: number): void => {
        const { length } = started;
        started[length - 1].down('the thread died');
        vi.advanceTimersByTime(waitMs - 1);
        expect(started).toHaveLength(length);
        vi.advanceTimersByTime(1);
        expect(started).toHaveLength(length + 1);
      };
      for (const waitMs of [1, 2, 4, 4]) lose(waitMs);
      started[4].hello();
      vi.advanceTimersByTime(59_000);
      lose(4);
      started[5].hello();
      vi.advanceTimersByTime(60_000);
      lose(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('starts a replica again that the engine refused', async () => {
    deployer.stop();
    deployer = new Deployer({
      registry,
      starter: { start: (record, replica) => new FakeContainer(record, replica) },
      addReplica: (channel) => {
        channel.close();
        return { drain: (done) => done() };
      },
      backOff: { firstMs: 60_000, longestMs: 60_000, forgivenAfterMs: 60_000 },
    });
    deployer.start();
    await deployer.settled(() => true);
    expect(deployer.statuses()[0]).toMatchObject({
      state: 'down',
      lastFailure: 'the frontend closed the channel',
    });
  });

  it('does not start anything again once it is stopped', async () => {
    deployer.start();
    started[0].down('x');
    deployer.stop();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(started).toHaveLength(1);
  });

  const states = (): string[] =>
    deployer.statuses().map(({ version, replica, state }) => `${version}/${replica} ${state}`);

  it('runs as many replicas as the registry says, and drains what is too many', async () => {
    await registry.setScale('m', '1', { replicas: 3 });
    const record = registry.model('m', '1');
    deployer.start();
    for (const container of started) container.hello();
    expect(states()).toEqual(['1/0 up', '1/1 up', '1/2 up']);
    // Not before the last of them: a switch must not put the load of three on one.
    expect(ready).toEqual(['1']);
    await registry.setScale('m', '1', { replicas: 1 });
    // The version itself is untouched: its queues, its cache.
    expect(registry.model('m', '1')).toBe(record);
    expect(states()).toEqual(['1/0 up', '1/1 draining', '1/2 draining']);
    expect(started.map(({ closed }) => closed)).toEqual([false, false, false]);
    // A number is free again once its replica has ended.
    await registry.setScale('m', '1', { replicas: 2 });
    expect(states()).toEqual(['1/0 up', '1/1 draining', '1/2 draining', '1/3 starting']);
    for (const done of draining) done();
    expect(started.map(({ closed }) => closed)).toEqual([false, true, true, false]);
    await registry.setScale('m', '1', { replicas: 3 });
    expect(states()).toEqual(['1/0 up', '1/1 starting', '1/3 starting']);
    expect(lost).toEqual([]);
  });

  it('lets those go first that are not up', async () => {
    await registry.setScale('m', '1', { replicas: 4 });
    deployer.start();
    started[0].hello();
    started[3].hello();
    started[1].down('x');
    await registry.setScale('m', '1', { replicas: 3 });
    expect(states()).toEqual(['1/0 up', '1/2 starting', '1/3 up']);
    await registry.setScale('m', '1', { replicas: 2 });
    expect(states()).toEqual(['1/0 up', '1/3 up']);
    expect(draining).toEqual([]);
    await registry.setScale('m', '1', { replicas: 1 });
    expect(states()).toEqual(['1/0 up', '1/3 draining']);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(started).toHaveLength(4);
  });

  it('runs none of a version that is scaled to 0, and drains those of a deleted one', async () => {
    deployer.start();
    started[0].hello();
    await registry.setScale('m', '1', { replicas: 0 });
    draining[0]();
    expect([states(), started[0].closed]).toEqual([[], true]);
    await registry.setScale('m', '1', { replicas: 1 });
    started[1].hello();
    await registry.deleteVersion('m', '1');
    expect(states()).toEqual(['1/0 draining']);
    // Registered anew meanwhile, with the default scale again.
    await registry.addModel(model('1'));
    expect(states()).toEqual(['1/1 starting', '1/0 draining']);
    draining[1]();
    expect([states(), started[1].closed]).toEqual([['1/1 starting'], true]);
  });

  it('is ready without those that do not start, and stays so while others are added', async () => {
    await registry.setScale('m', '1', { replicas: 2 });
    deployer.start();
    started[0].hello();
    expect([ready, deployer.isReady('m', '1')]).toEqual([[], false]);
    started[1].down('no memory');
    expect([ready, deployer.isReady('m', '1')]).toEqual([['1'], true]);
    await registry.setScale('m', '1', { replicas: 3 });
    expect(states()).toEqual(['1/0 up', '1/1 down', '1/2 starting']);
    expect(deployer.isReady('m', '1')).toBe(true);
    started[0].down('killed');
    expect(deployer.isReady('m', '1')).toBe(false);
    started[2].hello();
    expect([ready, deployer.isReady('m', '1')]).toEqual([['1', '1'], true]);
  });

  it('does not start a replica again that is lost while it is drained', async () => {
    deployer.start();
    started[0].hello();
    await registry.setScale('m', '1', { replicas: 0 });
    started[0].down('killed');
    draining[0]();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([states(), started.length]).toEqual([[], 1]);
  });
});
