import type { JobsView } from './feedFrame.js';

/** Frames come more often: jobs may be in Redis, and there may be many. */
const EVERY_MS = 2000;
/** Looking takes no more than this part of the time, however many there are. */
const MOST_SHARE = 0.05;

/** The jobs as they were last seen. */
export class JobsWatch {
  view: JobsView | undefined;
  private nextMs = -Infinity;
  private isAsking = false;

  /** @param nowMs of a clock that is never set */
  constructor(
    private readonly ask: () => Promise<JobsView | undefined>,
    private readonly nowMs = (): number => performance.now(),
  ) {}

  /** Asks when it is time to; what was there last stays while it cannot be known. */
  look(): void {
    const begunMs = this.nowMs();
    if (this.isAsking || begunMs < this.nextMs) return;
    this.isAsking = true;
    this.ask()
      .then((view) => (this.view = view))
      .catch(() => undefined)
      .finally(() => {
        this.isAsking = false;
        const endedMs = this.nowMs();
        this.nextMs = Math.max(begunMs + EVERY_MS, endedMs + (endedMs - begunMs) / MOST_SHARE);
      });
  }
}
