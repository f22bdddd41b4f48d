/**
 * Tells what a run left besides forms: every program against its reference, and what each timed launch took.
 *   node dist/simulator/laboratory/tensor/card/readRun.js RESULTS_DIR
 * Exits with 1 where a program has other results than its reference, or did not run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOf, firstDifference, referenceResult, type KernelFixture } from '../../kernels/index.js';
import { tensorPrograms } from '../programs/index.js';
import { timingKernels, type TimedLaunch } from '../timing/index.js';
import { readRun, type ResultEntry } from './results.js';

/** Final bytes of every buffer of every program, as base64. */
interface ProgramsFile {
  readonly programs: Readonly<Record<string, { readonly buffers: Readonly<Record<string, string>> }>>;
}

const [, , folder] = process.argv;
if (folder === undefined) {
  process.stderr.write('usage: readRun.js RESULTS_DIR\n');
  process.exitCode = 1;
} else read(folder);

function read(from: string): void {
  const { entries } = readRun(from);
  const { programs } = JSON.parse(readFileSync(join(from, 'programs.json'), 'utf8')) as ProgramsFile;
  for (const launch of timingKernels()) {
    const entry = entries.find(({ kind, name }) => kind === 'timing' && name === launch.name);
    if (entry !== undefined) process.stdout.write(`${timeLine(launch, entry)}\n`);
  }
  let wrong = 0;
  for (const fixture of tensorPrograms) {
    const said = differenceOf(fixture, programs[fixture.name]?.buffers);
    if (said !== undefined) wrong++;
    process.stdout.write(`${fixture.name}: ${said ?? 'as its reference'}\n`);
  }
  if (wrong > 0) process.exitCode = 1;
}

/** Cycles of an instruction in its warp, and what an SM did in a cycle while its last warp ran. */
function timeLine(launch: TimedLaunch, { cycles, error }: ResultEntry): string {
  const [, , most = 0] = cycles ?? [];
  if (error !== undefined || most === 0) return `${launch.name}: ${error ?? 'no cycles'}`;
  const each = most / (launch.iterations * launch.instructions);
  const warps = launch.block / 32;
  const rate =
    launch.multiplyAdds === 0
      ? `${(warps / each).toFixed(3)} instructions a cycle and SM`
      : `${((launch.multiplyAdds * warps) / each).toFixed(0)} multiply-adds a cycle and SM`;
  return `${launch.name}: ${each.toFixed(2)} cycles, ${rate}`;
}

function differenceOf(
  fixture: KernelFixture,
  left: Readonly<Record<string, string>> | undefined,
): string | undefined {
  if (left === undefined) return 'did not run';
  const buffers = fixture.buffers();
  for (const [name, text] of Object.entries(left)) bytesOf(buffers[name]).set(Buffer.from(text, 'base64'));
  fixture.settle?.(buffers);
  return firstDifference(fixture, buffers, referenceResult(fixture));
}
