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
 * computes it would be done and the frontend's has read what came before. Answers are the model's own.
 */
export class HostTimedChannel implements ContainerChannel, EventSink {
  private sink: FrameSink<ContainerFrame> | undefined;
  /** By batch: when the thread begins it, and is done. */
  private readonly batches = new Map<number, { readonly fromNs: number; readonly doneNs: number }>();

  /** @param timeNs of a batch of so many items, after so long a pause of the thread */
  constructor(
    private readonly clock: VirtualClock,
    private readonly port: string,
    private readonly inner: ContainerChannel,
    private readonly thread: HostThread,
    private readonly frontend: HostThread,
    private readonly timeNs: (batchId: number, items: number, pauseNs: number) => number,
  ) {
    clock.attach(port, this);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    this.inner.open({ onFrame: (frame) => this.onFrame(frame) });
  }

  send(frame: FrontendFrame): void {
    if (frame.kind === 'predict') {
      const { batchId, items } = frame;
      let forNs = 0;
      const doneNs = this.thread.take(this.clock.nowNs(), (pauseNs) => {
        forNs = this.timeNs(batchId, items.length, pauseNs);
        return forNs;
      });
      this.batches.set(batchId, { fromNs: doneNs - forNs, doneNs });
    }
    this.inner.send(frame);
  }

  close(reason?: string): void {
    this.clock.detach(this.port);
    this.inner.close(reason);
  }

  onEvent(kind: string, payload: unknown, nowNs: number): void {
    if (kind === 'done')
      this.clock.schedule(
        this.port,
        this.frontend.take(nowNs, () => 0),
        'result',
        payload as ResultFrame,
      );
    else this.sink?.onFrame(payload as ResultFrame);
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
    this.clock.schedule(this.port, atNs, 'done', { ...frame, serviceNs });
  }
}
