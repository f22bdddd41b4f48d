import { KeyedDraw } from '../../../selection/index.js';
import type { LaunchVerdict } from '../../../simulator/scheduling/index.js';
import type { JobKernel } from './languageModelJob.js';

export interface JobLaunch {
  readonly kernel: JobKernel;
  readonly verdict: LaunchVerdict;
}

/** A job's launches, drawn by its kernels' shares. */
export function jobLaunches(job: readonly JobKernel[], launches: number, seed: number): JobLaunch[] {
  const draw = new KeyedDraw(seed).of('launches');
  return Array.from({ length: launches }, () => chosen(job, draw()));
}

function chosen(job: readonly JobKernel[], at: number): JobLaunch {
  let from = 0;
  for (const kernel of job) {
    if (at < from + kernel.share || kernel === job[job.length - 1]) {
      const idempotent = at - from < kernel.share * kernel.idempotent;
      return { kernel, verdict: { idempotent, of: kernel.isWhole ? 'kernel' : 'launch' } };
    }
    from += kernel.share;
  }
  throw new Error('a job has kernels');
}
