import type { ContainerChannel } from '../../containers/protocol/index.js';
import { ContainerRuntime, GpuNodeThread, type NodeReport } from '../../containers/runtime/index.js';
import type { FaultSettings } from '../../simulator/cluster/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { ModelRecord } from '../registry/index.js';
import { recordTimeline, type TimelineRequest } from './gpuRecording.js';
import type { ContainerStarter } from './replica.js';

/** What runs containers in this process: one GPU node in a thread of its own for kernel models, constants in process. */
export class EmbeddedRuntime implements ContainerStarter {
  private readonly runtime: ContainerRuntime;

  /**
   * @param clock the frontend's. @param gpuThreads threads that run the blocks of large launches
   * @param scheduling who runs next on a GPU: a policy's name, or the file of one
   * @param analysisDirectory where analyses of kernels are kept for the next start; undefined: nowhere
   * @param faults that strike launches, and what is done about them
   */
  constructor(
    clock: Clock,
    gpuThreads = 1,
    scheduling = 'fifo',
    analysisDirectory?: string,
    faults: FaultSettings = {},
  ) {
    const node = new GpuNodeThread({
      threads: gpuThreads,
      scheduling,
      faults,
      ...(analysisDirectory === undefined ? {} : { analysisDirectory }),
    });
    this.runtime = new ContainerRuntime({ clock, nodes: [node] });
  }

  start(model: ModelRecord, replica: number): ContainerChannel {
    const { name, version, inputType, inputLength, container } = model;
    return this.runtime.start({
      model: name,
      version,
      replica: String(replica),
      inputType,
      ...(inputLength === undefined ? {} : { inputLength }),
      container,
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
