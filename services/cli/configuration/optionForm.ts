import type { Option } from 'commander';

/** What the value of an option is, as a configuration file has it. */
export type OptionForm =
  | { readonly kind: 'switch' }
  | { readonly kind: 'text'; readonly choices?: readonly string[] }
  | NumberForm
  /** Words: with commas between them in one value, or in a value each where `isRepeated`. */
  | { readonly kind: 'list'; readonly isRepeated: boolean };

export interface NumberForm {
  readonly kind: 'number';
  readonly isWhole: boolean;
  readonly least: number;
  readonly most: number;
}

/** Makes a value of an option from its text. @throws InvalidArgumentError */
export type OptionParser = (text: string, before?: never) => unknown;

const forms = new WeakMap<object, NumberForm | Extract<OptionForm, { readonly kind: 'list' }>>();

/** Says what the values are that a parser takes; text unless it is said. */
export function withForm<Parser extends OptionParser>(
  form: NumberForm | Extract<OptionForm, { readonly kind: 'list' }>,
  parser: Parser,
): Parser {
  forms.set(parser, form);
  return parser;
}

export function formOf(option: Option): OptionForm {
  if (option.isBoolean() || option.negate) return { kind: 'switch' };
  const form = option.parseArg === undefined ? undefined : forms.get(option.parseArg);
  if (form !== undefined) return form;
  return option.argChoices === undefined ? { kind: 'text' } : { kind: 'text', choices: option.argChoices };
}

/** The name of an option in configuration files: that of its flag, without `--` and `no-`. */
export function keyOf(option: Option): string {
  return (option.long ?? '').replace(/^--(no-)?/, '');
}

/** The variable of the environment that has the value of an option. */
export function variableOf(option: Option): string {
  return `WINDJAMMER_${keyOf(option).toUpperCase().replaceAll('-', '_')}`;
}
