import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { type InputType, LAUNCH_CLASSES } from '../../containers/protocol/index.js';

import { NAME_PATTERN } from '../registry/index.js';
import { FEATURE_NAME, MOST_FEATURES } from '../../selection/index.js';

/** The largest finite float32. */
export const MAX_FLOAT32 = 3.4028234663852886e38;
/** Inputs in one `input_batch`, unless the server is told otherwise. */
export const MAX_CLIENT_BATCH = 4096;
/** 1 is the most urgent. */
export const LOWEST_PRIORITY = 5;
/** Characters of `uid`, `context`, `query_id` and `idempotency_key`. */
export const MAX_KEY_LENGTH = 128;
export const MAX_VERSION_LENGTH = 64;
export const MAX_LABEL_LENGTH = 65_536;
/** Models that one feedback may judge by themselves. */
export const MOST_LOSSES = 64;
/** An hour: no query waits longer. */
export const MAX_OBJECTIVE_US = 3_600_000_000;

const inputs = {
  doubles: z.array(z.number()).min(1).describe('Finite float64 numbers; whole numbers are welcome'),
  floats: z.array(z.number().min(-MAX_FLOAT32).max(MAX_FLOAT32)).min(1).describe('Rounded to float32'),
  integers: z.array(z.int32()).min(1).describe('int32 numbers'),
  bytes: z.base64().min(1).describe('Standard base64 with padding'),
  strings: z.string().min(1),
} as const satisfies Readonly<Record<InputType, z.ZodType>>;

/** An input of any type as its bytes. */
const typedInput = z
  .object({ b64: z.base64().min(1).describe('Standard base64 with padding') })
  .describe('The bytes of the input: little-endian elements of the input type, UTF-8 of a string');

function typedInputOf(type: InputType) {
  return typedInput.refine(({ b64 }) => areBytesOf(type, Buffer.from(b64, 'base64')), {
    message: `bytes of ${type}`,
  });
}

function areBytesOf(type: InputType, bytes: Buffer): boolean {
  switch (type) {
    case 'doubles':
      return bytes.length % 8 === 0 && areFinite(bytes.length / 8, (index) => bytes.readDoubleLE(index * 8));
    case 'floats':
      return bytes.length % 4 === 0 && areFinite(bytes.length / 4, (index) => bytes.readFloatLE(index * 4));
    case 'integers':
      return bytes.length % 4 === 0;
    case 'bytes':
      return true;
    case 'strings':
      return isUtf8(bytes);
  }
}

function areFinite(count: number, element: (index: number) => number): boolean {
  for (let index = 0; index < count; index++) if (!Number.isFinite(element(index))) return false;
  return true;
}

/** What an input must be, for each input type of an application. */
export const inputSchemas: Readonly<Record<InputType, z.ZodType>> = {
  doubles: z.union([inputs.doubles, typedInputOf('doubles')]),
  floats: z.union([inputs.floats, typedInputOf('floats')]),
  integers: z.union([inputs.integers, typedInputOf('integers')]),
  bytes: z.union([inputs.bytes, typedInputOf('bytes')]),
  strings: z.union([inputs.strings, typedInputOf('strings')]),
};

const columnValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const anyInput = z
  .union([
    z.array(z.number().nullable()).min(1),
    inputs.strings,
    typedInput,
    z.array(columnValue).min(1),
    z.record(z.string(), columnValue),
  ])
  .describe(
    'By input type of the application: an array of numbers (null: a value that is missing, where the linked models take that), a string, or base64 for bytes; or, for any type, its bytes. Strings whose linked models take rows of columns: an array with a value for each column, or an object by their names',
  );

/** Text without half of a surrogate pair, which has no UTF-8. */
function text(minLength: number, maxLength: number) {
  return z
    .string()
    .min(minLength)
    .max(maxLength)
    .refine((value) => !/\p{Surrogate}/u.test(value), { message: 'half of a surrogate pair' });
}

/** A selection context: a string, or an integer that stands for its decimal digits. */
const contextKey = z.union([text(0, MAX_KEY_LENGTH), z.int()]);

const objectiveUs = z
  .int()
  .min(1)
  .max(MAX_OBJECTIVE_US)
  .describe('A shorter latency objective for this query, in microseconds');

const features = z
  .record(z.string().regex(FEATURE_NAME), z.number())
  .refine((value) => Object.keys(value).length <= MOST_FEATURES, {
    message: `at most ${MOST_FEATURES} features`,
  })
  .meta({ maxProperties: MOST_FEATURES });

/** Of one query, on HTTP and on a WebSocket. */
export const predictFields = {
  input: anyInput.optional(),
  version: text(1, MAX_VERSION_LENGTH).optional().describe('Ask this version of a linked model only'),
  uid: contextKey.optional().describe('Selection state is kept for each uid; the same as context'),
  context: contextKey.optional(),
  latency_slo_micros: objectiveUs.optional(),
  strict: z
    .boolean()
    .optional()
    .describe('Answer an error in place of the default output; unless given, as the application says'),
  priority: z.int().min(1).max(LOWEST_PRIORITY).optional().describe('1 is the most urgent; 3 unless given'),
  launch_class: z
    .enum(LAUNCH_CLASSES)
    .optional()
    .describe(
      "How much the kernels that compute it may be made to wait by others on their GPU: the application's class, or a lower one",
    ),
  features: features
    .optional()
    .describe('Finite numbers by name, at most 64: what the policy of the application may choose by'),
};

