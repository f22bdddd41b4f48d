import { reasonOf } from '../../simulator/text/index.js';
import type { Complaint } from '../errors/index.js';
import { ChunkRunner, type AskLine } from './chunkRunner.js';
import type { JobLedger } from './job.js';
import { SpareRoom, type SpareRoomOptions } from './spareRoom.js';

export interface JobsOptions extends SpareRoomOptions {
  readonly ledger: JobLedger;
  readonly ask: AskLine;
  readonly complain: Complaint;
}

/** After a ledger that failed, a chunk is tried again. */
const PAUSE_MS = 1000;

/** Works on the jobs of a ledger until it is stopped. */
export class Jobs {
  readonly ledger: JobLedger;
  private readonly runner: ChunkRunner;
  private isStopped = false;

  constructor(private readonly options: JobsOptions) {
    this.ledger = options.ledger;
    this.runner = new ChunkRunner(options.ask, new SpareRoom(options));
    this.ledger.work((id, index) => this.take(id, index));
  }

  /** What is kept stays, what is not is asked again at the next start. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.runner.stop();
    await this.ledger.stop();
  }

  private async take(id: string, index: number): Promise<void> {
    try {
      const progress = await this.ledger.progress(id);
      if (progress?.state !== 'running') return;
      const chunk = await this.ledger.chunk(id, index);
      let isWanted = true;
      const look = setInterval(() => {
        void this.ledger.progress(id).then(
          (found) => (isWanted = found?.state === 'running'),
          () => undefined,
        );
      }, PAUSE_MS);
      try {
        const results = await this.runner.run(progress.description, chunk, () => isWanted);
        if (results !== undefined) await this.ledger.keep(id, index, results);
      } finally {
        clearInterval(look);
      }
    } catch (error) {
      if (this.isStopped) return;
      this.options.complain('a chunk of a job could not be answered or kept; it is tried again', {
        job: id,
        chunk: index,
        reason: reasonOf(error),
      });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
    }
  }
}
