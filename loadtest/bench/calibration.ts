import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  comparison,
  largestBuffer,
  measuredLaunches,
  type CalibratedLaunch,
} from '../../simulator/laboratory/calibration/index.js';
import {
  isAsReported,
  LaunchSpecError,
  runLaunchSpec,
  type BufferSummary,
  type LaunchSpec,
} from '../../simulator/launchSpec/index.js';

/**
 * Runs the measured launches on the simulated H200 and prints, for each, measured and simulated duration and whether
 * the outputs are the card's.
 *
 *   node dist/loadtest/bench/calibration.js [--largest 24] [--only NAME] [--launches DIR] [--json]
 *
 * `--largest` leaves out launches with a buffer of more than 2^N elements. Exit code 1 when an output is wrong.
 */
interface Row extends CalibratedLaunch {
  readonly dramBytes: number;
  readonly threadInstructions: number;
  readonly warpInstructions: number;
  readonly executorSeconds: number;
  readonly totalSeconds: number;
  readonly outputs: string;
}

const { values } = parseArgs({
  options: {
    largest: { type: 'string', default: '24' },
    only: { type: 'string', default: '' },
    launches: { type: 'string', default: 'simulator/gpu/reference/launches' },
    json: { type: 'boolean', default: false },
  },
});

const seconds = (): number => Number(process.hrtime.bigint()) / 1e9;
const directory = resolve(values.launches);
const rows: Row[] = [];
const failures: string[] = [];
const started = seconds();

for (const launch of measuredLaunches(directory)) {
  const { name, spec } = launch;
  if (!name.includes(values.only) || largestBuffer(launch) > 2 ** Number(values.largest)) continue;
  const from = seconds();
  try {
    const result = runLaunchSpec(spec, directory, { stopwatch: seconds });
    const outputs = compare(spec, result.buffers[0]);
    rows.push({
      name,
      kernel: spec.kernel,
      ...comparison(launch.durationUs, result.durationUs),
      dramBytes: result.dramBytes,
      threadInstructions: result.ptxThreadInstructions,
      warpInstructions: result.ptxWarpInstructions,
      executorSeconds: result.executorSeconds,
      totalSeconds: seconds() - from,
      outputs,
    });
    if (outputs.startsWith('WRONG')) failures.push(name);
  } catch (error) {
    if (!(error instanceof LaunchSpecError)) throw error;
    failures.push(`${name}: ${error.code}: ${error.message}`);
  }
}
report();

/** Bit for bit, approximate functions included: they are the card's own. */
function compare(spec: LaunchSpec, found: BufferSummary | undefined): string {
  const expected = spec.expect?.samples;
  if (expected === undefined || found === undefined) return 'unchecked';
  const argument = found.arg === undefined ? undefined : spec.args[found.arg];
  const type = argument !== undefined && 'buffer' in argument ? argument.buffer.type : 'f32';
  for (const [index, value] of Object.entries(expected)) {
    if (!isAsReported(value, found.samples[index], type))
      return `WRONG at ${index}: ${found.samples[index]}, the card ${value}`;
  }
  return 'exact';
}

function report(): void {
  if (values.json) {
    console.log(JSON.stringify(rows));
    return;
  }
  const line = (cells: readonly string[]): string =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(68) : cell.padStart(11))).join(' ');
  console.log(
    line(['launch', 'card us', 'sim us', 'error %', 'dram MB', 'Minstr/s', 'exec s', 'total s', 'outputs']),
  );
  for (const row of rows) {
    console.log(
      line([
        row.name,
        row.measuredUs.toFixed(2),
        row.simulatedUs.toFixed(2),
        (row.error * 100).toFixed(1),
        (row.dramBytes / 1e6).toFixed(1),
        (row.threadInstructions / row.executorSeconds / 1e6).toFixed(0),
        row.executorSeconds.toFixed(2),
        row.totalSeconds.toFixed(2),
        row.outputs,
      ]),
    );
  }
  const byKernel = new Map<string, number[]>();
  for (const row of rows) byKernel.set(row.kernel, [...(byKernel.get(row.kernel) ?? []), row.error]);
  console.log('');
  for (const [kernel, errors] of byKernel) {
    console.log(line([kernel, '', '', (meanSize(errors) * 100).toFixed(1)]));
  }
  const instructions = rows.reduce((sum, row) => sum + row.threadInstructions, 0);
  const executing = rows.reduce((sum, row) => sum + row.executorSeconds, 0);
  const all = rows.map(({ error }) => error);
  console.log(
    `\n${rows.length} launches, mean |error| ${(meanSize(all) * 100).toFixed(1)} %, worst ${(Math.max(...all.map(Math.abs)) * 100).toFixed(1)} %; ` +
      `${(instructions / 1e9).toFixed(2)} G thread-instructions in ${executing.toFixed(1)} s of execution ` +
      `(${(instructions / executing / 1e6).toFixed(0)} M/s), ${(seconds() - started).toFixed(1)} s in all`,
  );
  for (const failure of failures) console.log(`FAILED ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}

function meanSize(errors: readonly number[]): number {
  return errors.reduce((sum, error) => sum + Math.abs(error), 0) / errors.length;
}
