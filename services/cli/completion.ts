import { Argument, type Command } from 'commander';
import { commandPlaces } from './completionPlaces.js';
import { bashScript, fishScript, zshScript } from './completionScripts.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

const HOW = `
Examples:
  bash: source <(windjammer completion bash)
  zsh:  source <(windjammer completion zsh)
  fish: windjammer completion fish | source`;

/** Scripts made from the program itself, when it is asked: what was added to it anywhere is in them. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that lets a shell complete commands and options')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HOW)
    .action((shell: Shell) => {
      process.stdout.write(SCRIPTS[shell](program.name(), commandPlaces(program)));
    });
}
