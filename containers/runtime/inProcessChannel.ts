import type { ContainerChannel, ContainerFrame, FrameSink, FrontendFrame } from '../protocol/index.js';
import type { Clock, EventSink } from '../../simulator/time/index.js';
import type { ContainerOutlet, ModelContainer } from './modelContainer.js';

/**
 * Both ends of a line inside one thread. The frontend's frames reach the container in the call; the container's frames
 * reach the frontend in an event of their own at the same instant, in order, so that no answer ever arrives inside
 * `send` or `open`.
 */
export class InProcessChannel implements ContainerChannel, ContainerOutlet, EventSink {
  private readonly pending: ContainerFrame[] = [];
  private sink: FrameSink<ContainerFrame> | undefined;
  private container: ModelContainer | undefined;
  private flushScheduled = false;
  /** `down` was queued: nothing more goes either way. */
  private isDown = false;
  private isClosed = false;

  /** @param port the channel's name on the clock, unique while it is open. */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
  ) {
    clock.attach(port, this);
  }

  /** The container at the other end; it may have answered before it is known here. */
  connect(container: ModelContainer): void {
    this.container = container;
    if (this.isClosed) container.close();
  }

  /** From the container. */
  onFrame(frame: ContainerFrame): void {
    if (this.isClosed || this.isDown) return;
    this.isDown = frame.kind === 'down';
    this.pending.push(frame);
    this.flush();
  }

  send(frame: FrontendFrame): void {
    if (!this.isClosed && !this.isDown) this.container?.onFrame(frame);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    if (this.sink !== undefined) throw new Error(`channel '${this.port}' is open already`);
    this.sink = sink;
    if (!this.isClosed) this.flush();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.clock.detach(this.port);
    this.container?.close();
  }

  onEvent(): void {
    this.flushScheduled = false;
    // What the sink makes the container answer meanwhile waits for the next event.
    const frames = this.pending.splice(0);
    for (const frame of frames) {
      if (this.isClosed) return;
      this.sink?.onFrame(frame);
    }
    if (this.isDown && this.pending.length === 0) this.close();
  }

  private flush(): void {
    if (this.sink === undefined || this.flushScheduled || this.pending.length === 0) return;
    this.flushScheduled = true;
    this.clock.schedule(this.port, this.clock.nowNs(), 'deliver');
  }
}
