import type { Writable } from 'node:stream';
import { FrameSource, type DashboardSources } from './frameSource.js';
import { Watcher } from './watcher.js';

const EVERY_MS = 500;

/** Each costs a connection and a copy of every frame. */
export const MOST_WATCHERS = 64;

/**
 * The live feed: one frame every half second, put together and written as text once, whoever many watch. While nobody
 * does there is no timer, and nothing is counted.
 */
export class LiveFeed {
  private readonly watchers = new Set<Watcher>();
  private source: FrameSource | undefined;
  private timer: NodeJS.Timeout | undefined;
  private latest = '';
  private closed = false;

  constructor(private readonly sources: DashboardSources) {}

  get size(): number {
    return this.watchers.size;
  }

  /** Whether another watcher is taken. */
  get open(): boolean {
    return !this.closed && this.watchers.size < MOST_WATCHERS;
  }

  /** Sends server-sent events to `out` until it closes; the newest frame at once. */
  add(out: Writable): void {
    const watcher = new Watcher(out, () => this.remove(watcher));
    this.watchers.add(watcher);
    if (this.source === undefined) {
      this.source = new FrameSource(this.sources);
      this.latest = eventOf(this.source);
      this.timer = setInterval(() => this.tick(), EVERY_MS);
    }
    watcher.send(this.latest);
  }

  /** Ends every watcher's stream, and takes no other. */
  close(): void {
    this.closed = true;
    for (const watcher of this.watchers) watcher.end();
    this.watchers.clear();
    this.rest();
  }

  private tick(): void {
    if (this.source === undefined) return;
    this.latest = eventOf(this.source);
    for (const watcher of this.watchers) watcher.send(this.latest);
  }

  private remove(watcher: Watcher): void {
    this.watchers.delete(watcher);
    if (this.watchers.size === 0) this.rest();
  }

  private rest(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.source?.close();
    this.source = undefined;
    this.latest = '';
  }
}

/** JSON has no line ends outside its strings and escapes those within: one `data` line holds it. */
function eventOf(source: FrameSource): string {
  return `data: ${JSON.stringify(source.frame())}\n\n`;
}
