import type { ContainerChannel } from '../../containers/protocol/index.js';
import {
  ContainerRuntime,
  GpuNodeThread,
  type GpuNodeThreadOptions,
  type NodeReport,
} from '../../containers/runtime/index.js';
import type { FaultSettings } from '../../simulator/cluster/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { HostedModel } from '../registry/index.js';
import { recordTimeline, type TimelineRequest } from './gpuRecording.js';
import type { ContainerStarter } from './replica.js';

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
  /** Told what whoever runs the server should know. */
  readonly onNotice?: GpuNodeThreadOptions['onNotice'] | undefined;
}

/** What runs containers in this process: one GPU node in a thread of its own for kernel models, constants in process. */
export class EmbeddedRuntime implements ContainerStarter {
  /** Names of the GPUs that kernel models run on. */
  readonly gpuCards: readonly string[] = ['h200'];
  private readonly runtime: ContainerRuntime;

  constructor(options: EmbeddedRuntimeOptions) {
    const { clock, gpuThreads = 1, scheduling = 'fifo', faults = {}, analysisDirectory, onNotice } = options;
    const node = new GpuNodeThread({
      gpus: this.gpuCards,
      threads: gpuThreads,
      scheduling,
      faults,
      ...(analysisDirectory === undefined ? {} : { analysisDirectory }),
      ...(onNotice === undefined ? {} : { onNotice }),
    });
    this.runtime = new ContainerRuntime({ clock, nodes: [node] });
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
