import type { ContainerChannel } from '../../containers/protocol/index.js';
import type { ModelRecord } from '../registry/index.js';
import { ConstantChannel, FailedChannel } from './constantChannel.js';
import type { ContainerStarter } from './replica.js';

/** A GPU node's pace: how much slower than simulated time the host runs it, 1 when it keeps up. */
export interface NodePace {
  readonly node: string;
  readonly dilation: number;
}

/** What runs containers in this process. */
export interface EmbeddedRuntime extends ContainerStarter {
  nodePaces(): readonly NodePace[];
  close(): Promise<void>;
}

export function embeddedRuntime(): EmbeddedRuntime {
  return {
    start: startContainer,
    nodePaces: () => [],
    close: () => Promise.resolve(),
  };
}

function startContainer(model: ModelRecord, replica: number): ContainerChannel {
  const { container } = model;
  switch (container.kind) {
    case 'constant':
      return new ConstantChannel(model, replica, container.output);
    case 'kernelModel':
      return new FailedChannel('kernel models cannot be run yet');
    case 'external':
      return new FailedChannel('an external container dials in');
  }
}
