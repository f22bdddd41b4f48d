import { z } from 'zod';
import { ELEMENT_TYPES, type ElementType } from './elementTypes.js';
import { LaunchSpecError } from './launchSpecError.js';
import { misfit } from './valueRanges.js';

/** A number of one type, exactly; integers may also be strings of decimal digits, as those beyond 2^53 must be. */
function scalar(type: ElementType) {
  return z.custom<number | string>().superRefine((value, context) => {
    const reason = misfit(type, value);
    if (reason !== undefined) context.addIssue({ code: 'custom', message: reason });
  });
}

const extent = z.int().min(1);
const count = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);

const fill = z.strictObject({
  seed: z.int().min(0).max(0xffffffff),
  scale: z.number(),
  shift: z.number(),
});

const forest = {
  depth: z.int().min(1).max(24),
  dim: z.int().min(1),
  classes: z.int().min(1),
};

const generate = z.discriminatedUnion('rule', [
  z.strictObject({
    rule: z.literal('mix.mod'),
    seed: z.int().min(0).max(0xffffffff),
    mod: z.int().min(1).max(0xffffffff),
    plus: z.number().default(0),
  }),
  z.strictObject({ rule: z.literal('forest.feature'), ...forest }),
  z.strictObject({ rule: z.literal('forest.left'), ...forest }),
  z.strictObject({ rule: z.literal('forest.right'), ...forest }),
  z.strictObject({ rule: z.literal('forest.root'), ...forest }),
]);

const GENERATE_RULES = generate.options.map((option) => option.shape.rule.value);

const buffer = z
  .strictObject({
    type: z.enum(ELEMENT_TYPES),
    count,
    out: z.boolean().default(false),
    freed: z.boolean().default(false),
    fill: fill.optional(),
    generate: generate.optional(),
    values: z.array(z.custom<number | string>()).optional(),
  })
  .refine(
    (found) =>
      [found.fill, found.generate, found.values].filter((source) => source !== undefined).length <= 1,
    'give at most one of fill, generate and values',
  )
  .refine((found) => !(found.freed && found.out), {
    message: 'a freed buffer has nothing to report; give at most one of freed and out',
    path: ['freed'],
  })
  .superRefine((found, context) => {
    const { type, count: expected, values } = found;
    if (values === undefined) return;
    if (values.length !== expected) {
      const message = `holds ${values.length} values, but count is ${expected}; give exactly count values`;
      context.addIssue({ code: 'custom', path: ['values'], message });
      return;
    }
    for (const [index, value] of values.entries()) {
      const message = misfit(type, value);
      if (message === undefined) continue;
      context.addIssue({ code: 'custom', path: ['values', index], message });
      return;
    }
  });

const argument = z.union([
  z.strictObject({ i32: scalar('i32') }),
  z.strictObject({ u32: scalar('u32') }),
  z.strictObject({ i64: scalar('i64') }),
  z.strictObject({ u64: scalar('u64') }),
  z.strictObject({ u16: scalar('u16') }),
  z.strictObject({ f32: scalar('f32') }),
  z.strictObject({ f64: scalar('f64') }),
  z.strictObject({ buffer }),
  z.strictObject({ pointer: z.strictObject({ of: z.int().min(0), offsetBytes: z.int().default(0) }) }),
]);
/** In the order of the union's variants. */
const ARGUMENT_KINDS = ['i32', 'u32', 'i64', 'u64', 'u16', 'f32', 'f64', 'buffer', 'pointer'];

const dim3 = z.tuple([extent, extent, extent]);

const spec = z.strictObject({
  ptx: z.string().min(1),
  kernel: z.string().min(1),
  device: z.string().min(1),
  grid: dim3,
  block: dim3,
  dynamicSharedBytes: z.int().min(0).default(0),
  args: z.array(argument),
  expect: z
    .object({
      durationUs: z.number().optional(),
      backToBackUs: z.number().optional(),
      sum: z.number().optional(),
      samples: z.record(z.string().regex(/^\d+$/), z.number()).optional(),
    })
    .optional(),
});

export type LaunchSpec = z.infer<typeof spec>;
export type LaunchArgument = LaunchSpec['args'][number];
export type BufferSpec = z.infer<typeof buffer>;
export type GenerateSpec = z.infer<typeof generate>;

/**
 * Checks a parsed JSON value.
 * @throws LaunchSpecError `invalidSpec`, naming the field and what it should be.
 */
export function checkLaunchSpec(value: unknown): LaunchSpec {
  const result = spec.safeParse(value, { error: explain, reportInput: true });
  if (result.success) return result.data;
  const issue = deepest(result.error.issues);
  const field = issue.path.reduce<string>(
    (path, step) =>
      typeof step === 'number' ? `${path}[${step}]` : path === '' ? String(step) : `${path}.${String(step)}`,
    '',
  );
  throw new LaunchSpecError('invalidSpec', `${field === '' ? 'spec' : field}: ${issue.message}`, field);
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Zod's message in our words, where its own would not tell; undefined leaves it. */
function explain(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    const what = KINDS_IN_WORDS[issue.expected] ?? issue.expected;
    return issue.input === undefined ? `is missing; expected ${what}` : undefined;
  }
  if (issue.code === 'invalid_value') {
    const choice = `expected one of ${issue.values.join(', ')}`;
    return issue.input === undefined ? `is missing; ${choice}` : choice;
  }
  return undefined;
}

const KINDS_IN_WORDS: Readonly<Record<string, string>> = {
  tuple: 'three whole numbers, [x, y, z]',
  int: 'a whole number',
  array: 'an array',
  object: 'an object',
  number: 'a number',
  string: 'a string',
};

/** Of several complaints the deepest one; of a union's, those of the variant that was meant. */
function deepest(issues: readonly z.core.$ZodIssue[]): Issue {
  let best: Issue | undefined;
  const visit = (issue: z.core.$ZodIssue, prefix: readonly PropertyKey[]): void => {
    const path = [...prefix, ...issue.path];
    if (issue.code !== 'invalid_union') return offer(path, issue.message);
    if (issue.discriminator !== undefined) return offer(path, `expected one of ${GENERATE_RULES.join(', ')}`);
    const meant = issue.errors[kindOf(issue.input)];
    if (meant === undefined)
      return offer(path, `expected one of ${ARGUMENT_KINDS.join(', ')}, and no other field`);
    for (const inner of meant) visit(inner, path);
  };
  const offer = (path: readonly PropertyKey[], message: string): void => {
    if (best === undefined || path.length > best.path.length) best = { path, message };
  };
  for (const issue of issues) visit(issue, []);
  return best ?? { path: [], message: 'not a launch spec' };
}

/** Place in ARGUMENT_KINDS of the one field that an argument has, or -1. */
function kindOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return -1;
  const [field, ...others] = Object.keys(value);
  return others.length > 0 ? -1 : ARGUMENT_KINDS.indexOf(field ?? '');
}
