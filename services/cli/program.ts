import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { packageRoot } from '../../simulator/files/index.js';
import { commandsFor } from './commandList.js';

/**
 * The command line. Exit code 0: done; 1: failed, with a message on standard error; 130: stopped by Ctrl-C, `serve` and `node` by a second one.
 * @param args what it will be asked: of commands the one that is named there is loaded, or all
 */
export async function windjammerProgram(args: readonly string[] = []): Promise<Command> {
  const program = new Command('windjammer')
    .description('prediction serving from model containers on a simulated GPU cluster')
    .version(productVersion())
    // A subcommand may have a --version of its own.
    .enablePositionalOptions()
    .showHelpAfterError('(--help shows what there is)');
  for (const add of await commandsFor(args)) add(program);
  return program;
}

function productVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
