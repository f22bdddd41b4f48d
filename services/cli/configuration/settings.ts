import type { Command, Option } from 'commander';
import { closest } from 'fastest-levenshtein';
import { ConfigurationError } from './configurationError.js';
import { readConfigurationFile, type ConfigurationFile } from './configurationFile.js';
import { keyOf, variableOf } from './optionForm.js';
import { ValueFault, valueOfDatum, valueOfText } from './optionValue.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Names the configuration file where no `--config` does. */
const FILE_VARIABLE = 'WINDJAMMER_CONFIG';
const FILE_OPTION = '--config';

/** What a configuration file may have: a section for each of these commands. */
export const SECTIONS = ['serve', 'node'] as const;
export type Section = (typeof SECTIONS)[number];

interface Setting {
  readonly option: Option;
  readonly value: unknown;
}

/**
 * Lets a command have its options from a configuration file, too, and from the environment: a flag wins over the
 * environment, that over the file, that over what is so anyway. What is wrong there ends the command with a
 * ConfigurationError.
 */
export function configurable(
  command: Command,
  section: Section,
  environment: Environment = process.env,
): Command {
  command
    .option(`${FILE_OPTION} <file>`, 'the same options from a YAML file: docs/guides/configuration.md')
    .addHelpText(
      'after',
      `\nEach option is also taken from the environment, as in ${variableOf(optionsOf(command)[0])}. A flag wins over that, and that over the file.`,
    );
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (words) => {
    const parsed = parse(words);
    const isHelp = parsed.unknown.some((word) => word === '--help' || word === '-h');
    if (!isHelp) configure(command, section, environment);
    return parsed;
  };
  return command;
}

/** Options that a file may have. */
export function optionsOf(command: Command): readonly Option[] {
  return command.options.filter(({ long }) => long !== FILE_OPTION);
}

/** Faults of a file, whichever command it is for; none: each can read it. */
export function faultsOf(
  file: ConfigurationFile,
  options: Readonly<Record<Section, readonly Option[]>>,
): readonly string[] {
  return [...sectionFaults(file), ...SECTIONS.flatMap((one) => settingsOf(file, one, options[one]).faults)];
}

function configure(command: Command, section: Section, environment: Environment): void {
  const options = optionsOf(command);
  const path = (command.getOptionValue('config') as string | undefined) ?? given(environment, FILE_VARIABLE);
  const file = path === undefined ? undefined : readConfigurationFile(path);
  const fromFile = file === undefined ? { settings: [], faults: [] } : settingsOf(file, section, options);
  const fromEnvironment = variablesOf(environment, options);
  const faults = [
    ...(file === undefined ? [] : sectionFaults(file)),
    ...fromFile.faults,
    ...fromEnvironment.faults,
  ];
  if (faults.length > 0) throw new ConfigurationError(faults);
  for (const [source, { settings }] of [
    ['config', fromFile],
    ['env', fromEnvironment],
  ] as const) {
    for (const { option, value } of settings) {
      const name = option.attributeName();
      if (command.getOptionValueSource(name) === 'cli') continue;
      // A switch that is off is one that was not given.
      const isOff = value === false && !option.negate;
      command.setOptionValueWithSource(name, isOff ? undefined : value, source);
    }
  }
}

interface Settings {
  readonly settings: readonly Setting[];
  readonly faults: readonly string[];
}

function sectionFaults(file: ConfigurationFile): readonly string[] {
  return [...file].flatMap(([name, { place, entries }]) => {
    if (!SECTIONS.some((one) => one === name)) {
      return [`${place}: there is no section '${name}'; ${nearest(name, SECTIONS)}`];
    }
    return entries === undefined ? [`${place}: expected options below ${name}:, as port: 1337`] : [];
  });
}

function settingsOf(file: ConfigurationFile, section: Section, options: readonly Option[]): Settings {
  const byKey = new Map(options.map((option) => [keyOf(option), option]));
  return collected(file.get(section)?.entries ?? [], ({ key, datum, place }) => {
    const option = byKey.get(key);
    const where = `${place}: ${section}.${key}`;
    if (option === undefined)
      return { fault: `${where}: there is no such option; ${nearest(key, [...byKey.keys()])}` };
    return attempt(option, where, () => valueOfDatum(option, datum));
  });
}

function variablesOf(environment: Environment, options: readonly Option[]): Settings {
  return collected(options, (option) => {
    const variable = variableOf(option);
    const text = given(environment, variable);
    if (text === undefined) return undefined;
    return attempt(option, variable, () => valueOfText(option, text));
  });
}

/** Set and empty is what orchestrators make of a variable without a value. */
function given(environment: Environment, variable: string): string | undefined {
  const text = environment[variable];
  return text === undefined || text === '' ? undefined : text;
}

type Outcome = Setting | { readonly fault: string };

function attempt(option: Option, where: string, read: () => unknown): Outcome {
  try {
    return { option, value: read() };
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    return { fault: `${where}: ${error.message}` };
  }
}

function collected<T>(items: readonly T[], read: (item: T) => Outcome | undefined): Settings {
  const settings: Setting[] = [];
  const faults: string[] = [];
  for (const item of items) {
    const outcome = read(item);
    if (outcome === undefined) continue;
    if ('fault' in outcome) faults.push(outcome.fault);
    else settings.push(outcome);
  }
  return { settings, faults };
}

function nearest(name: string, known: readonly string[]): string {
  return known.length <= 3 ? `there are ${known.join(', ')}` : `is ${closest(name, known)} meant?`;
}
