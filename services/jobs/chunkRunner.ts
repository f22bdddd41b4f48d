import type { LaunchClass } from '../../containers/protocol/index.js';
import type { LineOutcome } from '../frontend/index.js';
import type { ChunkResults, JobChunk, JobDescription } from './job.js';
import type { SpareRoom } from './spareRoom.js';

/** Asks for a prediction of a line: `LineQueries.ask`. */
export type AskLine = (
  application: string,
  line: string,
  launchClass: LaunchClass,
  done: (outcome: LineOutcome) => void,
) => () => void;

/** Tries of a line that models had no time for. What waits for room, or for somebody to answer it, does so for as long as it takes. */
const MOST_TRIES = 9;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;

/** Answers the lines of chunks, each when there is room for it. */
export class ChunkRunner {
  private readonly waits = new Map<NodeJS.Timeout, () => void>();
  private readonly underWay = new Set<() => void>();
  private isStopped = false;

  constructor(
    private readonly ask: AskLine,
    private readonly room: SpareRoom,
  ) {}

  /** @returns undefined when it was stopped before all lines had their answers */
  async run(
    job: JobDescription,
    chunk: JobChunk,
    isWanted: () => boolean,
  ): Promise<ChunkResults | undefined> {
    const asking = chunk.lines.flatMap((line, at) =>
      line === '' ? [] : [{ line, number: chunk.firstLine + at }],
    );
    const outcomes = await Promise.all(asking.map(({ line }) => this.line(job, line, isWanted)));
    const results: string[] = [];
    let failed = 0;
    for (const [at, outcome] of outcomes.entries()) {
      if (outcome === undefined) return undefined;
      if (outcome.error !== undefined) failed += 1;
      // The outcome is an object of JSON: the line's number is its first member.
      results.push(`{"line":${asking[at].number},${outcome.json.slice(1)}\n`);
    }
    return { text: results.join(''), answered: results.length, failed };
  }

  /** Nothing is asked any more. */
  stop(): void {
    this.isStopped = true;
    for (const [timer, wake] of this.waits) {
      clearTimeout(timer);
      wake();
    }
    this.waits.clear();
    for (const cancel of this.underWay) cancel();
    this.underWay.clear();
    this.room.stop();
  }

  private async line(
    job: JobDescription,
    line: string,
    isWanted: () => boolean,
  ): Promise<LineOutcome | undefined> {
    let late = 0;
    for (let tries = 1; ; tries++) {
      const outcome = await this.once(job, line, isWanted);
      if (outcome === undefined || outcome.passes === false) return outcome;
      if (outcome.passes === 'timely') late += 1;
      if (late === MOST_TRIES) return outcome;
      await this.wait(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries));
    }
  }

  private once(
    { application, launchClass }: JobDescription,
    line: string,
    isWanted: () => boolean,
  ): Promise<LineOutcome | undefined> {
    return new Promise((resolve) => {
      if (this.isStopped) {
        resolve(undefined);
        return;
      }
      this.room.ask(application, () => {
        if (this.isStopped || !isWanted()) {
          this.room.done(application);
          resolve(undefined);
          return;
        }
        let isOver = false;
        const end = (outcome: LineOutcome | undefined): void => {
          if (isOver) return;
          isOver = true;
          this.underWay.delete(abandon);
          this.room.done(application);
          resolve(outcome);
        };
        let cancel = (): void => undefined;
        const abandon = (): void => {
          cancel();
          end(undefined);
        };
        this.underWay.add(abandon);
        cancel = this.ask(application, line, launchClass, end);
      });
    });
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waits.delete(timer);
        resolve();
      }, ms);
      this.waits.set(timer, resolve);
    });
  }
}
