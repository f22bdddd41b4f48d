import type { Command, Option } from 'commander';

/** An option as a shell may offer it. */
export interface CompletionOption {
  /** `--json`, or `-h` and `--help`. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Values that it can have; empty: any. */
  readonly choices: readonly string[];
}

/** What may follow one command. */
export interface CompletionPlace {
  /** Names from the program down, without its own: '' or 'app add'. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletionOption[];
  /** Values of its first argument, where they are listed. */
  readonly argumentChoices: readonly string[];
}

/** Every command of a program, itself first. */
export function commandPlaces(program: Command): readonly CompletionPlace[] {
  return placesOf(program, '');
}

function placesOf(command: Command, path: string): CompletionPlace[] {
  const children = [...command.commands];
  const help: CompletionOption = {
    flags: ['-h', '--help'],
    description: 'show what there is',
    takesValue: false,
    choices: [],
  };
  const [first] = command.registeredArguments;
  return [
    {
      path,
      commands: children.map((child) => ({ name: child.name(), description: child.description() })),
      options: [...command.options.filter(({ hidden }) => !hidden).map(optionOf), help],
      argumentChoices: first?.argChoices ?? [],
    },
    ...children.flatMap((child) => placesOf(child, `${path} ${child.name()}`.trim())),
  ];
}

function optionOf(option: Option): CompletionOption {
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  };
}
