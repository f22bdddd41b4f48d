import { parseArgs, type ParseArgsConfig } from 'node:util';
import { closest } from 'fastest-levenshtein';
import { reasonOf } from '../../simulator/text/index.js';
import { ResultFolder } from './resultFolder.js';

type Options = NonNullable<ParseArgsConfig['options']>;

/** What an experiment says of itself before it runs. */
export interface ExperimentDescription<T extends Options = Options> {
  /** Below docs/experiments, where its files lie unless it is told. */
  readonly folder: string;
  /** What `--seed` is unless it is told; undefined: nothing in it is drawn, and it takes none. */
  readonly seed?: number;
  /** Beside `--seed` and `--folder`. */
  readonly options?: T;
  /** What it takes that is no option, as its usage names it. */
  readonly words?: string;
}

/** What somebody has asked for. */
export interface ExperimentArguments<T extends Options> {
  readonly values: ReturnType<typeof parseArgs<{ options: T }>>['values'];
  readonly words: readonly string[];
  /** NaN where the experiment takes none. */
  readonly seed: number;
  readonly folder: ResultFolder;
}

/** The user's mistake, in a sentence. */
export class ArgumentError extends Error {}

const LARGEST_SEED = 2 ** 31 - 1;

/**
 * Reads the arguments of an experiment and makes its folder.
 * @param name of the experiment; its printed tables are kept under its last part
 * @throws ArgumentError for an option that it does not have, naming those that it has
 */
export function experimentArguments<T extends Options = Record<never, never>>(
  name: string,
  description: ExperimentDescription<T>,
  words: readonly string[] = process.argv.slice(2),
): ExperimentArguments<T> {
  const { values, positionals } = checkedArguments(description, words);
  const { folder, seed, ...own } = values;
  return {
    values: own as ExperimentArguments<T>['values'],
    words: positionals,
    seed: seed === undefined ? NaN : Number(seed),
    folder: new ResultFolder(description.folder, folder as string | undefined, name),
  };
}

/** @throws ArgumentError as `experimentArguments`, without making anything */
export function checkedArguments(
  { seed, options = {}, words: named }: ExperimentDescription,
  words: readonly string[],
): { readonly values: Readonly<Record<string, unknown>>; readonly positionals: readonly string[] } {
  const known: Options = {
    ...options,
    folder: { type: 'string' },
    ...(seed === undefined ? {} : { seed: { type: 'string', default: String(seed) } }),
  };
  for (const word of words) {
    if (!word.startsWith('--')) continue;
    const name = word.slice(2).split('=')[0];
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known);
    throw new ArgumentError(
      `there is no option --${name}; did you mean --${closest(name, names)}? There are: ${names.map((one) => `--${one}`).join(', ')}`,
    );
  }
  const parsed = parsedWords(known, named !== undefined, words);
  const given = parsed.values['seed'];
  if (typeof given === 'string' && !(/^\d+$/.test(given) && Number(given) <= LARGEST_SEED)) {
    throw new ArgumentError(`--seed must be a whole number up to ${LARGEST_SEED}, not '${given}'`);
  }
  return parsed;
}

function parsedWords(
  options: Options,
  allowPositionals: boolean,
  words: readonly string[],
): ReturnType<typeof checkedArguments> {
  try {
    return parseArgs({ args: [...words], options, allowPositionals });
  } catch (error) {
    throw new ArgumentError(reasonOf(error));
  }
}

/** A line that says what it takes. */
export function usageOf(name: string, { seed, options = {}, words }: ExperimentDescription): string {
  const parts = [
    ...(words === undefined ? [] : [words]),
    ...(seed === undefined ? [] : [`[--seed N]`]),
    '[--folder FOLDER]',
    ...Object.entries(options).map(([option, { type, multiple = false }]) =>
      type === 'boolean' ? `[--${option}]` : `[--${option} ${option.toUpperCase()}${multiple ? ' …' : ''}]`,
    ),
  ];
  return `npm run experiment ${name} -- ${parts.join(' ')}`;
}
