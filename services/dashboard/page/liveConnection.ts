import type { FeedFrame, HistoryEvent, PointEvent } from '../feedFrame.js';

export type ConnectionState = 'connecting' | 'live' | 'paused';

/** A feed that was refused, and not just cut, is asked for again after so long. */
const RETRY_MS = 5000;

/** What comes by the feed. */
export interface FeedListener {
  onHistory(history: HistoryEvent): void;
  onPoint(point: PointEvent): void;
  onFrame(frame: FeedFrame): void;
  onState(state: ConnectionState): void;
}

/** The feed, kept up: it comes back by itself when the server does, and rests while it is paused or nobody sees the page. */
export class LiveConnection {
  private source: EventSource | undefined;
  private retry: number | undefined;
  private isPaused = false;

  constructor(private readonly listener: FeedListener) {
    document.addEventListener('visibilitychange', () => this.update());
    this.update();
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
    this.update();
  }

  /** A page that nobody sees costs nothing: what it missed is sent when it is seen again. */
  private update(): void {
    this.end();
    if (this.isPaused) this.listener.onState('paused');
    else if (document.hidden) this.listener.onState('connecting');
    else this.open();
  }

  private open(): void {
    const { listener } = this;
    listener.onState('connecting');
    const source = new EventSource('/dashboard/feed');
    this.source = source;
    const on = (event: string, take: (data: unknown) => void): void =>
      source.addEventListener(event, ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
    on('history', (data) => listener.onHistory(data as HistoryEvent));
    on('point', (data) => listener.onPoint(data as PointEvent));
    on('message', (data) => listener.onFrame(data as FeedFrame));
    source.onopen = () => listener.onState('live');
    source.onerror = () => {
      listener.onState('connecting');
      if (source.readyState !== EventSource.CLOSED) return;
      this.end();
      this.retry = setTimeout(() => this.update(), RETRY_MS);
    };
  }

  private end(): void {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = undefined;
  }
}
