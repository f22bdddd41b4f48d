import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Registry, type HostedModel, type ModelRecord } from '../registry/index.js';
import { MemoryStore } from '../store/index.js';
import { Deployer, type ReplicaStatus } from './index.js';
import { FakeContainer } from './tests/fakeContainer.js';

const model = (name: string): ModelRecord => ({
  name,
  version: '1',
  inputType: 'doubles',
  labels: [],
  container: { kind: 'constant', output: '1' },
  batching: { strategy: 'aimd' },
  warmUp: false,
});

describe('replicas without a place', () => {
  let registry: Registry;
  let deployer: Deployer;
  let started: FakeContainer[];
  let lost: ReplicaStatus[];
  let places: number;
  let tellRoom: () => void;
  let asked: number;
  const states = (): string[] =>
    deployer.statuses().map(({ model: name, replica, state }) => `${name} ${replica} ${state}`);
  const room = (count: number): void => {
    places += count;
    tellRoom();
    tellRoom();
  };

  beforeEach(async () => {
    registry = new Registry(new MemoryStore());
    started = [];
    lost = [];
    places = 1;
    asked = 0;
    await registry.addModel(model('a'), { replicas: 2 });
    await registry.addModel(model('b'), { replicas: 1 });
    deployer = new Deployer({
      registry,
      starter: {
        start: (record: HostedModel, replica) => {
          places -= 1;
          const container = new FakeContainer(record, replica);
          started.push(container);
          return container;
        },
        obstacle: () => {
          asked += 1;
          return places > 0 ? undefined : 'node0/0 (t4): it is full';
        },
        watchRoom: (listener) => (tellRoom = listener),
      },
      addReplica: (channel) => {
        channel.open({ onFrame: () => undefined });
        return { drain: (done) => done() };
      },
      backOff: { firstMs: 1, longestMs: 1, forgivenAfterMs: 60_000 },
      onLost: (status) => lost.push(status),
    });
    deployer.start();
    started[0].hello();
  });
  afterEach(() => deployer.stop());

  it('are down with the reason, told once, and not started again and again', async () => {
    expect(states()).toEqual(['a 0 up', 'a 1 down', 'b 0 down']);
    expect(deployer.statuses()[1]).toMatchObject({ restarts: 0, lastFailure: 'node0/0 (t4): it is full' });
    await deployer.settled(() => true);
    const before = asked;
    // Of more than the back-off: a timer would have asked again.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(asked).toBe(before);
    expect(lost.map(({ model: name, replica }) => `${name} ${replica}`)).toEqual(['a 1', 'b 0']);
    expect(started).toHaveLength(1);
  });

  it('start in their order once there is room, each where there is', async () => {
    room(1);
    await vi.waitFor(() => expect(states()).toEqual(['a 0 up', 'a 1 starting', 'b 0 down']));
    room(1);
    await vi.waitFor(() => expect(states()).toEqual(['a 0 up', 'a 1 starting', 'b 0 starting']));
    for (const container of started.slice(1)) container.hello();
    expect(states()).toEqual(['a 0 up', 'a 1 up', 'b 0 up']);
    expect(deployer.statuses().map(({ restarts }) => restarts)).toEqual([0, 0, 0]);
    expect(lost).toHaveLength(2);
  });

  it('are waiting again when one that ran is lost and another took its place', async () => {
    started[0].down('gone');
    room(1);
    await vi.waitFor(() => expect(states().filter((each) => each.endsWith('starting'))).toHaveLength(1));
    await vi.waitFor(() => expect(states().filter((each) => each.endsWith('down'))).toHaveLength(2));
    room(2);
    await vi.waitFor(() => expect(states()).toEqual(['a 0 starting', 'a 1 starting', 'b 0 starting']));
  });

  it('go first when there are to be fewer, and never start afterwards', async () => {
    await registry.setScale('a', '1', { replicas: 1 });
    await registry.deleteVersion('b', '1');
    expect(states()).toEqual(['a 0 up']);
    room(5);
    await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(started).toHaveLength(1);
    deployer.stop();
    room(5);
    await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(started).toHaveLength(1);
  });
});
