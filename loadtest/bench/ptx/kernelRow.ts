import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchKernel } from './benchKernels.js';
import { compileTwin } from './compiler.js';
import { compareOutputs, type Comparison } from './outputComparison.js';
import { isPlain } from './plainElements.js';
import { PtxRun } from './ptxRun.js';
import { distribution, type Distribution, type Timing } from './statistics.js';
import { TwinProcess } from './twinProcess.js';
import { warmUp } from './warmUp.js';

export interface RowOptions {
  /** The repository's root. */
  readonly root: string;
  /** Pairs of runs that are measured. */
  readonly repeats: number;
  /** Of the C compiler. */
  readonly flags: string;
  /** No further pair is begun once both sides together have run for so long; three are, whatever they take. */
  readonly mostMs: number;
}

/** One kernel against its twin. Ratios are of CPU time; on a quiet machine it is the wall's. */
export interface KernelRow {
  readonly name: string;
  readonly floor: number;
  readonly aim: number;
  readonly firstMs: number;
  readonly oursMs: Distribution;
  readonly twinMs: Distribution;
  /** C time over ours, of medians. */
  readonly ratio: number;
  /** The same of the least of each side: what other work on the machine disturbs least. */
  readonly leastRatio: number;
  readonly wallRatio: number;
  readonly threadInstructions: number;
  readonly threadInstructionsPerSecond: number;
  readonly outputs: Comparison;
}

const LEAST_PAIRS = 3;

export async function kernelRow(kernel: BenchKernel, options: RowOptions): Promise<KernelRow> {
  const directory = mkdtempSync(join(tmpdir(), 'ptx-bench-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  process.on('exit', remove);
  let twin: TwinProcess | undefined;
  try {
    const binary = join(directory, 'twin');
    compileTwin(join(options.root, 'loadtest/bench/ptx/twins', kernel.twin), binary, options.flags);
    const ours = new PtxRun(join(options.root, kernel.launch));
    twin = new TwinProcess(binary, ours.spec, directory, (argument) => ours.bytes(argument));
    await twin.ready();
    await twin.run();
    const first = ours.run();
    const outputs = await compare(kernel, ours, twin);
    warmUp(ours);
    const pairs = await measure(ours, twin, options);
    return {
      ...summary(kernel, pairs, first.counters.threadInstructions),
      firstMs: first.timing.wallMs,
      outputs,
    };
  } finally {
    await twin?.end();
    remove();
    process.off('exit', remove);
  }
}

interface Pairs {
  readonly ours: Timing[];
  readonly twin: Timing[];
}

/** Both sides have run once on the same data. */
async function compare(kernel: BenchKernel, ours: PtxRun, twin: TwinProcess): Promise<Comparison> {
  const argument = ours.output;
  const output = ours.spec.args[argument];
  if (output === undefined || !('buffer' in output) || !isPlain(output.buffer.type))
    throw new Error(`${kernel.launch}: no output of floats or integers of 32 bits`);
  return compareOutputs(output.buffer.type, ours.bytes(argument), await twin.output(argument), kernel.rule);
}

/** In the order A-B-B-A, so that a machine that drifts harms both sides alike. */
async function measure(ours: PtxRun, twin: TwinProcess, { repeats, mostMs }: RowOptions): Promise<Pairs> {
  const pairs: Pairs = { ours: [], twin: [] };
  for (let pair = 0, spent = 0; pair < repeats && (pair < LEAST_PAIRS || spent < mostMs); pair++) {
    if (pair % 2 === 1) pairs.ours.push(ours.run().timing);
    pairs.twin.push(await twin.run());
    if (pair % 2 === 0) pairs.ours.push(ours.run().timing);
    spent += (pairs.ours.at(-1)?.wallMs ?? 0) + (pairs.twin.at(-1)?.wallMs ?? 0);
  }
  return pairs;
}

function summary(kernel: BenchKernel, pairs: Pairs, threadInstructions: number) {
  const of = (timings: readonly Timing[], key: keyof Timing) =>
    distribution(timings.map((each) => each[key]));
  const [oursMs, twinMs] = [of(pairs.ours, 'cpuMs'), of(pairs.twin, 'cpuMs')];
  return {
    name: kernel.name,
    floor: kernel.floor,
    aim: kernel.aim,
    oursMs,
    twinMs,
    ratio: twinMs.median / oursMs.median,
    leastRatio: twinMs.least / oursMs.least,
    wallRatio: of(pairs.twin, 'wallMs').median / of(pairs.ours, 'wallMs').median,
    threadInstructions,
    threadInstructionsPerSecond: (threadInstructions / oursMs.median) * 1000,
  };
}
