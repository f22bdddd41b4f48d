import { z } from 'zod';
import { ExpressionError, parseExpression } from './expression.js';

/** In a model's folder: what it answers to inputs kept for tests. */
export const GOLDEN_FILE = 'golden.json';

/**
 * A kernel model as data. This schema is the one source of the manifest's types and of its validation; every number that
 * depends on the batch is an expression over `batch` and the manifest's constants (see `expression.ts`).
 */
const name = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
    'a name of up to 64 letters, digits and _ that begins with a letter',
  );

const plainFile = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, 'a plain file name in the folder of the manifest');

const expression = z.union([z.int().nonnegative(), z.string()]).superRefine((source, context) => {
  try {
    parseExpression(source);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});

const shape = z.array(expression).min(1).max(8);

/** The datatypes of the Open Inference Protocol. */
export const DATATYPES = [
  'BOOL',
  'UINT8',
  'UINT16',
  'UINT32',
  'UINT64',
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'FP16',
  'FP32',
  'FP64',
  'BYTES',
] as const;

/** A tensor as clients of the Open Inference Protocol name it; the shape is that of one row, its batch left out. */
const namedTensor = z.strictObject({
  name: z.string().min(1).max(1000),
  datatype: z.enum(DATATYPES),
  shape: z.array(z.int().min(1)).max(16),
});
export type NamedTensor = z.infer<typeof namedTensor>;
const extents = z.tuple([expression, expression, expression]);

/** Bytes of one element on the device. f16 travels as its bits. */
export const DEVICE_ELEMENT_BYTES = { f16: 2, f32: 4, f64: 8, i8: 1, u8: 1, i32: 4, u32: 4 } as const;
const element = z.enum(['f16', 'f32', 'f64', 'i8', 'u8', 'i32', 'u32']);

/** One item of a batch; the device sees the batch's items one after the other. */
const input = z
  .strictObject({
    name,
    /** Strings have no fixed length: an encoding makes doubles of them before the device sees them. */
    type: z.enum(['integers', 'bytes', 'floats', 'doubles', 'strings']),
    /** Of one item, as the device has it. */
    shape,
    /** Of strings: the file that says how they become numbers, and the columns that a query is a list of; without columns it is one text. */
    encoding: z
      .strictObject({
        file: plainFile,
        columns: z.array(z.string().min(1).max(1000)).min(1).max(4096).optional(),
      })
      .optional(),
    /** Values outside [minimum, maximum] are refused; infinities always are. */
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    /** NaN is taken, for a value that is missing (of floats and doubles); otherwise it is refused. */
    missing: z.literal(true).optional(),
    /** What the item is put together of, one behind the other: the inputs of the graph that was imported. */
    tensors: z.array(namedTensor).min(1).max(64).optional(),
  })
  .refine(({ type, missing }) => missing === undefined || type === 'floats' || type === 'doubles', {
    message: 'only floats and doubles have NaN, for a value that is missing',
    path: ['missing'],
  })
  .refine(({ type, encoding }) => (type === 'strings') === (encoding !== undefined), {
    message: 'strings need an encoding, and nothing else has one',
    path: ['encoding'],
  })
  .refine(({ type, minimum, maximum }) => type !== 'strings' || (minimum ?? maximum) === undefined, {
    message: 'strings have no range',
    path: ['minimum'],
  });

/** Constant bytes of the model: `shape` elements, little-endian, from `offsetBytes` of `file`. */
const weight = z.strictObject({
  name,
  element,
  shape,
  file: plainFile,
  offsetBytes: z.int().nonnegative(),
});

/** Scratch on the device, of the whole batch. */
const buffer = z.strictObject({ name, element, shape });

/** Copied back: `shape` elements an item. `tensor` is what it was in the graph that was imported. */
const output = z.strictObject({
  name,
  element: z.enum(['f32', 'f64', 'i32']),
  shape,
  tensor: namedTensor.optional(),
});

const argument = z.union(
  [
    z.strictObject({ pointer: name }),
    z.strictObject({ i32: expression }),
    z.strictObject({ u32: expression }),
    z.strictObject({ i64: expression }),
    z.strictObject({ u64: expression }),
    z.strictObject({ f32: z.number() }),
    z.strictObject({ f64: z.number() }),
  ],
  'one of {"pointer": name}, {"i32" | "u32" | "i64" | "u64": expression}, {"f32" | "f64": number}',
);

const launch = z.strictObject({
  module: name,
  kernel: z.string().min(1),
  grid: extents,
  block: extents,
  dynamicSharedBytes: expression.default(0),
  arguments: z.array(argument).max(64),
});

const answer = z.discriminatedUnion('kind', [
  /** The label of the largest value (the first of equals); `scores` names the output that is answered as scores, in f32. */
  z.strictObject({
    kind: z.literal('argmax'),
    output: name,
    labels: z.array(z.string().min(1)).min(1),
    scores: name.optional(),
  }),
  /** The output's values as a JSON array. */
  z.strictObject({ kind: z.literal('values'), output: name }),
  /** The output's one number, or the label at that place; `scores` as above. */
  z.strictObject({
    kind: z.literal('label'),
    output: name,
    labels: z.array(z.string()).min(1).optional(),
    scores: name.optional(),
  }),
  /** Several outputs: a JSON object of arrays, by the names of their tensors. */
  z.strictObject({ kind: z.literal('tensors'), outputs: z.array(name).min(1) }),
]);

export const manifestSchema = z.strictObject({
  manifestVersion: z.literal(1),
  name: z.string().min(1).max(100),
  description: z.string().default(''),
  /** GPUs that one replica spans. */
  gpus: z.int().min(1),
  maxBatchSize: z.int().min(1).max(65_535),
  constants: z.record(name, z.int().nonnegative()).default({}),
  inputs: z.array(input).length(1, 'exactly one input: a query carries one'),
  weights: z.array(weight),
  buffers: z.array(buffer),
  outputs: z.array(output).min(1),
  modules: z.array(z.strictObject({ name, file: plainFile })).min(1),
  /** In order: each starts when the one before it has finished. */
  launches: z.array(launch).min(1),
  answer,
  limits: z.strictObject({
    /** Device memory of one replica, at most: weights once, everything else once a batch in flight. */
    deviceBytes: z.int().positive(),
    /** PTX thread-instructions that one query may cost; held against a counted launch when a replica starts. */
    threadInstructionsPerQuery: z.int().positive(),
  }),
});

export type KernelModelManifest = z.infer<typeof manifestSchema>;
export type ManifestInput = KernelModelManifest['inputs'][number];
export type ManifestLaunch = KernelModelManifest['launches'][number];
export type ManifestArgument = ManifestLaunch['arguments'][number];
export type ManifestAnswer = KernelModelManifest['answer'];

/** `inputs[0].shape[1]`, as the manifest's author would write it. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : index === 0 ? String(part) : `.${String(part)}`,
    )
    .join('');
}
