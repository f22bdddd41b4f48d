import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
  ResultFrame,
} from '../../containers/protocol/index.js';
import type { EventSink, VirtualClock } from '../../simulator/time/index.js';
import type { HostThread } from './hostThread.js';

/** A line to a process beside the frontend: results come later by what the way takes, in the order in which they were made, once the frontend has read what came before. */
export class ProcessTimedChannel implements ContainerChannel, EventSink {
  private sink: FrameSink<ContainerFrame> | undefined;
  private lastNs = -Infinity;

  /** @param wayNs of a batch's way there and back, after so long a pause */
  constructor(
    private readonly clock: VirtualClock,
    private readonly port: string,
    private readonly inner: ContainerChannel,
    private readonly frontend: HostThread,
    private readonly wayNs: (batchId: number, pauseNs: number) => number,
  ) {
    clock.attach(port, this);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    this.inner.open({ onFrame: (frame) => this.onFrame(frame) });
  }

  send(frame: FrontendFrame): void {
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
    if (frame.kind !== 'result') {
      this.sink?.onFrame(frame);
      return;
    }
    const nowNs = this.clock.nowNs();
    const pauseNs = Math.max(0, nowNs - frame.serviceNs - this.lastNs);
    this.lastNs = Math.max(this.lastNs, nowNs + this.wayNs(frame.batchId, pauseNs));
    this.clock.schedule(this.port, this.lastNs, 'done', { ...frame });
  }
}
