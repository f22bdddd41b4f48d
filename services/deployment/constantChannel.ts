import {
  PROTOCOL_VERSION,
  type ContainerChannel,
  type ContainerFrame,
  type FrameSink,
  type FrontendFrame,
} from '../../containers/protocol/index.js';
import type { ModelRecord } from '../registry/index.js';

/** A container in process that answers every input with the same output. */
export class ConstantChannel implements ContainerChannel {
  private sink: FrameSink<ContainerFrame> | undefined;

  constructor(
    private readonly model: ModelRecord,
    private readonly replica: number,
    private readonly output: string,
  ) {}

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    sink.onFrame({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: this.model.name,
      version: this.model.version,
      replica: String(this.replica),
      inputType: this.model.inputType,
      maxBatchSize: 65_535,
      credits: 1,
    });
  }

  send(frame: FrontendFrame): void {
    if (frame.kind !== 'predict') return;
    const { output } = this;
    const results = frame.items.map(({ id }) => ({ id, ok: true as const, output }));
    queueMicrotask(() =>
      this.sink?.onFrame({ kind: 'result', batchId: frame.batchId, results, serviceNs: 0 }),
    );
  }

  close(): void {
    this.sink = undefined;
  }
}

/** A container that could not start: its channel says so, once opened. */
export class FailedChannel implements ContainerChannel {
  constructor(private readonly reason: string) {}

  open(sink: FrameSink<ContainerFrame>): void {
    sink.onFrame({ kind: 'down', reason: this.reason });
  }

  send(): void {}
  close(): void {}
}
