import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
  ResultFrame,
} from '../../containers/protocol/index.js';
import type { EventSink, VirtualClock } from '../../simulator/time/index.js';
import type { HostThread } from './hostThread.js';

/**
 * A line to a kernel model whose batches take the host's time: what a card would answer in microseconds comes when the thread that
 * computes it would be done. Answers are the model's own.
 */
export class HostTimedChannel implements ContainerChannel, EventSink {
  private sink: FrameSink<ContainerFrame> | undefined;
  /** By batch: when the thread begins it, and is done. */
  private readonly batches = new Map<number, { readonly fromNs: number; readonly doneNs: number }>();

  /** @param timeNs of a batch of so many items */
  constructor(
    private readonly clock: VirtualClock,
    private readonly port: string,
    private readonly inner: ContainerChannel,
    private readonly thread: HostThread,
    private readonly timeNs: (items: number) => number,
  ) {
    clock.attach(port, this);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    this.inner.open({ onFrame: (frame) => this.onFrame(frame) });
  }

  send(frame: FrontendFrame): void {
    if (frame.kind === 'predict') {
      const forNs = this.timeNs(frame.items.length);
      const doneNs = this.thread.take(this.clock.nowNs(), forNs);
      this.batches.set(frame.batchId, { fromNs: doneNs - forNs, doneNs });
    }
    this.inner.send(frame);
  }

  close(reason?: string): void {
    this.clock.detach(this.port);
    this.inner.close(reason);
  }

  onEvent(_kind: string, payload: unknown): void {
    this.sink?.onFrame(payload as ResultFrame);
  }

  private onFrame(frame: ContainerFrame): void {
    const batch = frame.kind === 'result' ? this.batches.get(frame.batchId) : undefined;
    if (frame.kind !== 'result' || batch === undefined) {
      this.sink?.onFrame(frame);
      return;
    }
    this.batches.delete(frame.batchId);
    const atNs = Math.max(this.clock.nowNs(), batch.doneNs);
    const serviceNs = Math.max(frame.serviceNs, atNs - batch.fromNs);
    this.clock.schedule(this.port, atNs, 'result', { ...frame, serviceNs });
  }
}
