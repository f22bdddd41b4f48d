import { z } from 'zod';
import { ELEMENT_TYPES } from './elementTypes.js';
import { LaunchSpecError } from './launchSpecError.js';

const integer = z.int();
const wide = z.union([z.int(), z.string().regex(/^-?\d{1,20}$/, 'expected a whole number')]);
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

const buffer = z
  .strictObject({
    type: z.enum(ELEMENT_TYPES),
    count,
    out: z.boolean().default(false),
    fill: fill.optional(),
    generate: generate.optional(),
    values: z.array(z.union([z.number(), z.string().regex(/^-?\d{1,20}$/)])).optional(),
  })
  .refine(
    (found) =>
      [found.fill, found.generate, found.values].filter((source) => source !== undefined).length <= 1,
    'give at most one of fill, generate and values',
  )
  .refine((found) => found.values === undefined || found.values.length === found.count, {
    message: 'values must hold exactly count elements',
    path: ['values'],
  });

const argument = z.union([
  z.strictObject({ i32: integer.min(-(2 ** 31)).max(2 ** 31 - 1) }),
  z.strictObject({ u32: integer.min(0).max(2 ** 32 - 1) }),
  z.strictObject({ i64: wide }),
  z.strictObject({ u64: wide }),
  z.strictObject({ u16: integer.min(0).max(65535) }),
  z.strictObject({ f32: z.number() }),
  z.strictObject({ f64: z.number() }),
  z.strictObject({ buffer }),
  z.strictObject({ pointer: z.strictObject({ of: z.int().min(0), offsetBytes: z.int().default(0) }) }),
]);

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
  const result = spec.safeParse(value);
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

/** Of a union's many complaints, the one of the variant that got furthest: it is the one that was meant. */
function deepest(issues: readonly z.core.$ZodIssue[]): Issue {
  let best: Issue | undefined;
  const visit = (issue: z.core.$ZodIssue, prefix: readonly PropertyKey[]): void => {
    const path = [...prefix, ...issue.path];
    if (issue.code === 'invalid_union') {
      const known = issue.errors.filter(
        (variant) => !variant.some((inner) => inner.code === 'unrecognized_keys'),
      );
      for (const variant of known) for (const inner of variant) visit(inner, path);
      if (known.length > 0) return;
      offer(path, 'expected one of i32, u32, i64, u64, u16, f32, f64, buffer, pointer');
      return;
    }
    offer(path, issue.message);
  };
  const offer = (path: readonly PropertyKey[], message: string): void => {
    if (best === undefined || path.length > best.path.length) best = { path, message };
  };
  for (const issue of issues) visit(issue, []);
  return best ?? { path: [], message: 'not a launch spec' };
}
