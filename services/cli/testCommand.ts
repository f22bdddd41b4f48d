import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { GpuShare, ModelTrialReport } from '../../containers/runtime/index.js';
import { CommandError } from './commandError.js';
import { cardList, MOST_NODES } from './gpusOption.js';
import { wholeNumber } from './optionValues.js';

const SHOWN_FAILURES = 10;
const MIB = 1024 * 1024;

interface TestOptions {
  readonly device?: string;
  readonly gpus?: readonly string[];
  readonly nodes?: number;
  readonly json?: boolean;
}

export function addTestCommand(program: Command): void {
  program
    .command('test')
    .description(
      'run a model folder alone on a simulated device: golden inputs, latency by batch size, memory',
    )
    .argument('<folder>', 'the model folder')
    .option(
      '--device <card>',
      'the device to run it on, h200 unless given: a name of `gpu devices`, or a JSON file',
    )
    .option(
      '--gpus <cards>',
      "cards of a server's nodes, with commas between: on each kind of them, and how many replicas they hold",
      cardList,
    )
    .option('--nodes <number>', 'GPU nodes with these GPUs, 1 unless given', wholeNumber(1, MOST_NODES))
    .option('--json', 'print the report as JSON')
    .action(test);
}

async function test(folder: string, options: TestOptions): Promise<void> {
  const { device, gpus, nodes, json } = options;
  if (device !== undefined && gpus !== undefined) throw new CommandError('--device and --gpus: choose one');
  const option = gpus === undefined ? '--device' : '--gpus';
  const cards = gpus ?? [device ?? 'h200'];
  // Loaded when it is needed: the other commands start without the simulator.
  const { GpuError, findCard } = await import('../../simulator/gpu/index.js');
  for (const card of cards) {
    try {
      findCard(card, '.');
    } catch (error) {
      if (error instanceof GpuError) throw new CommandError(`${option}: ${error.message}`, { cause: error });
      throw error;
    }
  }
  if (!existsSync(folder)) throw new CommandError(`there is no folder ${resolve(folder)}`);
  const { fittingReplicas, tryModel } = await import('../../containers/runtime/index.js');
  const reports = [...new Set(cards)].map((card) => tryModel(resolve(folder), { device: card }));
  const isPlaced = gpus !== undefined || nodes !== undefined;
  const shares = isPlaced ? fittingReplicas(resolve(folder), cards, nodes ?? 1) : undefined;
  const replicas = shares?.reduce((sum, share) => sum + share.replicas, 0);
  if (json === true) {
    const answer =
      shares === undefined ? reports[0] : { devices: reports, placement: { replicas, gpus: shares } };
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  } else {
    const placed = shares === undefined ? '' : placementText(shares, replicas ?? 0);
    process.stdout.write(`${reports.map(table).join('')}${placed}`);
  }
  for (const report of reports) refuseFailed(folder, report, isPlaced && replicas !== 0);
}

/** @param mayNotFit a device on which it does not run: there are others. @throws CommandError */
function refuseFailed(folder: string, { problem, golden, fits }: ModelTrialReport, mayNotFit: boolean): void {
  if (problem !== undefined && (fits || !mayNotFit)) throw new CommandError(problem);
  if (golden !== undefined && golden.failures.length > 0) {
    throw new CommandError(
      `${golden.failures.length} of ${golden.cases} golden inputs failed; golden.json in ${folder} says what is expected`,
    );
  }
}

function placementText(shares: readonly GpuShare[], replicas: number): string {
  const lines = shares.map(({ gpu, card, replicas: count }) => `  ${gpu} (${card}): ${count}`);
  return `replicas that fit: ${replicas}\n${lines.join('\n')}\n`;
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
      `of ${mib(memory.bytesPerBatchInFlight)}, context ${mib(memory.contextBytes)}, modules ${mib(memory.moduleBytes)}) of ${mib(memory.deviceBytes)}: ${fits ? 'it fits' : 'it does not run'}`,
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
