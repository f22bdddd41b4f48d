import type { ContainerChannel } from '../../containers/protocol/index.js';
import { ContainerRuntime, type NodeReport } from '../../containers/runtime/index.js';
import { InProcessChannel, SyntheticContainer, VirtualNode } from '../../containers/runtime/testing/index.js';
import type { VirtualClock } from '../../simulator/time/index.js';
import { LoadError } from '../trace/index.js';
import type { ReplayedModel } from './replaySettings.js';

/** Batches that a synthetic container takes at once are as large as the controller likes. */
const SYNTHETIC_BATCH = 65_535;

/** Starts a replay's containers on its clock: kernel models on its nodes, the others beside them. */
export class ReplayContainers {
  private readonly runtime: ContainerRuntime;

  /** @throws LoadError when there is no such GPU. */
  constructor(
    private readonly clock: VirtualClock,
    models: readonly ReplayedModel[],
    gpus: readonly string[],
    nodes: number,
    private readonly seed: number,
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
      return this.runtime.start({
        ...identity,
        inputType,
        ...(inputLength === undefined ? {} : { inputLength }),
        container,
      });
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
    return channel;
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
