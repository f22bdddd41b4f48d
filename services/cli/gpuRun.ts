import { Option, type Command } from 'commander';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { readTextFile } from '../../simulator/files/index.js';
import type { Guard } from '../../simulator/executor/index.js';
import type { CostDocument } from '../../simulator/gpu/index.js';
import type { LaunchSpecOptions } from '../../simulator/launchSpec/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { CommandError } from './commandError.js';
import { addFaultOptions, checkedFaults, type FaultChoice } from './faultOptions.js';
import { addGpuCalibrateCommand } from './gpuCalibrate.js';
import { addGpuCheckCommand } from './gpuCheck.js';
import { addGpuDevicesCommand } from './gpuDevices.js';
import { addGpuDisasmCommand } from './gpuDisasm.js';
import { addGpuIdempotentCommand } from './gpuIdempotent.js';
import { addGpuOccupancyCommand } from './gpuOccupancy.js';
import { addGpuProfileCommand } from './gpuProfile.js';
import { addGpuRecordCommand } from './gpuRecord.js';
import { addGpuReplayCommand } from './gpuReplay.js';
import { addGpuTopCommand } from './gpuTop.js';
import { deviceOption, positive, wholeNumber } from './optionValues.js';
import { OutputFile, checkApart } from './outputFile.js';
import { checkedScheduling, policyError } from './schedulingOption.js';
import { noteUnmeasured } from './unmeasured.js';

export function addGpuCommand(program: Command): void {
  const gpu = program
    .command('gpu')
    .description('simulated GPUs: kernels by themselves, and those of a running server');
  const run = gpu
    .command('run')
    .description(
      'run one kernel launch, or several on streams, on a simulated GPU and print what it measured, as JSON on standard output',
    )
    .argument('<spec>', 'launch spec, a JSON file')
    .addOption(deviceOption())
    .option('--sm-clock <mhz>', "application clock of the SMs (default: the card's highest)", positive)
    .option('--memory-clock <mhz>', "DRAM's clock (default: the card's)", positive)
    .option('--power-limit <watts>', "power that the clocks keep below (default: the card's)", positive)
    .addOption(
      new Option('--dump <folder>', 'write each reported buffer, raw and little-endian, to arg<k>.bin there'),
    )
    .option(
      '--threads <number>',
      'threads of this machine that run the blocks of a large launch (default: its cores, at most 4)',
      wholeNumber(1, 64),
    )
    .addOption(
      new Option(
        '--guard <guard>',
        'accesses just outside a buffer: exact, each faults; card, they go through where its last page goes on, as on a card',
      )
        .choices(GUARDS)
        .default('exact' satisfies Guard),
    )
    .option('--back-to-back', 'also run it four times in a graph and report the interval as backToBackUs')
    .option('--policy <policy>', 'who runs next on the device: a name, or the file of a policy', 'fifo')
    .option(
      '--timeline <file>',
      "write what the GPU does when, in Chrome's trace event format: ui.perfetto.dev opens it",
    )
    .option('--record-costs <file>', 'write what the launch cost, as JSON, for runs that only keep time')
    .option(
      '--costs <file>',
      'keep time alone: take the work of the launch from recorded costs, execute nothing, report no buffers',
    );
  addFaultOptions(run).action(runSpec);
  addGpuCalibrateCommand(gpu);
  addGpuCheckCommand(gpu);
  addGpuDevicesCommand(gpu);
  addGpuDisasmCommand(gpu);
  addGpuIdempotentCommand(gpu);
  addGpuOccupancyCommand(gpu);
  addGpuProfileCommand(gpu);
  addGpuTopCommand(gpu, program.version() ?? '');
  addGpuRecordCommand(gpu);
  addGpuReplayCommand(gpu);
}

// Spelled out, so that the command line starts without loading the simulator; the type checker holds it to all there are.
const GUARDS = Object.keys({ exact: true, card: true } satisfies Record<Guard, true>);

/** Most threads unless more are asked for. */
const MOST_THREADS = 4;

/** What options set on the device, by the device's own names. */
const OPTIONS_BY_FIELD: ReadonlyMap<string, string> = new Map([
  ['clockHz', '--sm-clock'],
  ['memoryClockHz', '--memory-clock'],
  ['powerLimitWatts', '--power-limit'],
]);

interface RunOptions extends FaultChoice {
  readonly device?: string;
  readonly smClock?: number;
  readonly memoryClock?: number;
  readonly powerLimit?: number;
  readonly dump?: string;
  readonly threads?: number;
  readonly backToBack?: boolean;
  readonly policy: string;
  readonly guard: Guard;
  readonly timeline?: string;
  readonly recordCosts?: string;
  readonly costs?: string;
}

