import type { Command } from 'commander';
import { CommandError } from './commandError.js';

export function addGpuCommand(program: Command): void {
  const gpu = program.command('gpu').description('the GPU simulator by itself');
  gpu
    .command('run')
    .description('run one kernel launch on a simulated GPU and print what it measured as JSON')
    .argument('<spec>', 'launch spec, a JSON file')
    .option('--dump <folder>', 'write every buffer to a file there')
    .action(() => {
      throw new CommandError('gpu run cannot be done yet');
    });
}
