import { Option, type Command } from 'commander';
import { blockShape } from './blockShape.js';
import { CommandError } from './commandError.js';
import { wholeNumber } from './optionValues.js';

interface DisasmCommandOptions {
  readonly kernel?: string;
  readonly block?: readonly [number, number, number];
  readonly dynamicShared?: number;
  readonly lowered?: true;
  readonly device?: string;
  readonly json?: true;
}

export function addGpuDisasmCommand(gpu: Command): void {
  gpu
    .command('disasm')
    .description('show the code of a PTX file by blocks, with loops, registers, memory and occupancy')
    .argument('<ptx>', 'PTX file')
    .option('--kernel <name>', 'only this kernel or device function')
    .addOption(
      new Option(
        '--block <threads>',
        'threads of a block, for the occupancy: 256, 16x16, 8x8x4 (default 256, or the .reqntid)',
      ).argParser(blockShape),
    )
    .addOption(
      new Option('--dynamic-shared <bytes>', 'dynamic shared memory of a block').argParser(
        wholeNumber(0, 2 ** 31 - 1),
      ),
    )
    .option('--lowered', 'the code as it is executed: mul and add contracted, calls resolved')
    .option('--device <name>', 'a name of `gpu devices`, or a JSON file (default h200)')
    .option('--json', 'print it as JSON')
    .action(disassembleFile);
}

async function disassembleFile(path: string, options: DisasmCommandOptions): Promise<void> {
  // Loaded when it is needed: the other commands start without the simulator.
  const room = await import('../../simulator/disassembly/index.js');
  try {
    const found = room.disassembleFile(path, {
      ...(options.kernel === undefined ? {} : { kernel: options.kernel }),
      ...(options.block === undefined ? {} : { block: options.block }),
      ...(options.dynamicShared === undefined ? {} : { dynamicSharedBytes: options.dynamicShared }),
      ...(options.device === undefined ? {} : { device: options.device }),
      lowered: options.lowered === true,
    });
    process.stdout.write(`${options.json === true ? JSON.stringify(found) : room.disassemblyText(found)}\n`);
  } catch (error) {
    if (!(error instanceof room.DisassemblyError)) throw error;
    throw new CommandError(`${error.code}: ${error.message}`, { cause: error });
  }
}
