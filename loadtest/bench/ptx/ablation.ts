import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { OPTIMISATIONS, type Optimisation } from '../../../simulator/executor/testing/index.js';
import type { BenchKernel } from './benchKernels.js';
import { PtxRun } from './ptxRun.js';
import { distribution, type Timing } from './statistics.js';
import { warmUp } from './warmUp.js';

/** A kernel without one optimisation, or without all of one thread. */
export interface AblationCell {
  readonly without: string;
  /** Time without it over time with everything, of medians: what it brings. */
  readonly factor: number;
  readonly ms: number;
  /** Output bytes and counted instructions are those of the full compiler. */
  readonly isSame: boolean;
}

export interface AblationRow {
  readonly kernel: string;
  /** Steady, on one thread with everything. */
  readonly fullMs: number;
  readonly cells: readonly AblationCell[];
}

export interface AblationOptions {
  readonly root: string;
  /** Pairs of runs, with and without, one after the other. */
  readonly repeats: number;
}

interface Variant {
  readonly name: string;
  readonly without: ReadonlySet<Optimisation>;
  /** The full side runs on all cores, and time is the wall's. */
  readonly ofThreads: boolean;
}

const OF_ONE_THREAD = OPTIMISATIONS.filter((name) => name !== 'threads');

export const VARIANTS: readonly Variant[] = [
  ...OF_ONE_THREAD.map((name): Variant => ({ name, without: new Set([name]), ofThreads: false })),
  { name: 'all of these', without: new Set(OF_ONE_THREAD), ofThreads: false },
  { name: 'threads', without: new Set(['threads']), ofThreads: true },
];

/** No further pair is begun after so long; two are, whatever they take. */
const MOST_MS = 4000;
const LEAST_PAIRS = 2;

export function ablate(kernel: BenchKernel, options: AblationOptions): AblationRow {
  const path = join(options.root, kernel.launch);
  const full = new PtxRun(path);
  const results = firstResults(full);
  warmUp(full);
  const fullMs: number[] = [];
  const cells = VARIANTS.map(({ name, without, ofThreads }): AblationCell => {
    const threads = ofThreads ? availableParallelism() : 1;
    const part = new PtxRun(path, { without, threads });
    const isSame = firstResults(part).equals(results);
    warmUp(part);
    const whole = ofThreads ? new PtxRun(path, { threads }) : full;
    if (whole !== full) warmUp(whole);
    const pairs = measure(part, whole, options.repeats, ofThreads ? 'wallMs' : 'cpuMs');
    if (whole === full) fullMs.push(...pairs.whole);
    else whole.close();
    part.close();
    const ms = distribution(pairs.part).median;
    return { without: name, factor: ms / distribution(pairs.whole).median, ms, isSame };
  });
  return { kernel: kernel.name, fullMs: distribution(fullMs).median, cells };
}

function measure(part: PtxRun, whole: PtxRun, repeats: number, clock: keyof Timing) {
  const pairs = { part: [] as number[], whole: [] as number[] };
  for (let pair = 0, spent = 0; pair < repeats && (pair < LEAST_PAIRS || spent < MOST_MS); pair++) {
    pairs.part.push(part.run().timing[clock]);
    pairs.whole.push(whole.run().timing[clock]);
    spent += (pairs.part.at(-1) ?? 0) + (pairs.whole.at(-1) ?? 0);
  }
  return pairs;
}

/** Counters and output bytes of the first run, as a digest: outputs that are inputs too change from run to run. */
function firstResults(run: PtxRun): Buffer {
  const { counters } = run.run();
  return createHash('sha256').update(JSON.stringify(counters)).update(run.bytes(run.output)).digest();
}
