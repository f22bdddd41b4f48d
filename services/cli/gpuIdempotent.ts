import { Option, type Command } from 'commander';
import type { SolverNotes } from '../../simulator/idempotency/index.js';
import type { ValidatorMode } from '../../simulator/laboratory/validatorModes/index.js';
import type { JudgedLaunch } from '../../simulator/launchVerdict/index.js';
import { CommandError } from './commandError.js';
import { deviceOption } from './optionValues.js';

const MODES: readonly ValidatorMode[] = ['strawman', 'ranges', 'compacted'];

interface IdempotentOptions {
  readonly device?: string;
  readonly explain?: true;
  readonly mode: ValidatorMode;
  readonly allocationBound?: true;
  readonly solver?: 'z3';
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
    .addOption(
      new Option(
        '--solver <solver>',
        'a solver for addresses that intervals widen; takes seconds, and the package z3-solver',
      ).choices(['z3']),
    )
    .action(judge);
}

async function judge(path: string, options: IdempotentOptions): Promise<void> {
  // Loaded when it is needed: the other commands start without the simulator.
  const { explanationText, judgeSpecFile, specVerdict } =
    await import('../../simulator/launchVerdict/index.js');
  const { waysOfJudging } = await import('../../simulator/laboratory/validatorModes/index.js');
  const { LaunchSpecError } = await import('../../simulator/launchSpec/index.js');
  const { device, mode, explain, allocationBound } = options;
  const judgedWith = (solver?: SolverNotes): JudgedLaunch =>
    judgeSpecFile(path, {
      ways: waysOfJudging(mode),
      allocationBound: allocationBound === true,
      ...(device === undefined ? {} : { device }),
      ...(solver === undefined ? {} : { solver }),
    });
  try {
    const judged = options.solver === undefined ? judgedWith() : await askingZ3(judgedWith);
    const text = explain === true ? explanationText(judged) : JSON.stringify(specVerdict(judged));
    process.stdout.write(`${text}\n`);
  } catch (error) {
    if (!(error instanceof LaunchSpecError)) throw error;
    throw new CommandError(`${path}: ${error.code}: ${error.message}`, { cause: error });
  }
}

async function askingZ3<T>(work: (notes: SolverNotes) => T): Promise<T> {
  const { SolverMissing, withAnswers, Z3Solver } = await import('../../containers/proving/index.js');
  const solver = new Z3Solver();
  try {
    return await withAnswers(work, solver);
  } catch (error) {
    if (!(error instanceof SolverMissing)) throw error;
    throw new CommandError(`--solver z3: ${error.message}, or leave --solver out`, { cause: error });
  } finally {
    await solver.close();
  }
}