async function runSpec(path: string, options: RunOptions): Promise<void> {
  const { device, smClock, memoryClock, powerLimit, dump, threads, timeline } = options;
  const { recordCosts, costs } = checkedCosts(options);
  // Loaded when it is needed: the other commands start without the simulator.
  const { LaunchSpecError, isWorkSpec, readSpec, resultText, runLaunchSpec, runWorkSpec } =
    await import('../../simulator/launchSpec/index.js');
  // Before the launch, which may take long.
  const file = timeline === undefined ? undefined : new OutputFile(timeline, '--timeline');
  const costFile = recordCosts === undefined ? undefined : new OutputFile(recordCosts, '--record-costs');
  checkApart(
    [file, costFile].filter((each) => each !== undefined),
    [
      { what: 'the launch spec', path },
      { what: 'the file of --costs', path: costs },
      { what: 'the card', path: device },
    ],
  );
  try {
    const spec = readSpec(path);
    const isWork = isWorkSpec(spec);
    if (isWork && options.backToBack === true) {
      throw new CommandError(
        '--back-to-back: takes a spec of one launch; in one of several, say what follows what',
      );
    }
    const settings: LaunchSpecOptions = {
      ...(costFile === undefined
        ? {}
        : { recordCosts: (document: CostDocument) => costFile.write(`${JSON.stringify(document)}\n`) }),
      ...(costs === undefined ? {} : { costs: await readCosts(costs) }),
      stopwatch: () => Number(process.hrtime.bigint()) / 1e9,
      backToBack: options.backToBack === true,
      node: {
        threads: threads ?? Math.min(availableParallelism(), MOST_THREADS),
        guard: options.guard,
        scheduling: await checkedScheduling('--policy', options.policy),
        ...(await checkedFaults(options)),
      },
      ...(device === undefined ? {} : { device }),
      ...(smClock === undefined ? {} : { smClockHz: smClock * 1e6 }),
      ...(memoryClock === undefined ? {} : { memoryClockHz: memoryClock * 1e6 }),
      ...(powerLimit === undefined ? {} : { powerLimitWatts: powerLimit }),
      ...(dump === undefined ? {} : { dumpDirectory: dump }),
      ...(file === undefined ? {} : { timeline: (text: string) => file.write(text) }),
    };
    const baseDir = resolve(path, '..');
    const result = isWork ? runWorkSpec(spec, baseDir, settings) : runLaunchSpec(spec, baseDir, settings);
    // Standard output holds the JSON alone, which has the kernel's text as a field; people read it here.
    const launches = 'launches' in result ? result.launches : [result];
    for (const { printed } of launches) if (printed !== undefined) process.stderr.write(printed);
    noteUnmeasured(result, device);
    process.stdout.write(`${resultText(result)}\n`);
  } catch (error) {
    if (!(error instanceof LaunchSpecError)) throw await policyError('--policy', error);
    if (error.printed !== undefined) process.stderr.write(error.printed);
    const option = OPTIONS_BY_FIELD.get(error.field ?? '');
    if (option !== undefined) {
      throw new CommandError(error.message.replace(error.field ?? '', option), { cause: error });
    }
    throw new CommandError(`${path}: ${error.code}: ${error.message}`, { cause: error });
  } finally {
    file?.close();
    costFile?.close();
  }
}

function checkedCosts({ recordCosts, costs, dump }: RunOptions): Pick<RunOptions, 'recordCosts' | 'costs'> {
  if (costs !== undefined && recordCosts !== undefined) {
    throw new CommandError(
      '--record-costs and --costs: give one of them; a run that only keeps time has nothing to record',
    );
  }
  if (costs !== undefined && dump !== undefined) {
    throw new CommandError('--dump and --costs: give one of them; a run that only keeps time has no buffers');
  }
  return { ...(recordCosts === undefined ? {} : { recordCosts }), ...(costs === undefined ? {} : { costs }) };
}

async function readCosts(path: string): Promise<CostDocument> {
  const { CostError, parseCosts } = await import('../../simulator/gpu/index.js');
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    const reason = reasonOf(error);
    throw new CommandError(`--costs: ${path}: ${reason}`, { cause: error });
  }
  try {
    return parseCosts(text, path);
  } catch (error) {
    const reason = error instanceof CostError ? `${error.code}: ` : '';
    const message = reasonOf(error);
    throw new CommandError(`--costs: ${reason}${message}`, { cause: error });
  }
}
