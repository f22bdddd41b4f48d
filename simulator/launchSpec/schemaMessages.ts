import type { z } from 'zod';
import { ARGUMENT_KINDS, GENERATE_RULES, VALUE_KINDS } from './argumentSchema.js';
import { LaunchSpecError } from './launchSpecError.js';

export interface SchemaIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * Holds a parsed JSON value to a schema.
 * @param at path of the value in the spec; '' for the whole
 * @throws LaunchSpecError `invalidSpec`, naming the field and what it should be
 */
export function checked<T>(schema: z.ZodType<T>, value: unknown, at = ''): T {
  const result = schema.safeParse(value, { error: explainIssue, reportInput: true });
  if (result.success) return result.data;
  const issue = deepestIssue(result.error.issues);
  const field = issue.path.reduce<string>(
    (path, step) =>
      typeof step === 'number' ? `${path}[${step}]` : path === '' ? String(step) : `${path}.${String(step)}`,
    at,
  );
  throw new LaunchSpecError('invalidSpec', `${field === '' ? 'spec' : field}: ${issue.message}`, field);
}

/** Zod's message in our words, where its own would not tell; undefined leaves it. */
export function explainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    const what = KINDS_IN_WORDS[issue.expected] ?? issue.expected;
    return issue.input === undefined
      ? `is missing; expected ${what}`
      : `expected ${what}, found ${shown(issue.input)}`;
  }
  if (issue.code === 'too_small' || issue.code === 'too_big') return explainSize(issue);
  if (issue.code === 'unrecognized_keys') {
    const told = issue.keys.find((key) => Object.hasOwn(NOT_TAKEN, key));
    if (told !== undefined) return `'${told}' is not taken: ${NOT_TAKEN[told] ?? ''}`;
    return `there is no field ${issue.keys.map((key) => `'${key}'`).join(', ')}; leave it out`;
  }
  if (issue.code === 'invalid_value') {
    const choice = `expected one of ${issue.values.join(', ')}`;
    return issue.input === undefined ? `is missing; ${choice}` : choice;
  }
  return undefined;
}

/** Attributes of launches that a card knows, and what to do without. */
const NOT_TAKEN: Readonly<Record<string, string>> = {
  programmaticStreamSerialization:
    'launches of a stream run one after the other here, as griddepcontrol.wait asks and programmatic dependent launch allows; leave it out',
  programmaticEvent: 'launches of a stream run one after the other here; record an event behind the launch',
  clusterSchedulingPolicyPreference: 'a cluster goes to the GPC with the most room; leave it out',
};

function explainSize(issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>): string {
  const isSmall = issue.code === 'too_small';
  const limit = String(isSmall ? issue.minimum : issue.maximum);
  const bound = `${isSmall ? 'at least' : 'at most'} ${limit}`;
  if (issue.origin === 'array' || issue.origin === 'string') {
    const found = (issue.input as { readonly length: number }).length;
    return `expected ${bound} ${issue.origin === 'array' ? 'values' : 'characters'}, found ${found}`;
  }
  return `expected ${bound}, found ${shown(issue.input)}`;
}

/** As it stands in the file, or the beginning of that. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}...`;
}

const MOST_SHOWN = 60;

const KINDS_IN_WORDS: Readonly<Record<string, string>> = {
  tuple: 'three whole numbers, [x, y, z]',
  int: 'a whole number',
  array: 'an array',
  object: 'an object',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  record: 'an object',
};

/** Of several complaints the deepest one; of a union's, those of the variant that was meant. */
export function deepestIssue(issues: readonly z.core.$ZodIssue[]): SchemaIssue {
  let best: SchemaIssue | undefined;
  const visit = (issue: z.core.$ZodIssue, prefix: readonly PropertyKey[]): void => {
    const path = [...prefix, ...issue.path];
    if (issue.code !== 'invalid_union') return offer(path, issue.message);
    if (issue.discriminator !== undefined) return offer(path, `expected one of ${GENERATE_RULES.join(', ')}`);
    const kinds = KINDS_BY_COUNT.get(issue.errors.length);
    if (kinds === undefined) return offer(path, 'expected a whole number or a name');
    const meant = issue.errors[kindOf(issue.input, kinds)];
    if (meant === undefined) return offer(path, `expected one of ${kinds.join(', ')}, and no other field`);
    for (const inner of meant) visit(inner, path);
  };
  const offer = (path: readonly PropertyKey[], message: string): void => {
    if (best === undefined || path.length > best.path.length) best = { path, message };
  };
  for (const issue of issues) visit(issue, []);
  return best ?? { path: [], message: 'not a launch spec' };
}

const KINDS_BY_COUNT: ReadonlyMap<number, readonly string[]> = new Map(
  [ARGUMENT_KINDS, VALUE_KINDS].map((kinds) => [kinds.length, kinds]),
);

/** Place among the kinds of the one field that a value has beside its offset, or -1. */
function kindOf(value: unknown, kinds: readonly string[]): number {
  if (typeof value !== 'object' || value === null) return -1;
  const [field, ...others] = Object.keys(value).filter((key) => key !== 'offset' || kinds === ARGUMENT_KINDS);
  return others.length > 0 ? -1 : kinds.indexOf(field ?? '');
}
