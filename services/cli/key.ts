import type { Command } from 'commander';
import type { Scope } from '../access/index.js';
import type { AddKeyFields, KeyAnswer, NewKeyAnswer } from '../management/index.js';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { CommandError } from './commandError.js';
import { wholeNumber } from './optionValues.js';
import { print, printDone, table } from './printing.js';

interface KeyOptions extends ClientOptions {
  readonly dataDir?: string;
}

interface AddOptions extends KeyOptions {
  readonly scope: readonly string[];
  readonly application?: readonly string[];
  readonly model?: readonly string[];
  readonly days?: number;
}

/** As the server has them, whose modules are loaded only where they are needed. */
const SCOPES = ['predict', 'feedback', 'metrics', 'admin'] as const satisfies readonly Scope[];

const SECONDS_A_DAY = 86_400;

/** Where keys are kept: a running server, or the data directory of one that does not run. */
export interface KeyPlace {
  add(fields: AddKeyFields): Promise<NewKeyAnswer>;
  list(): Promise<readonly KeyAnswer[]>;
  remove(id: string): Promise<string>;
}

/** API keys, and who may do what with them. */
export function addKeyCommand(program: Command): void {
  const key = program.command('key').description('API keys: docs/guides/security.md');
  withPlace(
    key
      .command('add')
      .description('make a key and print it, this once; its id goes to standard error')
      .argument('<name>', 'what it is for, in words')
      .requiredOption('--scope <scopes...>', `what it may do: ${SCOPES.join(', ')}; admin implies the others`)
      .option('--application <names...>', 'limit it to these applications')
      .option('--model <names...>', 'limit it to these models, beside the applications')
      .option('--days <number>', 'until it expires', wholeNumber(1, 3650)),
  ).action(add);
  withPlace(key.command('list').description('every key, without its secret')).action(list);
  withPlace(
    key
      .command('remove')
      .description('remove a key: requests with it are refused at once')
      .argument('<id>', 'as list shows it'),
  ).action(async (id: string, options: KeyOptions) =>
    printDone(options.json, await inPlace(options, (place) => place.remove(id))),
  );
  key
    .command('generate')
    .description('print a new key that no server knows yet, for serve --admin-key-file')
    .action(async () => {
      const { newKeyText } = await import('../access/index.js');
      process.stdout.write(`${newKeyText()}\n`);
    });
}

function withPlace(command: Command): Command {
  return withManagementOptions(command).option(
    '--data-dir <folder>',
    'the data directory of a server that does not run, in place of one that does',
  );
}

async function add(name: string, options: AddOptions): Promise<void> {
  const { application, model, days } = options;
  const fields: AddKeyFields = {
    name,
    scopes: options.scope.flatMap((text) => text.split(',')).map(scopeOf),
    applications: application?.flatMap((text) => text.split(',')),
    models: model?.flatMap((text) => text.split(',')),
    lifetime_seconds: days === undefined ? undefined : days * SECONDS_A_DAY,
  };
  const added = await inPlace(options, (place) => place.add(fields));
  // The key alone on standard output, for: export WINDJAMMER_API_KEY=$(windjammer key add ...)
  print(options.json, added, added.key);
  process.stderr.write(`Key ${added.id} is shown this once; keep it.\n`);
}

function scopeOf(text: string): Scope {
  const scope = SCOPES.find((one) => one === text);
  if (scope === undefined) throw new CommandError(`--scope is one of ${SCOPES.join(', ')}, not ${text}`);
  return scope;
}

async function list(options: KeyOptions): Promise<void> {
  const keys = await inPlace(options, (place) => place.list());
  const rows = keys.map((key) => [
    key.id,
    key.name,
    key.scopes.join(' '),
    limitOf(key),
    key.created_at,
    key.expires_at ?? 'never',
  ]);
  print(options.json, keys, table(['ID', 'NAME', 'SCOPES', 'LIMITED TO', 'CREATED', 'EXPIRES'], rows));
}

function limitOf({ applications, models }: KeyAnswer): string {
  const names = [...(applications ?? []), ...(models ?? []).map((model) => `model ${model}`)];
  return names.length === 0 ? '-' : names.join(', ');
}

async function inPlace<T>(options: KeyOptions, act: (place: KeyPlace) => T | Promise<T>): Promise<T> {
  if (options.dataDir !== undefined) {
    const { inDataDirectory } = await import('./keyDirectory.js');
    return inDataDirectory(options.dataDir, act);
  }
  const { management } = await clientOf(options);
  return act({
    add: (fields) => management.addKey(fields),
    list: () => management.keys(),
    remove: (id) => management.deleteKey(id),
  });
}
