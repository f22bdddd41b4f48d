import { reasonOf } from '../../simulator/text/index.js';
import type { Complaint } from '../errors/index.js';
import { ChunkRunner, type AskLine } from './chunkRunner.js';
import type { ChunkResults, JobCounts, JobLedger } from './job.js';
import { Pauses } from './pauses.js';
import { SpareRoom, type SpareRoomOptions } from './spareRoom.js';

export interface JobsOptions extends SpareRoomOptions {
  readonly ledger: JobLedger;
  readonly ask: AskLine;
  readonly complain: Complaint;
}

/** What there is, and what this process has done of it. */
export interface JobsState extends JobCounts {
  /** Lines whose prediction, or whose error, this process has brought. */
  readonly lines: { readonly answered: number; readonly failed: number };
}

/** After a ledger that failed, it is asked again. */
const PAUSE_MS = 1000;

/** Works on the jobs of a ledger until it is stopped. */
export class Jobs {
  readonly ledger: JobLedger;
  private readonly room: SpareRoom;
  private readonly runner: ChunkRunner;
  private readonly pauses = new Pauses();
  private readonly lines = { answered: 0, failed: 0 };
  private isStopped = false;
  /** It is said once that the ledger fails, and once that it does no longer. */
  private isFailing = false;

  constructor(private readonly options: JobsOptions) {
    this.ledger = options.ledger;
    for (const { id, reason } of this.ledger.unreadable())
      options.complain('a batch job cannot be read: it is left as it is, and not worked on', {
        job: id,
        reason,
      });
    this.room = new SpareRoom(options);
    this.runner = new ChunkRunner(options.ask, this.room);
    this.ledger.work((id, index) => this.take(id, index));
  }

  state(): JobsState {
    return { ...this.ledger.counts(), lines: { ...this.lines } };
  }

  /** Applications of which lines are under way, or wait. */
  asking(): readonly string[] {
    return this.room.applications();
  }

  /** What is kept stays, what is not is asked again at the next start, or by others. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.runner.stop();
    this.pauses.stop();
    await this.ledger.stop();
  }

  private async take(id: string, index: number): Promise<void> {
    try {
      const results = await this.answer(id, index);
      this.goesWell();
      if (results !== undefined) await this.keep(id, index, results);
    } catch (error) {
      this.fails(id, index, error);
      await this.pauses.wait(PAUSE_MS);
    }
  }

  private async answer(id: string, index: number): Promise<ChunkResults | undefined> {
    const progress = await this.ledger.progress(id);
    if (progress?.state !== 'running') return undefined;
    const chunk = await this.ledger.chunk(id, index);
    if (chunk === undefined) return undefined;
    let isWanted = true;
    const look = setInterval(() => {
      void this.ledger.progress(id).then(
        (found) => (isWanted = found?.state === 'running'),
        () => undefined,
      );
    }, PAUSE_MS);
    try {
      return await this.runner.run(progress.description, chunk, () => isWanted);
    } finally {
      clearInterval(look);
    }
  }

  /** What models have answered is not asked again because nobody takes it: it waits until somebody does. */
  private async keep(id: string, index: number, results: ChunkResults): Promise<void> {
    do {
      try {
        if (await this.ledger.keep(id, index, results)) {
          this.lines.answered += results.answered - results.failed;
          this.lines.failed += results.failed;
        }
        this.goesWell();
        return;
      } catch (error) {
        this.fails(id, index, error);
        await this.pauses.wait(PAUSE_MS);
      }
    } while (!this.isStopped);
  }

  private fails(job: string, chunk: number, error: unknown): void {
    if (this.isStopped || this.isFailing) return;
    this.isFailing = true;
    this.options.complain(
      'batch jobs do not go on: their input cannot be read, or their results cannot be kept',
      {
        job,
        chunk,
        reason: reasonOf(error),
      },
    );
  }

  private goesWell(): void {
    if (!this.isFailing) return;
    this.isFailing = false;
    this.options.complain('batch jobs go on', {});
  }
}
