import type { Clock } from '../../simulator/time/index.js';
import type { ContainerChannel } from '../protocol/index.js';
import { ConstantContainer } from './constantContainer.js';
import { InProcessChannel } from './inProcessChannel.js';
import type { ContainerSource, ContainerStart } from './modelContainer.js';
import { NO_NEEDS, NeedsOfModels } from './needsOfModels.js';
import { onGpu, type NodeHost, type NodeReport } from './nodeHost.js';
import { placeReplica, type NodeRoom, type WantedReplica } from './placement/index.js';
import { ProcessHost } from './process/index.js';

export interface ContainerRuntimeOptions {
  /** The frontend's clock: containers in its own thread answer on it. */
  readonly clock: Clock;
  /** GPU nodes, which kernel models are spread over. The runtime closes them. */
  readonly nodes: readonly NodeHost[];
  /** Everything runs on nodes, and nothing in this process or beside it. Default: what no node takes runs here. */
  readonly isOnNodesOnly?: boolean;
}

type KernelModelSource = Extract<ContainerSource, { kind: 'kernelModel' }>;

/** Starts replicas: kernel models on GPU nodes, constants in process, users' modules and programs in processes of their own. */
export class ContainerRuntime {
  private started = 0;
  private readonly processes = new ProcessHost();
  private readonly needs = new NeedsOfModels();

  constructor(private readonly options: ContainerRuntimeOptions) {}

  /**
   * Never throws and never waits: `hello` arrives on the channel when the replica is ready, `down` with the file and the
   * field when it cannot start. A kernel model goes to the GPU that `placeReplica` says.
   */
  start(request: ContainerStart): ContainerChannel {
    const { container } = request;
    switch (container.kind) {
      case 'kernelModel':
        return this.startOnGpu(request, container);
      case 'constant': {
        const elsewhere = this.elsewhere(request);
        if (elsewhere !== undefined) return elsewhere;
        const channel = this.channelFor(request);
        channel.connect(new ConstantContainer(request, request.inputType, container.output, channel));
        return channel;
      }
      case 'process':
      case 'python':
      case 'exec':
        return this.elsewhere(request) ?? this.processes.start({ ...container, ...request });
    }
  }

  /** What every node's GPUs have room for. */
  rooms(): readonly NodeRoom[] {
    return this.options.nodes.map((node) => node.room());
  }

  /** @param listener told when a GPU has more room than before */
  watchRoom(listener: () => void): void {
    for (const node of this.options.nodes) node.watchRoom(listener);
  }

  /** What a replica of a kernel model is to be given; undefined of other models, and of one whose files cannot be read. */
  wanted(container: ContainerSource, contentHash?: string): WantedReplica | undefined {
    return container.kind === 'kernelModel' ? this.needs.of(container, contentHash) : undefined;
  }

  reports(): readonly NodeReport[] {
    return this.options.nodes.map((node) => node.report());
  }

  /** @param name the first node's unless given */
  node(name?: string): NodeHost | undefined {
    return this.options.nodes.find((node) => name === undefined || node.name === name);
  }

  /** Every node counts, and reports, what its GPUs' SMs do; or no longer. */
  watchGpus(watched: boolean): void {
    for (const node of this.options.nodes) node.watchGpus(watched);
  }

  /** Calls back once no node and no process has a batch in flight. */
  drain(done: () => void): void {
    afterEach([...this.options.nodes, this.processes], (host, next) => host.drain(next), done);
  }

  /** Ends every node and process; calls back when nothing is left running. */
  close(done: () => void): void {
    afterEach([...this.options.nodes, this.processes], (host, next) => host.close(next), done);
  }

  /** On a node that takes such containers; undefined: it runs here. */
  private elsewhere(request: ContainerStart): ContainerChannel | undefined {
    const channel = this.leastLoaded(request.container.kind)?.startContainer?.(request);
    if (channel !== undefined || this.options.isOnNodesOnly !== true) return channel;
    const names = this.options.nodes.map(({ name }) => `'${name}'`).join(', ');
    return this.refused(request, `none of the nodes takes it now: ${names}`);
  }

  private leastLoaded(kind: ContainerSource['kind']): NodeHost | undefined {
    let best: NodeHost | undefined;
    let fewest = Infinity;
    for (const node of this.options.nodes) {
      if (!takes(node, kind)) continue;
      const { replicas } = node.report();
      if (replicas >= fewest) continue;
      best = node;
      fewest = replicas;
    }
    return best;
  }

  private startOnGpu(request: ContainerStart, container: KernelModelSource): ContainerChannel {
    const wanted = this.needs.of(container, request.contentHash);
    const outcome = placeReplica(this.rooms(), wanted ?? { needs: NO_NEEDS });
    if (!outcome.ok) return this.refused(request, outcome.reason);
    const node = this.node(outcome.place.node);
    if (node === undefined) return this.refused(request, `there is no GPU node '${outcome.place.node}'`);
    return node.start(onGpu(request, container, outcome.place.gpu, wanted?.needs));
  }

  private refused(request: ContainerStart, reason: string): ContainerChannel {
    const channel = this.channelFor(request);
    channel.onFrame({
      kind: 'down',
      reason: `model '${request.model}' version '${request.version}': ${reason}`,
    });
    return channel;
  }

  private channelFor({ model, version, replica }: ContainerStart): InProcessChannel {
    return new InProcessChannel(
      this.options.clock,
      `container${this.started++}/${model}/${version}/${replica}`,
    );
  }
}

function takes(node: NodeHost, kind: ContainerSource['kind']): boolean {
  return node.takes === undefined ? kind === 'kernelModel' : node.takes(kind);
}

function afterEach<T>(items: readonly T[], run: (item: T, next: () => void) => void, done: () => void): void {
  let left = items.length;
  if (left === 0) done();
  for (const item of items) {
    run(item, () => {
      if (--left === 0) done();
    });
  }
}
