import {
  PROTOCOL_VERSION,
  type ContainerChannel,
  type ContainerFrame,
  type FrameSink,
  type FrontendFrame,
  type HelloFrame,
  type ItemResult,
  type PredictFrame,
} from '../../../containers/protocol/index.js';
import type { ModelRecord } from '../../registry/index.js';

/** A container whose other end is the test. */
export class FakeContainer implements ContainerChannel {
  closed = false;
  readonly asked: PredictFrame[] = [];
  private sink: FrameSink<ContainerFrame> | undefined;

  constructor(
    readonly model: ModelRecord,
    private readonly replica = 0,
  ) {}

  send(frame: FrontendFrame): void {
    if (frame.kind === 'predict') this.asked.push(frame);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
  }

  close(): void {
    this.closed = true;
  }

  hello(more: Partial<HelloFrame> = {}): void {
    const { name, version, inputType } = this.model;
    this.emit({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: name,
      version,
      replica: String(this.replica),
      inputType,
      maxBatchSize: 1,
      credits: 1,
      ...more,
    });
  }

  down(reason: string): void {
    this.emit({ kind: 'down', reason });
  }

  /** Answers the batch that came last. */
  answer(result: (id: number) => ItemResult): void {
    const { batchId, items } = this.asked[this.asked.length - 1];
    this.emit({ kind: 'result', batchId, results: items.map(({ id }) => result(id)), serviceNs: 1 });
  }

  emit(frame: ContainerFrame): void {
    if (!this.closed) this.sink?.onFrame(frame);
  }
}
