import type { ContainerChannel } from '../../containers/protocol/index.js';
import { ContainerRuntime, type NodeReport } from '../../containers/runtime/index.js';
import { InProcessChannel, SyntheticContainer, VirtualNode } from '../../containers/runtime/testing/index.js';
import type { VirtualClock } from '../../simulator/time/index.js';
import {
  ComputedResults,
  HostThread,
  HostTimedChannel,
  SentResults,
  type HostFrontend,
} from '../hostTimes/index.js';
import { LoadError } from '../trace/index.js';
import type { ReplayedModel } from './replaySettings.js';

/** Batches that a synthetic container takes at once are as large as the controller likes. */
const SYNTHETIC_BATCH = 65_535;

/** Starts a replay's containers on its clock: kernel models on its nodes, the others beside them. */
export class ReplayContainers {
  private readonly runtime: ContainerRuntime;
  /** Computes every kernel model's batches, one after the other. */
  private readonly nodeThread = new HostThread();

  /**
   * @param host whose times are charged; absent: those of the cards alone
   * @throws LoadError when there is no such GPU.
   */
  constructor(
    private readonly clock: VirtualClock,
    models: readonly ReplayedModel[],
    gpus: readonly string[],
    nodes: number,
    private readonly seed: number,
    private readonly host?: HostFrontend<{ readonly bytes: number }>,
  ) {
    const needsNode = models.some(
      ({ record, synthetic }) => synthetic === undefined && record.container.kind === 'kernelModel',
    );
    this.runtime = new ContainerRuntime({ clock, nodes: needsNode ? nodesOf(clock, gpus, nodes) : [] });
  }

  start({ record, synthetic }: ReplayedModel, replica: number): ContainerChannel {
    const { name: model, version, inputType, inputLength, container } = record;
    const identity = { model, version, replica: String(replica) };
    if (synthetic === undefined) {
      if (container.kind === 'external') {
        throw new LoadError(
          `models '${model}'`,
          `nothing here runs a container '${container.containerName}'`,
        );
      }
      const channel = this.runtime.start({
        ...identity,
        inputType,
        ...(inputLength === undefined ? {} : { inputLength }),
        container,
      });
      return container.kind === 'kernelModel' ? this.hostTimed(model, replica, channel) : channel;
    }
    const port = `synthetic/${model}/${version}/${replica}`;
    const channel = new InProcessChannel(this.clock, `${port}/channel`);
    const service = {
      fixedNs: synthetic.fixedMs * 1e6,
      itemNs: synthetic.itemMs * 1e6,
      jitter: { share: synthetic.jitter, seed: this.seed + replica },
      output: synthetic.output,
      inputType,
      maxBatchSize: SYNTHETIC_BATCH,
    };
    channel.connect(new SyntheticContainer(this.clock, port, identity, service, channel));
    const { host } = this;
    if (host === undefined) return channel;
    const times = new SentResults((batchId, pauseNs) => host.draws.processNs(`${port}/${batchId}`, pauseNs));
    return new HostTimedChannel(this.clock, `${port}/way`, channel, host.thread, times);
  }

  /** @throws LoadError when it was not measured what the model takes */
  private hostTimed(model: string, replica: number, channel: ContainerChannel): ContainerChannel {
    const { host } = this;
    if (host === undefined) return channel;
    if (!host.draws.models.includes(model)) {
      throw new LoadError(
        '--host-times',
        `it has no times of the model '${model}', only of ${host.draws.models.join(', ')}: measure them anew`,
      );
    }
    const port = `host/${model}/${replica}`;
    const times = new ComputedResults(this.nodeThread, (batchId, items, pauseNs) =>
      host.draws.batchNs(model, `${port}/${batchId}`, items, pauseNs),
    );
    return new HostTimedChannel(this.clock, port, channel, host.thread, times);
  }

  reports(): readonly NodeReport[] {
    return this.runtime.reports();
  }

  close(): void {
    this.runtime.close(() => undefined);
  }
}

function nodesOf(clock: VirtualClock, gpus: readonly string[], nodes: number): VirtualNode[] {
  try {
    return Array.from({ length: nodes }, (_, at) => new VirtualNode({ clock, gpus, name: `node${at}` }));
  } catch (cause) {
    throw new LoadError('gpus', (cause as Error).message, { cause });
  }
}
