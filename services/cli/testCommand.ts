import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { ModelTrialReport } from '../../containers/runtime/index.js';
import { CommandError } from './commandError.js';

const SHOWN_FAILURES = 10;
const MIB = 1024 * 1024;

interface TestOptions {
  readonly device: string;
  readonly json?: boolean;
}

export function addTestCommand(program: Command): void {
  program
    .command('test')
    .description(
      'run a model folder alone on a simulated device: golden inputs, latency by batch size, memory',
    )
    .argument('<folder>', 'the model folder')
    .option('--device <card>', 'the device to run it on: a name of `gpu devices`, or a JSON file', 'h200')
    .option('--json', 'print the report as JSON')
    .action(test);
}

async function test(folder: string, { device, json }: TestOptions): Promise<void> {
  // Loaded when it is needed: the other commands start without the simulator.
  const { GpuError, findCard } = await import('../../simulator/gpu/index.js');
  try {
    findCard(device, '.');
  } catch (error) {
    if (error instanceof GpuError) throw new CommandError(`--device: ${error.message}`, { cause: error });
    throw error;
  }
  if (!existsSync(folder)) throw new CommandError(`there is no folder ${resolve(folder)}`);
  const { tryModel } = await import('../../containers/runtime/index.js');
  const report = tryModel(resolve(folder), { device });
  process.stdout.write(json === true ? `${JSON.stringify(report)}\n` : table(report));
  if (report.problem !== undefined) throw new CommandError(report.problem);
  const { golden } = report;
  if (golden !== undefined && golden.failures.length > 0) {
    throw new CommandError(
      `${golden.failures.length} of ${golden.cases} golden inputs failed; golden.json in ${folder} says what is expected`,
    );
  }
}

function table({
  model,
  device,
  memory,
  fits,
  golden,
  batches,
  threadInstructionsLimit,
}: ModelTrialReport): string {
  const mib = (bytes: number): string => `${(bytes / MIB).toFixed(bytes < MIB ? 3 : 1)} MiB`;
  const lines = [
    `${model} on ${device}, in simulated time`,
    `  memory: ${mib(memory.peakBytes)} at most (weights ${mib(memory.weightBytes)}, ${memory.batchesInFlight} batches in flight ` +
      `of ${mib(memory.bytesPerBatchInFlight)}) of ${mib(memory.deviceBytes)}: ${fits ? 'it fits' : 'it does not run'}`,
  ];
  if (golden === undefined) {
    if (fits) lines.push('  golden inputs: none (golden.json in the folder would have them)');
  } else {
    lines.push(`  golden inputs: ${golden.passed} of ${golden.cases} as expected`);
    for (const { case: place, problem } of golden.failures.slice(0, SHOWN_FAILURES)) {
      lines.push(`    cases[${place}]: ${problem}`);
    }
    const more = golden.failures.length - SHOWN_FAILURES;
    if (more > 0) lines.push(`    and ${more} more`);
  }
  if (batches.length > 0) {
    lines.push(
      `  PTX thread-instructions a query: limit ${threadInstructionsLimit}`,
      '  batch   latency µs   queries/s   instructions/query',
      ...batches.map(
        ({ batchSize, latencyUs, queriesPerSecond, threadInstructionsPerQuery }) =>
          `  ${String(batchSize).padStart(5)}   ${latencyUs.toFixed(1).padStart(10)}   ` +
          `${Math.round(queriesPerSecond).toString().padStart(9)}   ${Math.round(threadInstructionsPerQuery).toString().padStart(18)}`,
      ),
    );
  }
  return `${lines.join('\n')}\n`;
}
