import type { LaunchClass } from '../../containers/protocol/index.js';
import type { LineOutcome } from '../frontend/index.js';
import type { ChunkResults, JobChunk, JobDescription } from './job.js';
import { Pauses } from './pauses.js';
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

/** A chunk of which nothing is answered and nothing is under way for so long is for others, or for later. */
const GIVEN_BACK_MS = 3000;

/** One chunk on its way. */
interface Run {
  readonly job: JobDescription;
  readonly isWanted: () => boolean;
  answered: number;
  underWay: number;
  isGivenBack: boolean;
  /** Of lines that wait for room. */
  readonly withdrawals: Set<() => void>;
}

/** Answers the lines of chunks, each when there is room for it. */
export class ChunkRunner {
  private readonly waits = new Pauses();
  private readonly underWay = new Set<() => void>();
  private isStopped = false;

  constructor(
    private readonly ask: AskLine,
    private readonly room: SpareRoom,
  ) {}

  /** @returns undefined when it was stopped, or given back, before all lines had their answers */
  async run(
    job: JobDescription,
    chunk: JobChunk,
    isWanted: () => boolean,
  ): Promise<ChunkResults | undefined> {
    const asking = chunk.lines.flatMap((line, at) =>
      line === '' ? [] : [{ line, number: chunk.firstLine + at }],
    );
    const run: Run = {
      job,
      isWanted,
      answered: 0,
      underWay: 0,
      isGivenBack: false,
      withdrawals: new Set(),
    };
    const givenBack = this.givenBack(run);
    try {
      const outcomes = await Promise.race([
        Promise.all(asking.map(({ line }) => this.line(run, line))),
        givenBack.promise,
      ]);
      return outcomes && resultsOf(asking, outcomes);
    } finally {
      clearInterval(givenBack.timer);
    }
  }

  /** Nothing is asked any more. */
  stop(): void {
    this.isStopped = true;
    this.waits.stop();
    for (const cancel of this.underWay) cancel();
    this.underWay.clear();
    this.room.stop();
  }

  private givenBack(run: Run): { readonly promise: Promise<undefined>; readonly timer: NodeJS.Timeout } {
    let give: (nothing: undefined) => void = () => undefined;
    const promise = new Promise<undefined>((resolve) => (give = resolve));
    const timer = setInterval(() => {
      if (run.answered > 0 || run.underWay > 0) return;
      run.isGivenBack = true;
      for (const withdraw of run.withdrawals) withdraw();
      give(undefined);
    }, GIVEN_BACK_MS);
    return { promise, timer };
  }

  private async line(run: Run, line: string): Promise<LineOutcome | undefined> {
    let late = 0;
    for (let tries = 1; ; tries++) {
      if (run.isGivenBack) return undefined;
      const outcome = await this.once(run, line);
      if (outcome?.passes === 'timely') late += 1;
      if (outcome === undefined || outcome.passes === false || late === MOST_TRIES) {
        run.answered += 1;
        return outcome;
      }
      await this.waits.wait(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries));
    }
  }

  private once(run: Run, line: string): Promise<LineOutcome | undefined> {
    const { application, launchClass } = run.job;
    return new Promise((resolve) => {
      if (this.isStopped) {
        resolve(undefined);
        return;
      }
      let withdraw = (): void => undefined;
      const withdrawn = (): void => {
        withdraw();
        resolve(undefined);
      };
      run.withdrawals.add(withdrawn);
      withdraw = this.room.ask(application, () => {
        run.withdrawals.delete(withdrawn);
        if (this.isStopped || !run.isWanted()) {
          this.room.done(application);
          resolve(undefined);
          return;
        }
        let isOver = false;
        const end = (outcome: LineOutcome | undefined): void => {
          if (isOver) return;
          isOver = true;
          run.underWay -= 1;
          this.underWay.delete(abandon);
          this.room.done(application);
          resolve(outcome);
        };
        let cancel = (): void => undefined;
        const abandon = (): void => {
          cancel();
          end(undefined);
        };
        run.underWay += 1;
        this.underWay.add(abandon);
        cancel = this.ask(application, line, launchClass, end);
      });
    });
  }
}

/** @returns undefined where a line has no outcome */
function resultsOf(
  asking: readonly { readonly number: number }[],
  outcomes: readonly (LineOutcome | undefined)[],
): ChunkResults | undefined {
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
