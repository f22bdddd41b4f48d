import { Option, type Command } from 'commander';
import { CommandError } from './commandError.js';
import { addGpuCheckCommand } from './gpuCheck.js';
import { addGpuDisasmCommand } from './gpuDisasm.js';
import { addGpuProfileCommand } from './gpuProfile.js';

export function addGpuCommand(program: Command): void {
  const gpu = program.command('gpu').description('the GPU simulator by itself');
  gpu
    .command('run')
    .description(
      'run one kernel launch on a simulated GPU and print what it measured, as JSON on standard output',
    )
    .argument('<spec>', 'launch spec, a JSON file')
    .addOption(
      new Option('--dump <folder>', 'write each reported buffer, raw and little-endian, to arg<k>.bin there'),
    )
    .action(runSpec);
  addGpuCheckCommand(gpu);
  addGpuDisasmCommand(gpu);
  addGpuProfileCommand(gpu);
}

async function runSpec(path: string, { dump }: { readonly dump?: string }): Promise<void> {
  // Loaded when it is needed: the other commands start without the simulator.
  const { LaunchSpecError, runLaunchSpecFile } = await import('../../simulator/launchSpec/index.js');
  try {
    const result = runLaunchSpecFile(path, {
      stopwatch: () => Number(process.hrtime.bigint()) / 1e9,
      ...(dump === undefined ? {} : { dumpDirectory: dump }),
    });
    // Standard output holds the JSON alone, which has the kernel's text as a field; people read it here.
    if (result.printed !== undefined) process.stderr.write(result.printed);
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } catch (error) {
    if (!(error instanceof LaunchSpecError)) throw error;
    if (error.printed !== undefined) process.stderr.write(error.printed);
    throw new CommandError(`${path}: ${error.code}: ${error.message}`, { cause: error });
  }
}
