import { Option, type Command } from 'commander';
import { blockShape } from './blockShape.js';
import { CommandError } from './commandError.js';
import { deviceOption, wholeNumber } from './optionValues.js';
import { print } from './printing.js';

interface OccupancyCommandOptions {
  readonly device?: string;
  readonly registers?: number;
  readonly block?: readonly [number, number, number];
  readonly dynamicShared?: number;
  readonly carveout?: number;
  readonly json?: boolean;
}

const MOST_REGISTERS = 255;
const MOST_SHARED_BYTES = 2 ** 31 - 1;

export function addGpuOccupancyCommand(gpu: Command): void {
  gpu
    .command('occupancy')
    .description('how many blocks of a launch an SM holds at once, and which limit stops the next one')
    .argument('<spec>', 'launch spec, a JSON file')
    .addOption(deviceOption())
    .addOption(
      new Option(
        '--registers <number>',
        'registers a thread, in place of the estimate: what ptxas -v says',
      ).argParser(wholeNumber(1, MOST_REGISTERS)),
    )
    .addOption(
      new Option(
        '--block <threads>',
        "threads of a block, in place of the spec's: 256, 16x16, 8x8x4",
      ).argParser(blockShape),
    )
    .addOption(
      new Option(
        '--dynamic-shared <bytes>',
        "dynamic shared memory of a block, in place of the spec's",
      ).argParser(wholeNumber(0, MOST_SHARED_BYTES)),
    )
    .addOption(
      new Option(
        '--carveout <percent>',
        "share of an SM's memory that the launch prefers as shared memory (default: as much as it needs)",
      ).argParser(wholeNumber(0, 100)),
    )
    .option('--json', 'print it as JSON')
    .action(showOccupancy);
}

async function showOccupancy(path: string, options: OccupancyCommandOptions): Promise<void> {
  // Loaded when it is needed: the other commands start without the simulator.
  const { calculateOccupancyFile, occupancyText } =
    await import('../../simulator/occupancyCalculator/index.js');
  const { LaunchSpecError } = await import('../../simulator/launchSpec/index.js');
  try {
    const { device, registers, block, dynamicShared, carveout } = options;
    const report = calculateOccupancyFile(path, {
      ...(device === undefined ? {} : { device }),
      ...(registers === undefined ? {} : { registers }),
      ...(block === undefined ? {} : { block }),
      ...(dynamicShared === undefined ? {} : { dynamicSharedBytes: dynamicShared }),
      ...(carveout === undefined ? {} : { carveoutPercent: carveout }),
    });
    print(options.json, report, occupancyText(report));
  } catch (error) {
    if (!(error instanceof LaunchSpecError)) throw error;
    throw new CommandError(`${path}: ${error.code}: ${error.message}`, { cause: error });
  }
}
