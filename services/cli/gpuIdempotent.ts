import { Option, type Command } from 'commander';
import type { ValidatorMode } from '../../simulator/idempotency/index.js';
import { CommandError } from './commandError.js';
import { deviceOption } from './optionValues.js';

const MODES: readonly ValidatorMode[] = ['strawman', 'ranges', 'compacted'];

interface IdempotentOptions {
  readonly device?: string;
  readonly explain?: true;
  readonly mode: ValidatorMode;
  readonly allocationBound?: true;
}

export function addGpuIdempotentCommand(gpu: Command): void {
  gpu
    .command('idempotent')
    .description(
      'judge, without running it, whether a kernel launch can be killed at any point and run again; prints JSON',
    )
    .argument('<spec>', 'launch spec, a JSON file')
    .addOption(deviceOption())
    .option('--explain', 'say in words which read and write meet, and list every access')
    .addOption(
      new Option('--mode <mode>', 'every thread, an interval for each iteration, or one for each access')
        .choices(MODES)
        .default('compacted'),
    )
    .option('--allocation-bound', 'an unknown index stays in the allocation of its pointer')
    .action(judge);
}

async function judge(path: string, options: IdempotentOptions): Promise<void> {
  // Loaded when it is needed: the other commands start without the simulator.
  const { explanationText, judgeSpecFile, specVerdict } =
    await import('../../simulator/launchVerdict/index.js');
  const { LaunchSpecError } = await import('../../simulator/launchSpec/index.js');
  const { device, mode, explain, allocationBound } = options;
  try {
    const judged = judgeSpecFile(path, {
      mode,
      allocationBound: allocationBound === true,
      ...(device === undefined ? {} : { device }),
    });
    const text = explain === true ? explanationText(judged) : JSON.stringify(specVerdict(judged));
    process.stdout.write(`${text}\n`);
  } catch (error) {
    if (!(error instanceof LaunchSpecError)) throw error;
    throw new CommandError(`${path}: ${error.code}: ${error.message}`, { cause: error });
  }
}
