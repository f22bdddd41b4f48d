import type { ViolationSink } from './violations.js';

/** One way in which clients use the server. */
export interface Lane {
  readonly name: string;
  /** Queries of one go. */
  readonly queries: number;
  /** Its share of all queries. */
  readonly share: number;
  /** Goes without an answer that it has at once, at most. */
  readonly most: number;
  /** One go: resolves when it is over, and never rejects for what is to be expected. */
  run(): Promise<void>;
}

const TICK_MS = 5;

interface Running {
  readonly lane: Lane;
  underWay: number;
  owed: number;
}

/** Runs lanes side by side: as fast as they can, or at a rate that does not wait for answers. */
export class LaneRunner {
  private readonly running: Running[];
  /** Queries that have been answered or refused. */
  done = 0;
  /** Goes that were due while the lane had as many under way as it may. */
  skipped = 0;
  private isOver = false;

  constructor(
    lanes: readonly Lane[],
    private readonly violations: ViolationSink,
  ) {
    this.running = lanes.map((lane) => ({ lane, underWay: 0, owed: 0 }));
  }

  /** Every lane keeps as many goes under way as it may. @returns queries a second. */
  async flatOut(seconds: number): Promise<number> {
    const before = this.done;
    const began = performance.now();
    const end = began + seconds * 1000;
    await Promise.all(
      this.running.flatMap((one) =>
        Array.from({ length: one.lane.most }, async () => {
          while (performance.now() < end && !this.isOver) await this.go(one);
        }),
      ),
    );
    return ((this.done - before) * 1000) / (performance.now() - began);
  }

  /** Queries of all lanes a second, divided by their shares, until the time is over and the last go as well. */
  async atRate(perSecond: number, seconds: number): Promise<void> {
    const end = performance.now() + seconds * 1000;
    let last = performance.now();
    while (performance.now() < end && !this.isOver) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      const now = performance.now();
      for (const one of this.running) {
        const { lane } = one;
        one.owed += ((now - last) / 1000) * ((perSecond * lane.share) / lane.queries);
        for (; one.owed >= 1; one.owed -= 1) {
          if (one.underWay < lane.most) void this.go(one);
          else this.skipped += 1;
        }
      }
      last = now;
    }
    while (this.running.some(({ underWay }) => underWay > 0)) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }

  /** Nothing new begins. */
  stop(): void {
    this.isOver = true;
  }

  private async go(one: Running): Promise<void> {
    one.underWay += 1;
    try {
      await one.lane.run();
    } catch (error) {
      this.violations.add('nothing answered', `${one.lane.name}: ${String(error)}`);
    } finally {
      one.underWay -= 1;
      this.done += one.lane.queries;
    }
  }
}
