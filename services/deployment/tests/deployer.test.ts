import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContainerChannel, ContainerFrame, FrameSink } from '../../../containers/protocol/index.js';
import { PROTOCOL_VERSION } from '../../../containers/protocol/index.js';
import { Registry, type ModelRecord } from '../../registry/index.js';
import { MemoryStore } from '../../store/index.js';
import { Deployer, type ReplicaStatus } from '../index.js';

/** The other end is the test. */
class FakeContainer implements ContainerChannel {
  closed = false;
  private sink: FrameSink<ContainerFrame> | undefined;
  constructor(readonly model: ModelRecord) {}
  send(): void {}
  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
  }
  close(): void {
    this.closed = true;
  }
  hello(): void {
    const { name, version, inputType } = this.model;
    this.sink?.onFrame({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: name,
      version,
      replica: '0',
      inputType,
      maxBatchSize: 1,
      credits: 1,
    });
  }
  down(reason: string): void {
    this.sink?.onFrame({ kind: 'down', reason });
  }
}

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
  let onStart: () => void;
  let deployer: Deployer;

  beforeEach(async () => {
    registry = new Registry(new MemoryStore());
    started = [];
    frames = [];
    lost = [];
    onStart = () => undefined;
    await registry.addModel(model('1'));
    deployer = new Deployer({
      registry,
      starter: {
        start: (record) => {
          const container = new FakeContainer(record);
          started.push(container);
          onStart();
          return container;
        },
      },
      addReplica: (channel) => channel.open({ onFrame: (frame) => frames.push(frame.kind) }),
      backOff: { firstMs: 1, longestMs: 4, forgivenAfterMs: 60_000 },
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

  it('is settled once each replica is up or has failed', async () => {
    deployer.start();
    let settled = false;
    const settling = deployer.settled().then(() => (settled = true));
    await Promise.resolve();
    expect(settled).toBe(false);
    started[0].hello();
    await settling;
    expect(deployer.statuses()).toEqual([{ model: 'm', version: '1', replica: 0, state: 'up', restarts: 0 }]);
    expect(frames).toEqual(['hello']);
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

  it('starts a replica again that the engine refused', async () => {
    deployer.stop();
    deployer = new Deployer({
      registry,
      starter: { start: (record) => new FakeContainer(record) },
      addReplica: (channel) => channel.close(),
      backOff: { firstMs: 60_000, longestMs: 60_000, forgivenAfterMs: 60_000 },
    });
    deployer.start();
    await deployer.settled();
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
});
