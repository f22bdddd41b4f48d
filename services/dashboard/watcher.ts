import type { Writable } from 'node:stream';
import type { Recorder } from './recorder.js';

/** Frames that a watcher may miss in a row; a client that takes nothing for so long is cut. */
export const MOST_MISSED = 40;

/**
 * One client of the feed. It gets the newest frame or, while it has not taken what it was sent, none: a slow one
 * sees fewer frames, and the server never holds more than one of them for it. Of what is recorded it gets what it lacks: all
 * of it first, then point by point, and all of it again when it missed one.
 */
export class Watcher {
  private ready = true;
  private missed = 0;
  /** The last one that it was sent. */
  private point: number | undefined;

  /** @param onGone called once, when the client has left or was cut. */
  constructor(
    private readonly out: Writable,
    onGone: () => void,
  ) {
    out.on('drain', () => {
      this.ready = true;
      this.missed = 0;
    });
    out.on('close', onGone);
    // A client that resets its connection is one that leaves.
    out.on('error', () => undefined);
  }

  send(recorder: Pick<Recorder, 'latest' | 'since'>, event: string): void {
    if (this.ready) {
      this.ready = this.out.write(recorder.since(this.point) + event);
      this.point = recorder.latest;
      return;
    }
    this.missed += 1;
    if (this.missed >= MOST_MISSED) this.out.destroy();
  }

  end(): void {
    this.out.end();
    // One that reads nothing would hold the end up.
    if (!this.ready) this.out.destroy();
  }
}
