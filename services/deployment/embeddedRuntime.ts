import type { ContainerChannel } from '../../containers/protocol/index.js';
import {
  ContainerRuntime,
  GpuNodeThread,
  RemoteNode,
  type ContainerStart,
  type GpuNodeThreadOptions,
  placeReplica,
  type NodeAddress,
  type NodeLink,
  type NodeReport,
  type NodeRoom,
  type RemoteNodeOptions,
  type WantedReplica,
} from '../../containers/runtime/index.js';
import type { FaultSettings } from '../../simulator/cluster/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { HostedModel } from '../registry/index.js';
import { containerStart } from './containerStart.js';
import { recordTimeline, type TimelineRequest } from './gpuRecording.js';
import type { ContainerStarter } from './replica.js';

/** Of a data directory, where analyses of kernels are kept. */
export const ANALYSES_FOLDER = 'analyses';

type Start = (request: ContainerStart) => ContainerChannel;

/** Nodes that a server dials. */
export interface DialledNodes {
  readonly addresses: readonly NodeAddress[];
  readonly key?: RemoteNodeOptions['key'];
  readonly tls?: RemoteNodeOptions['tls'];
  /** They run everything: this process has no GPUs of its own. */
  readonly isOnly: boolean;
}

/** A node that is not there by then does not keep the others from being used. */
const CONNECT_MS = 5000;

export interface EmbeddedRuntimeOptions {
  /** The frontend's. */
  readonly clock: Clock;
  /** Cards of each node's GPUs; one H200 unless given. */
  readonly gpus?: readonly string[] | undefined;
  /** GPU nodes, `node0` and on; 1 unless given. */
  readonly nodes?: number | undefined;
  /** Of each node, that run the blocks of large launches. */
  readonly gpuThreads?: number | undefined;
  /** Who runs next on a GPU: a policy's name, or the file of one. */
  readonly scheduling?: string | undefined;
  /** Where analyses of kernels are kept for the next start; undefined: nowhere. */
  readonly analysisDirectory?: string | undefined;
  /** That strike launches, and what is done about them. */
  readonly faults?: FaultSettings | undefined;
  /** Nodes in processes of their own; none unless given. */
  readonly dialled?: DialledNodes | undefined;
  /** How containers are started whose files may not be where they were registered: from the path unless given. */
  readonly starting?: ((plain: Start) => Start) | undefined;
  /** Told what whoever runs the server should know. */
  readonly onNotice?: GpuNodeThreadOptions['onNotice'] | undefined;
}

/** Runs a server's containers, wherever. */
export interface ServerRuntime extends ContainerStarter {
  /** Resolves once every node is connected, has failed to be, or has had its time. */
  connected(): Promise<void>;
  /** What every node's GPUs have room for. */
  rooms(): readonly NodeRoom[];
  /** What a replica is to be given; undefined of what needs no GPU, and of files that cannot be read. */
  wanted(model: HostedModel): WantedReplica | undefined;
  reports(): readonly NodeReport[];
  /** How this server stands with each node in a process of its own. */
  links(): readonly NodeLink[];
  /** Reports tell what the GPUs do, or no longer. */
  watchGpus(watched: boolean): void;
  /** What GPUs do in the time that begins now. @throws ServiceError (as a rejection) */
  recordTimeline(request: TimelineRequest): Promise<string>;
  close(): Promise<void>;
}

/**
 * What runs containers: GPU nodes for kernel models, each in a thread of its own, constants in process; and nodes in processes of
 * their own, which then run all that is not bound to this one.
 */
export class EmbeddedRuntime implements ServerRuntime {
  private readonly runtime: ContainerRuntime;
  private readonly remote: readonly RemoteNode[];
  private readonly startContainer: Start;

  constructor(options: EmbeddedRuntimeOptions) {
    const { clock, gpus = ['h200'], nodes = 1, gpuThreads = 1, scheduling = 'fifo', faults = {} } = options;
    const { analysisDirectory, onNotice, dialled } = options;
    const isOnNodesOnly = dialled?.isOnly === true;
    const hosts = Array.from(
      { length: isOnNodesOnly ? 0 : nodes },
      (_, at) =>
        new GpuNodeThread({
          name: `node${at}`,
          gpus,
          threads: gpuThreads,
          scheduling,
          faults,
          ...(analysisDirectory === undefined ? {} : { analysisDirectory }),
          ...(onNotice === undefined ? {} : { onNotice }),
        }),
    );
    this.remote =
      dialled === undefined ? [] : dial(dialled, new Set(hosts.map(({ name }) => name)), onNotice);
    this.runtime = new ContainerRuntime({ clock, nodes: [...hosts, ...this.remote], isOnNodesOnly });
    const plain: Start = (request) => this.runtime.start(request);
    this.startContainer = options.starting?.(plain) ?? plain;
  }

  async connected(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CONNECT_MS);
    });
    const all = this.remote.map((node) => new Promise<void>((resolve) => node.settled(resolve)));
    await Promise.race([Promise.all(all), late]);
    clearTimeout(timer);
  }

  start(model: HostedModel, replica: number): ContainerChannel {
    return this.startContainer(containerStart(model, replica));
  }

  obstacle({ container, contentHash }: HostedModel): string | undefined {
    const wanted = this.runtime.wanted(container, contentHash);
    if (wanted === undefined) return undefined;
    const outcome = placeReplica(this.runtime.rooms(), wanted);
    return outcome.ok ? undefined : outcome.reason;
  }

  watchRoom(listener: () => void): void {
    this.runtime.watchRoom(listener);
  }

  rooms(): readonly NodeRoom[] {
    return this.runtime.rooms();
  }

  wanted({ container, contentHash }: HostedModel): WantedReplica | undefined {
    return this.runtime.wanted(container, contentHash);
  }

  reports(): readonly NodeReport[] {
    return this.runtime.reports();
  }

  links(): readonly NodeLink[] {
    return this.remote.map((node) => node.link());
  }

  watchGpus(watched: boolean): void {
    this.runtime.watchGpus(watched);
  }

  recordTimeline(request: TimelineRequest): Promise<string> {
    return recordTimeline(this.runtime.node(request.node), request);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.runtime.close(resolve));
  }
}

/** No two of them go by one name. */
function dial(
  { addresses, key, tls }: DialledNodes,
  taken: ReadonlySet<string>,
  onNotice: GpuNodeThreadOptions['onNotice'],
): readonly RemoteNode[] {
  const nodes: RemoteNode[] = [];
  for (const address of addresses) {
    const node: RemoteNode = new RemoteNode({
      address,
      key,
      tls,
      mayBe: (name) => !taken.has(name) && nodes.every((other) => other === node || other.name !== name),
      ...(onNotice === undefined ? {} : { onNotice }),
    });
    nodes.push(node);
  }
  return nodes;
}
