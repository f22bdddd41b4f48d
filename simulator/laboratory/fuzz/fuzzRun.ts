import { parseArgs } from 'node:util';
import { differences } from './differential.js';
import type { FuzzCase } from './fuzzCase.js';
import { describeCase } from './fuzzBench.js';
import { generateKernel } from './generateKernel.js';
import { shrinkCase } from './shrinkCase.js';

/**
 * Runs many random kernels in every way there is and tells which seeds differ:
 *
 *     node dist/simulator/laboratory/fuzz/fuzzRun.js --seeds 10000 [--from 1] [--generation 2] [--together] [--in-step] [--every-form] [--clusters] [--shrink]
 *
 * Odd seeds are of the first generation and even ones of the second unless one is asked for. Ends with status 1 when a seed
 * differs. `--together` draws blocks whose lanes go together; `--in-step` lets them meet in memory; `--every-form` computes by all forms alike; `--clusters` lets blocks of a cluster meet; `--shrink` prints the smallest kernel found that differs likewise.
 */
interface Options {
  readonly from: number;
  readonly seeds: number;
  readonly generation: 1 | 2 | undefined;
  readonly shrinks: boolean;
  readonly together: boolean;
  readonly inStep: boolean;
  readonly everyForm: boolean;
  readonly clusters: boolean;
}

const SEEDS_PER_LINE = 250;

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      from: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '100' },
      generation: { type: 'string' },
      shrink: { type: 'boolean', default: false },
      together: { type: 'boolean', default: false },
      'in-step': { type: 'boolean', default: false },
      'every-form': { type: 'boolean', default: false },
      clusters: { type: 'boolean', default: false },
    },
  });
  const count = (name: string, text: string): number => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= 1) return value;
    throw new RangeError(`--${name} must be a positive integer, got '${text}'`);
  };
  const { generation } = values;
  if (generation !== undefined && generation !== '1' && generation !== '2') {
    throw new RangeError(`--generation must be 1 or 2, got '${generation}'`);
  }
  return {
    from: count('from', values.from),
    seeds: count('seeds', values.seeds),
    generation: generation === undefined ? undefined : generation === '1' ? 1 : 2,
    shrinks: values.shrink,
    together: values.together,
    inStep: values['in-step'],
    everyForm: values['every-form'],
    clusters: values.clusters,
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The check that failed first: what stands before its colon. */
function kindOf(lines: readonly string[]): string | undefined {
  return lines[0]?.split(':')[0];
}

function tryDifferences(fuzz: FuzzCase): string[] {
  try {
    return differences(fuzz);
  } catch (error) {
    return [`thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
}

/** The smallest text that differs in the same way, registers that hold nothing left aside. */
function shrunk(fuzz: FuzzCase, kind: string | undefined): FuzzCase {
  return shrinkCase(fuzz, (smaller) => kindOf(tryDifferences(smaller)) === kind);
}

function main(): void {
  const { from, seeds, generation, shrinks, together, inStep, everyForm, clusters } = readOptions();
  const failed: number[] = [];
  for (let seed = from; seed < from + seeds; seed++) {
    const style = { together, inStep, everyForm, clusters, ...(inStep ? { statements: 25 } : {}) };
    const fuzz = generateKernel(seed, { generation: generation ?? (seed % 2 === 1 ? 1 : 2), ...style });
    const found = tryDifferences(fuzz);
    if (found.length > 0) {
      failed.push(seed);
      say(`seed ${seed} (grid ${fuzz.grid.join('x')}, block ${fuzz.block.join('x')}):`);
      for (const line of found) say(`  ${line}`);
      if (shrinks) say(describeCase(shrunk(fuzz, kindOf(found))));
    }
    const done = seed - from + 1;
    if (done % SEEDS_PER_LINE === 0) say(`${done} of ${seeds} seeds, ${failed.length} differ`);
  }
  say(
    `${seeds} seeds from ${from}: ${failed.length} differ${failed.length === 0 ? '' : `: ${failed.join(' ')}`}`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}

main();
