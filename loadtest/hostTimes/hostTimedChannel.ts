import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
  ResultFrame,
} from '../../containers/protocol/index.js';
import type { EventSink, VirtualClock } from '../../simulator/time/index.js';
import type { HostThread } from './hostThread.js';
import type { ResultTimes } from './resultTimes.js';

/** A line to a container whose results take the host's time beside their own, and are heard once the frontend's thread has read what came before. */
export class HostTimedChannel implements ContainerChannel, EventSink {
  private sink: FrameSink<ContainerFrame> | undefined;

  constructor(
    private readonly clock: VirtualClock,
    private readonly port: string,
    private readonly inner: ContainerChannel,
    private readonly frontend: HostThread,
    private readonly times: ResultTimes,
  ) {
    clock.attach(port, this);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    this.inner.open({ onFrame: (frame) => this.onFrame(frame) });
  }

  send(frame: FrontendFrame): void {
    if (frame.kind === 'predict') this.times.sent(frame, this.clock.nowNs());
    this.inner.send(frame);
  }

  close(reason?: string): void {
    this.clock.detach(this.port);
    this.inner.close(reason);
  }

  onEvent(kind: string, payload: unknown, nowNs: number): void {
    const frame = payload as ResultFrame;
    if (kind === 'heard') this.sink?.onFrame(frame);
    else
      this.clock.schedule(
        this.port,
        this.frontend.take(nowNs, () => 0),
        'heard',
        frame,
      );
  }

  private onFrame(frame: ContainerFrame): void {
    const times = frame.kind === 'result' ? this.times.done(frame, this.clock.nowNs()) : undefined;
    if (frame.kind !== 'result' || times === undefined) this.sink?.onFrame(frame);
    else this.clock.schedule(this.port, times.atNs, 'done', { ...frame, serviceNs: times.serviceNs });
  }
}
