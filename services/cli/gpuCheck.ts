import { InvalidArgumentError, Option, type Command } from 'commander';
import type { CheckerName, CheckProgress } from '../../simulator/checker/index.js';
import { CommandError } from './commandError.js';
import { deviceOption, wholeNumber } from './optionValues.js';
import { ProgressLine } from './progressLine.js';

interface CheckCommandOptions {
  readonly device?: string;
  readonly memcheck?: true;
  readonly racecheck?: true;
  readonly initcheck?: true;
  readonly synccheck?: true;
  readonly all?: true;
  readonly globalRaces?: true;
  readonly blocks?: { readonly lo: number; readonly hi: number };
  readonly fuel?: number;
  readonly limit?: number;
  readonly json?: boolean;
}

const MOST_FUEL = Number.MAX_SAFE_INTEGER;

export function addGpuCheckCommand(gpu: Command): void {
  gpu
    .command('check')
    .description(
      'run one kernel launch under checkers for memory errors, races, first reads and barriers; ends with 1 when they find something',
    )
    .argument('<spec>', 'launch spec, a JSON file')
    .option('--memcheck', 'accesses out of bounds, misaligned, null or freed (the default)')
    .option('--racecheck', 'accesses of shared memory that nothing orders')
    .option('--initcheck', 'reads of global and shared memory that nothing has written')
    .option('--synccheck', 'barriers and warp-level operations used wrongly')
    .option('--all', 'all four')
    .option('--global-races', 'racecheck of global memory too, within and between blocks')
    .addOption(
      new Option('--blocks <lo:hi>', 'only these blocks of the grid, in linear order').argParser(blockRange),
    )
    .addOption(
      new Option('--fuel <n>', 'thread-instructions that a block may execute (default 100000000)').argParser(
        wholeNumber(1, MOST_FUEL),
      ),
    )
    .addOption(
      new Option('--limit <n>', 'findings to show (default 100)').argParser(wholeNumber(1, 1_000_000)),
    )
    .addOption(deviceOption())
    .option('--json', 'print the report as JSON')
    .action(check);
}

async function check(path: string, options: CheckCommandOptions): Promise<void> {
  // Loaded when it is needed: the other commands start without the simulator.
  const { checkSpecFile, reportText } = await import('../../simulator/checker/index.js');
  const { LaunchSpecError } = await import('../../simulator/launchSpec/index.js');
  const line = new ProgressLine();
  try {
    const report = checkSpecFile(path, {
      checkers: chosen(options),
      ...(options.device === undefined ? {} : { device: options.device }),
      ...(options.globalRaces === true ? { globalRaces: true } : {}),
      ...(options.blocks === undefined ? {} : { blocks: options.blocks }),
      ...(options.fuel === undefined ? {} : { fuelPerBlock: options.fuel }),
      ...(options.limit === undefined ? {} : { limit: options.limit }),
      onProgress: (progress) => line.show(progressText(progress)),
    });
    line.clear();
    // Standard output holds the report alone, which has the kernel's text as a field; people read it here.
    if (report.printed !== undefined) process.stderr.write(report.printed);
    process.stdout.write(`${options.json === true ? JSON.stringify(report) : reportText(report)}\n`);
    // Not an error of the command: the report is the answer, the exit code says what it is.
    if (report.totals.error + report.totals.warning > 0) process.exitCode = 1;
  } catch (error) {
    line.clear();
    if (!(error instanceof LaunchSpecError)) throw error;
    throw new CommandError(`${path}: ${error.code}: ${error.message}`, { cause: error });
  }
}

function chosen(options: CheckCommandOptions): readonly CheckerName[] {
  const all: readonly CheckerName[] = ['memcheck', 'racecheck', 'initcheck', 'synccheck'];
  if (options.all === true) return all;
  const named = all.filter(
    (name) => options[name] === true || (name === 'racecheck' && options.globalRaces === true),
  );
  return named.length === 0 ? ['memcheck'] : named;
}

function progressText({ blocks, ofBlocks, threadInstructions }: CheckProgress): string {
  return `block ${blocks} of ${ofBlocks}, ${(threadInstructions / 1e6).toFixed(1)} million thread-instructions`;
}

function blockRange(text: string): { readonly lo: number; readonly hi: number } {
  const match = /^(\d+):(\d+)$/.exec(text);
  const [lo, hi] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || lo >= hi) {
    throw new InvalidArgumentError(
      'expected LO:HI, two whole numbers with LO below HI: blocks LO to HI - 1.',
    );
  }
  return { lo, hi };
}