/**
 * Clipper's body of `POST /:application/predict`, and what we add. Other fields are ignored, as Clipper ignores them.
 * @param maxInputs that a batch may have
 */
export function predictRequestSchema(maxInputs = MAX_CLIENT_BATCH) {
  return z
    .object({
      ...predictFields,
      input_batch: z.array(anyInput).min(1).max(maxInputs).optional(),
      features: z
        .union([features, z.array(features.nullable())])
        .optional()
        .describe('As of one input; with input_batch the same for all, or an array with those of each'),
      votes: z
        .boolean()
        .optional()
        .describe('Ask every linked model as well and add what each one says; with input only'),
    })
    .refine((body) => (body.input === undefined) !== (body.input_batch === undefined), {
      message: 'one of input and input_batch',
    })
    .refine((body) => body.votes !== true || body.input_batch === undefined, {
      message: 'votes with input only',
    })
    .refine((body) => body.uid === undefined || body.context === undefined, {
      message: 'one of uid and context',
    })
    .refine((body) => !Array.isArray(body.features) || body.features.length === body.input_batch?.length, {
      message: 'features of each input with input_batch only',
    });
}

/** Of feedback, on HTTP and on a WebSocket. */
export const updateFields = {
  query_id: text(1, MAX_KEY_LENGTH).optional().describe('The query that is judged'),
  input: anyInput.optional().describe('Or its input'),
  label: z
    .union([text(0, MAX_LABEL_LENGTH), z.number()])
    .optional()
    .describe('The true output; may be absent where a loss or reward is there'),
  loss: z.number().min(0).max(1).optional().describe('When the application measured the loss itself'),
  reward: z.number().min(0).max(1).optional().describe('In place of loss: 1 less the loss'),
  losses: z
    .record(z.string().regex(NAME_PATTERN), z.number().min(0).max(1))
    .refine((value) => Object.keys(value).length >= 1 && Object.keys(value).length <= MOST_LOSSES, {
      message: `1 to ${MOST_LOSSES} losses`,
    })
    .optional()
    .describe('Of single models, by name: of the others only what the label says is learned'),
  idempotency_key: text(1, MAX_KEY_LENGTH)
    .optional()
    .describe(
      'Your own name for this feedback, of this application: sent again under the same one it is learned from once',
    ),
  features: features.optional().describe('With an input; those of a query are remembered with it'),
  uid: contextKey.optional(),
  context: contextKey.optional(),
};

export const updateRequestSchema = z
  .object(updateFields)
  .refine((body) => (body.input === undefined) !== (body.query_id === undefined), {
    message: 'one of input and query_id',
  })
  .refine((body) => body.uid === undefined || body.context === undefined, {
    message: 'one of uid and context',
  })
  .refine(
    ({ label, loss, reward, losses }) => [label, loss, reward, losses].some((one) => one !== undefined),
    {
      message: 'one of label, loss, reward and losses',
    },
  )
  .refine(
    ({ loss, reward, losses }) => [loss, reward, losses].filter((one) => one !== undefined).length <= 1,
    {
      message: 'at most one of loss, reward and losses',
    },
  )
  .refine((body) => body.features === undefined || body.query_id === undefined, {
    message: 'features with input only',
  });

export const DEFAULT_REASONS = [
  'no_linked_model',
  'no_replica',
  'deadline',
  'model_error',
  'overload',
  'low_confidence',
] as const;

export const MISSING_VOTES = ['deadline', 'no_replica', 'model_error', 'overload'] as const;

const voteSchema = z.object({
  name: z.string(),
  version: z.string(),
  cached: z.boolean(),
  output: z.unknown().optional().describe('What the model answered; absent when missing is there'),
  scores: z.array(z.number().nullable()).optional().describe('One for each class, when the model gives them'),
  missing: z.enum(MISSING_VOTES).optional().describe('Why the model gave no answer'),
});

export const predictionSchema = z.object({
  query_id: z.string().describe('Names the query in feedback'),
  output: z.unknown().describe('The output as JSON when it parses as JSON, otherwise as a string'),
  default: z.boolean().describe('The output is the default output of the application'),
  default_reason: z.enum(DEFAULT_REASONS).optional(),
  default_explanation: z.string().optional(),
  confidence: z.number().describe('Share of the asked models that agree with the output'),
  cached: z.boolean().describe('Every prediction in the answer came from the cache'),
  models: z.array(z.object({ name: z.string(), version: z.string(), cached: z.boolean() })),
  votes: z
    .array(voteSchema)
    .optional()
    .describe('With votes: one for each linked model, in order of linking'),
});

export const updateAnswerSchema = z.object({
  accepted: z.literal(true),
  joined: z
    .enum(['query', 'cache', 'evaluated', 'queued', 'repeated', 'pinned', 'none'])
    .describe(
      'Where the predictions that are judged came from; queued: they are looked for when it is its turn; repeated: the query was judged before, or the key was there, and nothing changed; pinned: the state learns nothing at present',
    ),
  durable: z
    .boolean()
    .describe('What was learned is on disk; false: it is in memory and will be written again'),
});
