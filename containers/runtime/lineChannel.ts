import type { ContainerChannel, ContainerFrame, FrameSink, FrontendFrame } from '../protocol/index.js';

/** Where a channel's frames and its end go. */
export interface LineHub {
  send(line: number, frame: FrontendFrame): void;
  stop(line: number): void;
  /** As `ContainerChannel` has it. */
  isUnheard?(): boolean;
}

/** The frontend's end of one line of many that share a port or a connection. Frames arrive in messages of their own, never inside `send`. */
export class LineChannel implements ContainerChannel {
  private early: ContainerFrame[] = [];
  private sink: FrameSink<ContainerFrame> | undefined;
  private isOver = false;

  constructor(
    private readonly line: number,
    private readonly hub: LineHub,
  ) {}

  /** From the other side. */
  deliver(frame: ContainerFrame): void {
    if (this.isOver) return;
    if (this.sink === undefined) {
      this.early.push(frame);
      return;
    }
    this.isOver = frame.kind === 'down';
    this.sink.onFrame(frame);
  }

  send(frame: FrontendFrame): void {
    if (!this.isOver) this.hub.send(this.line, frame);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    if (this.sink !== undefined) throw new Error(`channel ${this.line} is open already`);
    this.sink = sink;
    const early = this.early;
    this.early = [];
    // What came before the channel was opened arrives right after, and not inside this call.
    queueMicrotask(() => {
      for (const frame of early) this.deliver(frame);
    });
  }

  isUnheard(): boolean {
    return this.hub.isUnheard?.() === true;
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.hub.stop(this.line);
  }
}
