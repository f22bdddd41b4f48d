import {
  InProcessChannel,
  SyntheticContainer,
  type SyntheticService,
} from '../../../containers/runtime/testing/index.js';
import type { ContainerChannel } from '../../../containers/protocol/index.js';
import type { EventSink, VirtualClock } from '../../../simulator/time/index.js';
import type { ModelRecord } from '../../registry/index.js';
import type { ContainerStarter } from '../index.js';

/** Starts containers whose times are known, in virtual time, and which take a while to say hello. */
export class SyntheticStarter implements ContainerStarter, EventSink {
  private started = 0;
  private readonly starting = new Map<string, () => void>();

  /** @param lives gets what becomes of replicas, in order: `start 3`, `close 3`. */
  constructor(
    private readonly clock: VirtualClock,
    private readonly serviceOf: (model: ModelRecord) => SyntheticService,
    private readonly startNs = 0,
    private readonly lives: string[] = [],
  ) {
    clock.attach('starter', this);
  }

  start(model: ModelRecord, number: number): ContainerChannel {
    const { clock, lives } = this;
    const port = `container${this.started++}`;
    const replica = String(number);
    lives.push(`start ${replica}`);
    const channel = new InProcessChannel(clock, `${port}/channel`);
    let container: SyntheticContainer | undefined;
    channel.connect({
      batchesInFlight: 0,
      onFrame: (frame) => container?.onFrame(frame),
      close: () => {
        lives.push(`close ${replica}`);
        this.starting.delete(port);
        container?.close();
      },
    });
    this.starting.set(port, () => {
      const identity = { model: model.name, version: model.version, replica };
      container = new SyntheticContainer(clock, port, identity, this.serviceOf(model), channel);
    });
    clock.schedule('starter', clock.nowNs() + this.startNs, 'started', port);
    return channel;
  }

  onEvent(_kind: string, payload: unknown): void {
    const port = payload as string;
    this.starting.get(port)?.();
    this.starting.delete(port);
  }
}
