import { join } from 'node:path';
import { OPTIMISATIONS, type Optimisation } from '../../../simulator/executor/index.js';
import type { BenchKernel } from './benchKernels.js';
import { PtxRun } from './ptxRun.js';
import { distribution } from './statistics.js';

/** A kernel without one optimisation, or without all of them. */
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
  /** Steady, with everything. */
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
}

/** The table is of one thread, so nothing is to be seen of `threads` in it. */
const OF_ONE_THREAD = OPTIMISATIONS.filter((name) => name !== 'threads');

export const VARIANTS: readonly Variant[] = [
  ...OF_ONE_THREAD.map((name): Variant => ({ name, without: new Set([name]) })),
  { name: 'all', without: new Set(OF_ONE_THREAD) },
];

const WARM_UP_RUNS = 3;
const WARM_UP_MS = 500;
/** No further pair is begun after so long; two are, whatever they take. */
const MOST_MS = 4000;
const LEAST_PAIRS = 2;

export function ablate(kernel: BenchKernel, options: AblationOptions): AblationRow {
  const path = join(options.root, kernel.launch);
  const full = new PtxRun(path);
  warmUp(full);
  const fullMs: number[] = [];
  const cells = VARIANTS.map(({ name, without }): AblationCell => {
    const part = new PtxRun(path, without);
    const isSame = sameResults(path, part);
    warmUp(part);
    const [own, other] = [[] as number[], [] as number[]];
    for (let pair = 0, spent = 0; pair < options.repeats && (pair < LEAST_PAIRS || spent < MOST_MS); pair++) {
      own.push(part.run().timing.cpuMs);
      other.push(full.run().timing.cpuMs);
      spent += (own.at(-1) ?? 0) + (other.at(-1) ?? 0);
    }
    fullMs.push(...other);
    const ms = distribution(own).median;
    return { without: name, factor: ms / distribution(other).median, ms, isSame };
  });
  return { kernel: kernel.name, fullMs: distribution(fullMs).median, cells };
}

/** Of the first run on fresh memory. */
function sameResults(path: string, part: PtxRun): boolean {
  const fresh = new PtxRun(path);
  const [a, b] = [fresh.run().counters, part.run().counters];
  const output = part.output;
  return (
    JSON.stringify(a) === JSON.stringify(b) && Buffer.compare(fresh.bytes(output), part.bytes(output)) === 0
  );
}

function warmUp(run: PtxRun): void {
  for (let runs = 0, spent = 0; runs < WARM_UP_RUNS || spent < WARM_UP_MS; runs++)
    spent += run.run().timing.wallMs;
}
