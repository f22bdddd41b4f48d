import type { Writable } from 'node:stream';
import { FrameSource, type DashboardSources } from './frameSource.js';
import { eventOf, Recorder } from './recorder.js';
import { Watcher } from './watcher.js';

const EVERY_MS = 500;

/** Each costs a connection and a copy of every frame. */
export const MOST_WATCHERS = 128;

/**
 * The live feed: one frame every half second, put together and written as text once, whoever many watch, and the points of
 * the last ten minutes. While nobody watches there are no frames, and points are recorded all the same.
 */
export class LiveFeed {
  private readonly watchers = new Set<Watcher>();
  private readonly recorder: Recorder;
  private source: FrameSource | undefined;
  private timer: NodeJS.Timeout | undefined;
  private latest = '';
  private closed = false;

  constructor(private readonly sources: DashboardSources) {
    this.recorder = new Recorder(sources);
  }

  get size(): number {
    return this.watchers.size;
  }

  /** Whether another watcher is taken. */
  get open(): boolean {
    return !this.closed && this.watchers.size < MOST_WATCHERS;
  }

  /** Sends server-sent events to `out` until it closes; the last ten minutes and the newest frame at once. */
  add(out: Writable): void {
    const watcher = new Watcher(out, () => this.remove(watcher));
    this.watchers.add(watcher);
    if (this.source === undefined) {
      this.source = new FrameSource(this.sources);
      this.latest = eventOf('message', this.source.frame());
      this.timer = setInterval(() => this.tick(), EVERY_MS);
    }
    watcher.send(this.recorder, this.latest);
  }

  /** Ends every watcher's stream, and takes no other. */
  close(): void {
    this.closed = true;
    for (const watcher of this.watchers) watcher.end();
    this.watchers.clear();
    this.rest();
    this.recorder.close();
  }

  private tick(): void {
    if (this.source === undefined) return;
    this.latest = eventOf('message', this.source.frame());
    for (const watcher of this.watchers) watcher.send(this.recorder, this.latest);
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
