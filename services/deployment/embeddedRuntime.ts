import type { ContainerChannel } from '../../containers/protocol/index.js';
import {
  ContainerRuntime,
  GpuNodeThread,
  RemoteNode,
  type GpuNodeThreadOptions,
  type NodeAddress,
  type NodeReport,
  type RemoteNodeOptions,
} from '../../containers/runtime/index.js';
import type { FaultSettings } from '../../simulator/cluster/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { HostedModel } from '../registry/index.js';
import { recordTimeline, type TimelineRequest } from './gpuRecording.js';
import type { ContainerStarter } from './replica.js';

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
  /** Threads that run the blocks of large launches. */
  readonly gpuThreads?: number | undefined;
  /** Who runs next on a GPU: a policy's name, or the file of one. */
  readonly scheduling?: string | undefined;
  /** Where analyses of kernels are kept for the next start; undefined: nowhere. */
  readonly analysisDirectory?: string | undefined;
  /** That strike launches, and what is done about them. */
  readonly faults?: FaultSettings | undefined;
  /** Nodes in processes of their own; none unless given. */
  readonly dialled?: DialledNodes | undefined;
  /** Told what whoever runs the server should know. */
  readonly onNotice?: GpuNodeThreadOptions['onNotice'] | undefined;
}

/**
 * What runs containers: one GPU node in a thread of its own for kernel models, constants in process; and nodes in processes of
 * their own, which then run all that is not bound to this one.
 */
export class EmbeddedRuntime implements ContainerStarter {
  private readonly runtime: ContainerRuntime;
  private readonly ownCards: readonly string[];
  private readonly remote: readonly RemoteNode[];

  constructor(options: EmbeddedRuntimeOptions) {
    const { clock, gpuThreads = 1, scheduling = 'fifo', faults = {}, analysisDirectory, onNotice } = options;
    const { dialled } = options;
    this.remote = dialled === undefined ? [] : dial(dialled, onNotice);
    this.ownCards = dialled?.isOnly === true ? [] : ['h200'];
    const own = (): GpuNodeThread =>
      new GpuNodeThread({
        gpus: this.ownCards,
        threads: gpuThreads,
        scheduling,
        faults,
        ...(analysisDirectory === undefined ? {} : { analysisDirectory }),
        ...(onNotice === undefined ? {} : { onNotice }),
      });
    const embedded = this.ownCards.length === 0 ? [] : [own()];
    this.runtime = new ContainerRuntime({
      clock,
      nodes: [...embedded, ...this.remote],
      isOnNodesOnly: dialled?.isOnly === true,
    });
  }

  /** Names of the GPUs that kernel models run on; those of nodes that are connected among them. */
  get gpuCards(): readonly string[] {
    return [...new Set([...this.ownCards, ...this.remote.flatMap(({ gpus }) => gpus)])];
  }

  /** Resolves once every node is connected, has failed to be, or has had its time. */
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
    const { name, version, inputType, inputLength, container, contentHash } = model;
    return this.runtime.start({
      model: name,
      version,
      replica: String(replica),
      inputType,
      ...(inputLength === undefined ? {} : { inputLength }),
      container,
      ...(contentHash === undefined ? {} : { contentHash }),
    });
  }

  reports(): readonly NodeReport[] {
    return this.runtime.reports();
  }

  /** Reports tell what the GPUs do, or no longer. */
  watchGpus(watched: boolean): void {
    this.runtime.watchGpus(watched);
  }

  /** What GPUs do in the time that begins now. @throws ServiceError (as a rejection) */
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
  onNotice: GpuNodeThreadOptions['onNotice'],
): readonly RemoteNode[] {
  const nodes: RemoteNode[] = [];
  for (const address of addresses) {
    const node: RemoteNode = new RemoteNode({
      address,
      key,
      tls,
      mayBe: (name) => nodes.every((other) => other === node || other.name !== name),
      ...(onNotice === undefined ? {} : { onNotice }),
    });
    nodes.push(node);
  }
  return nodes;
}
