import { parseArgs } from 'node:util';
import { requireKernels } from './benchKernels.js';
import { FLAGS } from './compiler.js';
import { PARTS } from './parts.js';

export interface CommandLine {
  /** Parts to run; none for all. */
  readonly parts: readonly string[];
  readonly repeats: number;
  /** Of the C compiler; the floors are meant for those that are given by default. */
  readonly flags: string;
  readonly json: boolean;
  readonly check: boolean;
  /** Folder for the table and picture of what each optimisation brings, instead of the bench. */
  readonly ablation: string | undefined;
}

/** @throws Error that says what is wrong. */
export function commandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parseArgs({
    args: joinFlags(args),
    options: {
      json: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      cflags: { type: 'string', default: FLAGS },
      ablation: { type: 'boolean', default: false },
      out: { type: 'string', default: 'docs/experiments/ptx' },
      repeats: { type: 'string', default: '11' },
    },
    allowPositionals: true,
  });
  const names = PARTS.map(({ name }) => name);
  const unknown = positionals.find((part) => !names.includes(part));
  if (unknown !== undefined) throw new Error(`there is no part '${unknown}', only ${names.join(', ')}`);
  if (values.ablation) requireKernels(positionals);
  if (!/^[1-9]\d{0,3}$/.test(values.repeats))
    throw new Error(`--repeats must be a whole number from 1, not '${values.repeats}'`);
  return {
    parts: positionals,
    repeats: Number(values.repeats),
    flags: values.cflags,
    json: values.json,
    check: values.check,
    ablation: values.ablation ? values.out : undefined,
  };
}

/** `--cflags '-O3 -g'` as one argument: a value that begins with a dash is not taken otherwise. */
function joinFlags(args: readonly string[]): string[] {
  const at = args.indexOf('--cflags');
  const value = args[at + 1];
  if (at < 0 || value === undefined) return [...args];
  return [...args.slice(0, at), `--cflags=${value}`, ...args.slice(at + 2)];
}
