import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
  PrintedFrame,
} from '../../containers/protocol/index.js';

/** What becomes of a channel. */
export interface ChannelWatcher {
  onUp(): void;
  /** The replica is lost, or whoever uses the channel closed it. Called once at most. */
  onDown(reason: string): void;
  /** The model has printed something. */
  onPrinted(frame: PrintedFrame): void;
}

/** A channel that tells a watcher when its replica comes and goes; frames pass through unchanged, but for what is printed. */
export class WatchedChannel implements ContainerChannel {
  /** Something that it was asked. */
  hasAnswered = false;
  private isDown = false;

  constructor(
    private readonly inner: ContainerChannel,
    private readonly watcher: ChannelWatcher,
  ) {}

  send(frame: FrontendFrame): void {
    this.inner.send(frame);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.inner.open({
      onFrame: (frame) => {
        if (frame.kind === 'printed') {
          this.watcher.onPrinted(frame);
          return;
        }
        if (frame.kind === 'result') this.hasAnswered ||= frame.results.some(({ ok }) => ok);
        // The watcher first: a sink that closes the channel on what it hears must not hide the reason.
        if (frame.kind === 'down') this.goDown(frame.reason);
        sink.onFrame(frame);
        // It takes batches now that the sink knows it, unless the sink refused it and closed the channel.
        if (frame.kind === 'hello' && !this.isDown) this.watcher.onUp();
      },
    });
  }

  isUnheard(): boolean {
    return this.inner.isUnheard?.() === true;
  }

  close(reason = 'the frontend closed the channel'): void {
    this.inner.close();
    this.goDown(reason);
  }

  private goDown(reason: string): void {
    if (this.isDown) return;
    this.isDown = true;
    this.watcher.onDown(reason);
  }
}
