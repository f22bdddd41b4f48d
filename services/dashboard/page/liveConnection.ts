import type { FeedFrame } from '../feedFrame.js';

export type ConnectionState = 'connecting' | 'live' | 'paused';

/** A feed that was refused, and not just cut, is asked for again after so long. */
const RETRY_MS = 5000;

/** The feed, kept up: it comes back by itself when the server does, and rests while it is paused. */
export class LiveConnection {
  private source: EventSource | undefined;
  private retry: number | undefined;

  constructor(
    private readonly onFrame: (frame: FeedFrame) => void,
    private readonly onState: (state: ConnectionState) => void,
  ) {}

  open(): void {
    this.end();
    this.onState('connecting');
    const source = new EventSource('/dashboard/feed');
    this.source = source;
    source.onopen = () => this.onState('live');
    source.onmessage = (event: MessageEvent<string>) => this.onFrame(JSON.parse(event.data) as FeedFrame);
    source.onerror = () => {
      this.onState('connecting');
      if (source.readyState !== EventSource.CLOSED) return;
      this.retry = setTimeout(() => this.open(), RETRY_MS);
    };
  }

  pause(): void {
    this.end();
    this.onState('paused');
  }

  private end(): void {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = undefined;
  }
}
