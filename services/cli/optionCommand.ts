import { Command } from 'commander';
import type { Section } from './configuration/index.js';
import { addNodeCommand } from './nodeCommand.js';
import { addServeCommand } from './serveCommand.js';

const ADD: Readonly<Record<Section, (program: Command, environment?: NodeJS.ProcessEnv) => void>> = {
  serve: addServeCommand,
  node: addNodeCommand,
};

/** A command with its options, from flags, environment and file, which does nothing. */
export function optionCommand(section: Section, environment?: NodeJS.ProcessEnv): Command {
  const program = new Command();
  ADD[section](program, environment);
  const [command] = program.commands;
  return command.action(() => undefined);
}
