import type { JobsView } from './feedFrame.js';

/** Frames come more often: jobs may be in Redis, and there may be many. */
const EVERY_MS = 2000;

/** The jobs as they were last seen. */
export class JobsWatch {
  view: JobsView | undefined;
  private askedMs = -Infinity;
  private isAsking = false;

  constructor(private readonly ask: () => Promise<JobsView | undefined>) {}

  /** Asks when it is time to; what was there last stays while it cannot be known. */
  look(nowMs: number): void {
    if (this.isAsking || Math.abs(nowMs - this.askedMs) < EVERY_MS) return;
    this.isAsking = true;
    this.askedMs = nowMs;
    this.ask()
      .then((view) => (this.view = view))
      .catch(() => undefined)
      .finally(() => (this.isAsking = false));
  }
}
