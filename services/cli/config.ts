import { Argument, type Command } from 'commander';
import { stringify } from 'yaml';
import { reasonOf } from '../../simulator/text/index.js';
import {
  ConfigurationError,
  configurationSchema,
  faultsOf,
  keyOf,
  optionsOf,
  readConfigurationFile,
  SECTIONS,
  type Section,
} from './configuration/index.js';
import type { NodeOptions } from './nodeCommand.js';
import { optionCommand } from './optionCommand.js';
import { withoutPassword } from './shownSecrets.js';
import type { ServeOptions } from './serveCommand.js';

export function addConfigCommand(program: Command): void {
  const config = program
    .command('config')
    .description('configuration files of serve and node: docs/guides/configuration.md');
  config
    .command('check')
    .description('say what is wrong in a configuration file; nothing is started or reached')
    .argument('<file>', 'YAML')
    .action(async (file: string) => {
      process.stdout.write(`${file} can be used: ${(await checkFile(file)).join(' and ')}.\n`);
    });
  config
    .command('print')
    .description(
      'print what a command would run with, as a configuration file: from flags, environment, file and defaults',
    )
    .addArgument(new Argument('<command>', 'whose').choices(SECTIONS))
    .argument('[flags...]', 'that it would be given; --config names a file')
    .passThroughOptions()
    .allowUnknownOption()
    .action((section: Section, flags: readonly string[]) => {
      const command = optionCommand(section);
      command.parse(flags, { from: 'user' });
      process.stdout.write(effective(command, section));
    });
  config
    .command('schema')
    .description('print the JSON schema of configuration files')
    .action(() => {
      process.stdout.write(configurationSchemaText());
    });
}

/** As it is committed in docs/reference. */
export function configurationSchemaText(): string {
  return `${JSON.stringify(configurationSchema(allOptions()), null, 2)}\n`;
}

/**
 * @returns the sections that it has
 * @throws ConfigurationError (as a rejection) with all that is wrong
 */
async function checkFile(path: string): Promise<readonly Section[]> {
  const file = readConfigurationFile(path);
  const faults = faultsOf(file, allOptions());
  if (faults.length > 0) throw new ConfigurationError(faults);
  const sections = SECTIONS.filter((section) => file.has(section));
  if (sections.length === 0) {
    throw new ConfigurationError([`${path}: it says nothing; its sections are ${SECTIONS.join(', ')}`]);
  }
  const contradictions: string[] = [];
  for (const section of sections) {
    const command = optionCommand(section, {});
    try {
      command.parse(['--config', path, ...stillMissing(command, file.get(section)?.entries ?? [])], {
        from: 'user',
      });
      await PLANS[section](command);
    } catch (error) {
      contradictions.push(`${path}: ${section}: ${reasonOf(error)}`);
    }
  }
  if (contradictions.length > 0) throw new ConfigurationError(contradictions);
  return sections;
}

/** What a file need not have, since the environment or flags may: it is made up, so that the rest can be checked. */
function stillMissing(command: Command, entries: readonly { readonly key: string }[]): readonly string[] {
  const isThere = (key: string) => entries.some((entry) => entry.key === key);
  return optionsOf(command)
    .filter((option) => option.mandatory && !isThere(keyOf(option)))
    .map((option) => `${option.long ?? ''}=${MADE_UP[keyOf(option)] ?? ''}`);
}

const MADE_UP: Readonly<Record<string, string>> = { name: 'any', listen: '127.0.0.1:0' };

/** What is checked beyond each value. */
const PLANS: Readonly<Record<Section, (command: Command) => Promise<void>>> = {
  serve: async (command) => {
    const { servePlan } = await import('./servePlan.js');
    const { ServerCertificates } = await import('../http/index.js');
    const { settings } = await servePlan(command.opts<ServeOptions>(), {}, () => undefined);
    new ServerCertificates(settings.tls ?? {}, () => undefined).close();
  },
  node: async (command) => {
    const { nodePlan } = await import('./nodePlan.js');
    const { certificates } = await nodePlan(command.opts<NodeOptions>(), () => undefined);
    certificates?.close();
  },
};

function allOptions(): Readonly<Record<Section, Command['options']>> {
  return { serve: optionCommand('serve').options, node: optionCommand('node').options };
}

function effective(command: Command, section: Section): string {
  const values = optionsOf(command).flatMap((option) => {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (value === undefined) return [];
    const source = command.getOptionValueSource(option.attributeName()) ?? 'default';
    return [[keyOf(option), withoutPassword(textOf(value)), SOURCES[source] ?? source]] as const;
  });
  const lines = values.map(([key, value, source]) => {
    // Lists as JSON has them, which YAML reads: one line an option.
    const text = Array.isArray(value) ? JSON.stringify(value) : stringify(value).trim();
    return `  ${key}: ${text} # ${source}`;
  });
  return `${section}:\n${lines.join('\n')}\n`;
}

/** What a parser has made of a text, as that text. */
function textOf(value: unknown): unknown {
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- each parser's objects say what they were made of
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? String(value) : value;
}

const SOURCES: Readonly<Record<string, string>> = {
  default: 'as always',
  cli: 'by a flag',
  env: 'by the environment',
  config: 'by the file',
};
