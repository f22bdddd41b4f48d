import { InvalidArgumentError, Option, type Command } from 'commander';
import type { ProfileProgress, ProfileReport, SortKey } from '../../simulator/profiler/index.js';
import { CommandError } from './commandError.js';
import { deviceOption, wholeNumber } from './optionValues.js';
import { OutputFile, checkApart } from './outputFile.js';
import { ProgressLine } from './progressLine.js';

interface ProfileCommandOptions {
  readonly device?: string;
  readonly kernel?: string;
  readonly sort?: SortKey;
  readonly top?: number;
  readonly blocks?: number | 'all';
  readonly budget?: number;
  readonly seed?: number;
  readonly onlySample?: true;
  readonly fuel?: number;
  readonly json?: true;
  readonly html?: string;
}

/** As the profiler has them; it is loaded only when it is needed. */
const SORTS: readonly SortKey[] = [
  'warp',
  'thread',
  'idle',
  'split',
  'sectors',
  'excess',
  'conflicts',
  'atomics',
  'line',
];

export function addGpuProfileCommand(gpu: Command): void {
  gpu
    .command('profile')
    .description(
      'run kernel launches and count, line by line, instructions, idle lanes, sectors a request and bank conflicts',
    )
    .argument('<specs...>', 'launch specs, JSON files')
    .addOption(deviceOption())
    .option('--kernel <name>', 'only launches of this kernel')
    .addOption(new Option('--sort <what>', 'order of the lines (default warp)').choices(SORTS))
    .addOption(new Option('--top <n>', 'lines to show (default 20)').argParser(wholeNumber(1, 1_000_000)))
    .addOption(
      new Option('--blocks <n>', 'blocks to trace, or all (default: all that the budget allows)').argParser(
        blockCount,
      ),
    )
    .addOption(
      new Option('--budget <n>', 'thread-instructions to trace without --blocks (default 4000000)').argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(
      new Option('--seed <n>', 'of the sample of blocks (default 1)').argParser(wholeNumber(0, 2 ** 32 - 1)),
    )
    .option('--only-sample', 'run the sampled blocks alone: no simulated time, counts scaled by blocks')
    .addOption(
      new Option('--fuel <n>', 'thread-instructions that a block may execute (default 4294967296)').argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .option('--json', 'print the profile as JSON')
    .option('--html <file>', 'write a page with the source beside the numbers')
    .action(profile);
}

async function profile(paths: readonly string[], options: ProfileCommandOptions): Promise<void> {
  const { profileSpecFiles, profileText, profilePage } = await import('../../simulator/profiler/index.js');
  const { LaunchSpecError } = await import('../../simulator/launchSpec/index.js');
  // Before the launches, which may take long.
  const page = options.html === undefined ? undefined : new OutputFile(options.html, '--html');
  checkApart(page === undefined ? [] : [page], [
    ...paths.map((path) => ({ what: 'a launch spec', path })),
    { what: 'the card', path: options.device },
  ]);
  const line = new ProgressLine();
  const { device, kernel, blocks, budget, seed, onlySample, fuel } = options;
  let current = paths.join(', ');
  let report: ProfileReport;
  try {
    report = profileSpecFiles(paths, {
      ...(device === undefined ? {} : { device }),
      ...(kernel === undefined ? {} : { kernel }),
      ...(blocks === undefined ? {} : { blocks }),
      ...(budget === undefined ? {} : { budget }),
      ...(seed === undefined ? {} : { seed }),
      ...(onlySample === undefined ? {} : { onlySample }),
      ...(fuel === undefined ? {} : { fuelPerBlock: fuel }),
      onSpec: (name) => (current = name),
      onProgress: (progress) => line.show(progressText(progress)),
    });
  } catch (error) {
    if (!(error instanceof LaunchSpecError)) throw error;
    throw new CommandError(`${current}: ${error.code}: ${error.message}`, { cause: error });
  } finally {
    line.clear();
  }
  try {
    page?.write(profilePage(report));
  } finally {
    page?.close();
  }
  for (const { launches } of report.kernels) {
    // Standard output holds the profile alone; people read the kernel's text here.
    for (const { printed } of launches) if (printed !== undefined) process.stderr.write(printed);
    // Not an error of the command: the profile up to the fault is the answer, the exit code says what it is.
    if (launches.some(({ fault }) => fault !== undefined)) process.exitCode = 1;
  }
  const shown = {
    ...(options.sort === undefined ? {} : { sort: options.sort }),
    ...(options.top === undefined ? {} : { top: options.top }),
  };
  process.stdout.write(
    `${options.json === true ? JSON.stringify({ kernels: report.kernels }) : profileText(report, shown)}\n`,
  );
}

function progressText({ doing, blocks, ofBlocks, tracedThreadInstructions }: ProfileProgress): string {
  if (doing === 'time') return `running ${ofBlocks} block${ofBlocks === 1 ? '' : 's'} for the simulated time`;
  const what = doing === 'run' ? 'ran' : 'tracing';
  return `${what} block ${blocks} of ${ofBlocks}, ${(tracedThreadInstructions / 1e6).toFixed(1)} million thread-instructions traced`;
}

function blockCount(text: string): number | 'all' {
  if (text === 'all') return text;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 2 ** 31 - 1)
    throw new InvalidArgumentError('expected a number of blocks from 1 to 2147483647, or all.');
  return value;
}
