import { ReferenceInterpreter } from '../interpreter/index.js';
import type { ExecutorVariant, RunResult } from '../types.js';
import { LaunchBench } from './launchBench.js';

/** All ways to run a kernel. */
export const WAYS = ['interpreter', 'fast', 'observed', 'resumable'] as const;
export type Way = (typeof WAYS)[number];

/**
 * The words, as unsigned numbers, that one block of 32 threads of a module's first kernel leaves in a buffer of `count`
 * words, whose address is the first argument. A resumable run is suspended every few instructions.
 */
export function leftWords(way: Way, text: string, count: number, values: readonly number[] = []): number[] {
  const bench = new LaunchBench();
  const out = bench.buffer(Math.max(64, count));
  const { launch, range } = bench.place(text, { values: [out, ...values] });
  const result =
    way === 'interpreter'
      ? new ReferenceInterpreter().run(launch, range, 'fast', 1e6)
      : runCompiled(bench, way, launch, range);
  if (result.status === 'fault') throw new Error(result.fault.message);
  if (result.status !== 'done') throw new Error(result.status);
  return bench.words(out, count).map((word) => word >>> 0);
}

function runCompiled(
  { executor }: LaunchBench,
  way: ExecutorVariant,
  ...[launch, range]: [Parameters<typeof executor.run>[0], Parameters<typeof executor.run>[1]]
): RunResult {
  let result = executor.run(launch, range, way, way === 'resumable' ? 7 : 1e6);
  while (result.status === 'yield') result = executor.resume(result.suspended, 7);
  return result;
}
