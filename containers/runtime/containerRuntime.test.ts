import { beforeEach, describe, expect, it } from 'vitest';
import { profileNamed, type DeviceProfile } from '../../simulator/gpu/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import type { ContainerChannel } from '../protocol/index.js';
import { ContainerRuntime } from './containerRuntime.js';
import type { ContainerStart } from './modelContainer.js';
import type { KernelModelStart, NodeHost } from './nodeHost.js';
import { Reservations, type NodeRoom } from './placement/index.js';
import { FrontendDouble, floats } from './tests/frontendDouble.js';

const NOOP: ContainerStart = {
  model: 'noop',
  version: '1',
  replica: '0',
  inputType: 'doubles',
  container: { kind: 'constant', output: '42' },
};
const GIB = 2 ** 30;
const KERNEL: ContainerStart = {
  ...NOOP,
  container: {
    kind: 'kernelModel',
    path: '/models/x',
    memory: { arrayBytes: GIB, moduleBytes: 0, backingBytes: 2 ** 20 },
  },
};

/** Counts what it is asked; its channels never say anything. */
class NodeDouble implements NodeHost {
  replicas = 0;
  private readonly reservations: Reservations;
  readonly waiting: (() => void)[] = [];
  watched = false;

  constructor(
    readonly name: string,
    gpus = 1,
  ) {
    this.reservations = new Reservations(name, new Array<DeviceProfile>(gpus).fill(profileNamed('t4')));
  }

  room(): NodeRoom {
    return this.reservations.room();
  }

  watchRoom(listener: () => void): void {
    this.reservations.watch(listener);
  }

  start(request: KernelModelStart): ContainerChannel {
    const { gpu = 0, memory } = request;
    if (memory !== undefined) this.reservations.reserve(this.replicas, gpu, request, memory);
    this.replicas += 1;
    return { send: () => undefined, open: () => undefined, close: () => undefined };
  }

  report(): ReturnType<NodeHost['report']> {
    return {
      node: this.name,
      room: this.room(),
      replicas: this.replicas,
      busyHostSeconds: 0,
      busySimulatedSeconds: 0,
      dilation: undefined,
      hostBusyShare: undefined,
      clockLagSeconds: 0,
      gpus: [],
      spans: [],
    };
  }

  record(): 'down' {
    return 'down';
  }

  stopRecording(): void {
    throw new Error('nothing is recorded');
  }

  watchGpus(watched: boolean): void {
    this.watched = watched;
  }

  drain(done: () => void): void {
    this.waiting.push(done);
  }

  close(done: () => void): void {
    this.waiting.push(done);
  }
}

describe('the container runtime', () => {
  let clock: VirtualClock;

  beforeEach(() => {
    clock = new VirtualClock();
  });

  it('runs constants in process', () => {
    const runtime = new ContainerRuntime({ clock, nodes: [] });
    const frontend = new FrontendDouble(runtime.start(NOOP));
    clock.run();
    expect(frontend.frames[0]).toMatchObject({ kind: 'hello', model: 'noop', inputType: 'doubles' });
    const batch = frontend.ask([floats(1), floats()]);
    expect(frontend.result(batch)).toBeUndefined();
    clock.run();
    expect(frontend.outcomes(batch)).toEqual(['42', '42']);
  });

  it('starts the same replica again after it was closed, or beside the other', () => {
    const runtime = new ContainerRuntime({ clock, nodes: [] });
    runtime.start(NOOP).close();
    const frontends = [runtime.start(NOOP), runtime.start(NOOP)].map(
      (channel) => new FrontendDouble(channel),
    );
    clock.run();
    expect(frontends.map((frontend) => frontend.kinds())).toEqual([['hello'], ['hello']]);
  });

  it('spreads kernel models over the GPUs of all nodes, and counts what each has been given', () => {
    const nodes = [new NodeDouble('a', 2), new NodeDouble('b')];
    const runtime = new ContainerRuntime({ clock, nodes });
    for (let k = 0; k < 4; k++) runtime.start({ ...KERNEL, replica: String(k) });
    expect(runtime.rooms().flatMap(({ gpus }) => gpus.map(({ replicas }) => replicas))).toEqual([2, 1, 1]);
    expect(runtime.rooms()[0].holders.map(({ replica, gpu }) => `${replica} on ${gpu}`)).toEqual([
      '0 on 0',
      '1 on 1',
      '3 on 0',
    ]);
    expect(runtime.reports().map(({ node }) => node)).toEqual(['a', 'b']);
  });

  it('answers down, naming what each GPU has, where there is no more room', () => {
    const runtime = new ContainerRuntime({ clock, nodes: [new NodeDouble('a')] });
    // 15 GiB, of which each replica takes 1 GiB and a context of 40 MiB.
    const frontends = Array.from({ length: 15 }, () => new FrontendDouble(runtime.start(KERNEL)));
    clock.run();
    expect(frontends.map((frontend) => frontend.kinds().length)).toEqual([
      ...new Array<number>(14).fill(0),
      1,
    ]);
    expect(frontends[14].frames[0]).toMatchObject({
      kind: 'down',
      reason: expect.stringMatching(
        /a\/0 \(t4\): \d+ of its 16106127360 bytes are free, a replica needs 1115684864/,
      ) as string,
    });
  });

  it('answers down: a kernel model without a node', () => {
    const runtime = new ContainerRuntime({ clock, nodes: [] });
    const frontend = new FrontendDouble(runtime.start(KERNEL));
    clock.run();
    const reason = expect.stringContaining('there is no GPU node') as string;
    expect(frontend.frames).toEqual([{ kind: 'down', reason }]);
  });

  it('drains and closes when all nodes have', () => {
    const nodes = [new NodeDouble('a'), new NodeDouble('b')];
    const runtime = new ContainerRuntime({ clock, nodes });
    let done = 0;
    runtime.drain(() => (done += 1));
    nodes[0].waiting[0]();
    expect(done).toBe(0);
    nodes[1].waiting[0]();
    expect(done).toBe(1);
    new ContainerRuntime({ clock, nodes: [] }).close(() => (done += 1));
    expect(done).toBe(2);
  });
});
