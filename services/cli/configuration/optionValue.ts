import { InvalidArgumentError, type Option } from 'commander';
import { formOf, type OptionForm } from './optionForm.js';

/** Why a value is refused; where it stands is told by who has it. */
export class ValueFault extends Error {
  override readonly name = 'ValueFault';
}

/** The value of an option from what a file has for it. @throws ValueFault */
export function valueOfDatum(option: Option, datum: unknown): unknown {
  const form = formOf(option);
  switch (form.kind) {
    case 'switch':
      if (typeof datum !== 'boolean') throw new ValueFault(`expected true or false, not ${shown(datum)}`);
      return datum;
    case 'number':
      if (typeof datum !== 'number')
        throw new ValueFault(`expected ${numberText(form)}, not ${shown(datum)}`);
      return parsed(option, [String(datum)]);
    case 'text':
      if (typeof datum !== 'string')
        throw new ValueFault(`expected text, not ${shown(datum)}${quoteHint(datum)}`);
      return parsed(option, [datum]);
    case 'list': {
      const words: readonly unknown[] = Array.isArray(datum) ? datum : [datum];
      const wrong = words.find((word) => typeof word !== 'string');
      if (wrong !== undefined || words.length === 0) {
        throw new ValueFault(
          words.length === 0
            ? 'expected one value at least: leave the key out for none'
            : `expected a list of texts, not ${shown(wrong)}${quoteHint(wrong)}`,
        );
      }
      return parsed(option, form.isRepeated ? words.map(String) : [words.join(',')]);
    }
  }
}

/** The value of an option from the text of a variable. @throws ValueFault */
export function valueOfText(option: Option, text: string): unknown {
  const form = formOf(option);
  if (form.kind === 'switch') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new ValueFault(`expected true or false, not '${text}'`);
  }
  const isRepeated = form.kind === 'list' && form.isRepeated;
  return parsed(option, isRepeated ? text.split(',').map((word) => word.trim()) : [text]);
}

function parsed(option: Option, texts: readonly string[]): unknown {
  const parse = option.parseArg as ((text: string, before: unknown) => unknown) | undefined;
  let value: unknown;
  for (const text of texts) {
    try {
      value = parse === undefined ? text : parse(text, value);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new ValueFault(`${error.message.replace(/\.$/, '')}; not '${text}'`);
    }
  }
  return value;
}

function numberText({ isWhole, least, most }: Extract<OptionForm, { readonly kind: 'number' }>): string {
  return `a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}`;
}

function shown(datum: unknown): string {
  if (typeof datum === 'string') return `'${datum}'`;
  if (typeof datum === 'number' || typeof datum === 'boolean') return String(datum);
  if (datum === null) return 'nothing';
  return Array.isArray(datum) ? 'a list' : 'keys and values';
}

/** YAML reads `on`, `1` and `1e3` as no texts. */
function quoteHint(datum: unknown): string {
  return typeof datum === 'number' || typeof datum === 'boolean' ? ': write it in quotes' : '';
}
