import { z } from 'zod';
import { INPUT_TYPES, LAUNCH_CLASSES } from '../../containers/protocol/index.js';
import { LOSS_NAMES, POLICY_NAMES, type Json } from '../../selection/index.js';
import type { ReplicaStatus } from '../deployment/index.js';
import { FILE_POLICY, MOST_FILE_LENGTH } from '../policyFiles/index.js';
import { MOST_REPLICAS, type BatchingChoice } from '../registry/index.js';

/** Containers that the server runs; any other is refused by its name. */
export const KERNEL_MODEL_CONTAINER = 'windjammer/kernel-model';
export const CONSTANT_CONTAINER = 'windjammer/constant';
export const PROCESS_CONTAINER = 'windjammer/process';
export const PYTHON_CONTAINER = 'windjammer/python';
export const EXEC_CONTAINER = 'windjammer/exec';
/** Of them those that are made of files. */
export const CONTAINERS_WITH_FILES: ReadonlySet<string> = new Set([
  KERNEL_MODEL_CONTAINER,
  PROCESS_CONTAINER,
  PYTHON_CONTAINER,
  EXEC_CONTAINER,
]);
/** What this server runs, for people. */
export const HOSTED_CONTAINERS = `${KERNEL_MODEL_CONTAINER}, ${PROCESS_CONTAINER}, ${PYTHON_CONTAINER}, ${EXEC_CONTAINER} or ${CONSTANT_CONTAINER}`;

/** An hour. */
const MAX_OBJECTIVE_US = 3_600_000_000;
/** A day. */
const MAX_PROCESS_MS = 86_400_000;
/** A server that stops waits for so long at most. */
const MAX_CLOSE_MS = 60_000;
const MAX_TEXT_LENGTH = 65_536;
const MAX_BATCH_SIZE = 65_535;
/** Ten seconds. */
const MAX_BATCH_DELAY_US = 10_000_000;
const MAX_IN_FLIGHT = 1_000_000;

export const BATCHING_STRATEGIES = [
  'aimd',
  'quantile',
  'fixed',
  'none',
] as const satisfies readonly BatchingChoice['strategy'][];

const REPLICA_STATES = [
  'starting',
  'warming',
  'up',
  'draining',
  'down',
] as const satisfies readonly ReplicaStatus['state'][];

// Whether a name is well formed is the registry's to say, with its own code.
const name = z.string();
const text = z.string().max(MAX_TEXT_LENGTH);
const names = z.array(name).min(1).max(64);
/** Any JSON: what was parsed is nothing else. A recursive schema would need references across the OpenAPI document. */
const json = z.unknown().transform((value) => value as Json);

const inputType = z.enum(INPUT_TYPES);
const verbose = z.boolean().default(false).describe('Objects in place of names');
const version = { model_name: name, model_version: name };

const scale = {
  num_replicas: z
    .int()
    .min(0)
    .max(MOST_REPLICAS)
    .optional()
    .describe('Replicas that run; 0: the version stays registered and answers nothing'),
  min_replicas: z
    .int()
    .min(1)
    .max(MOST_REPLICAS)
    .optional()
    .describe('With a larger max_replicas the load decides between them'),
  max_replicas: z.int().min(1).max(MOST_REPLICAS).optional(),
};

const launchClass = z.enum(LAUNCH_CLASSES).optional();

const loss = z.strictObject({
  name: z.string().describe(`One of ${LOSS_NAMES.join(', ')}, or one that policy_file exports`),
  scale: z
    .number()
    .optional()
    .describe('Of numbers: an error so large counts as 1, which is the most; 1 unless given'),
  quantile: z.number().optional().describe('Of pinball: which one models are to answer; 0.5 unless given'),
});

/** A century: as good as for ever. */
const MOST_TTL_DAYS = 36_500;
const lossOfLate = z.number().min(0).max(1);

const policyFile = z
  .strictObject({
    name: z.string().min(1).max(255).describe('Of the file, for messages'),
    content: z.string().max(MOST_FILE_LENGTH).describe('An ES module in JavaScript'),
    content_hash: z
      .string()
      .optional()
      .describe('SHA-256 of the content in UTF-8, in hexadecimal: refused where it is another'),
  })
  .describe(
    `A policy of your own, by its default export, for policy.name ${FILE_POLICY}, and losses; docs/guides/policies.md`,
  );

export const addApplicationSchema = z.strictObject({
  name,
  input_type: inputType,
  default_output: text.describe('Answered when there is no prediction in time'),
  latency_slo_micros: z.int().min(1).max(MAX_OBJECTIVE_US),
  max_in_flight: z
    .int()
    .min(1)
    .max(MAX_IN_FLIGHT)
    .optional()
    .describe(
      'Queries without an answer that it may have; more get the default output at once, with the reason overload. Any number when left out',
    ),
  policy: z
    .strictObject({
      name: z.string().describe(`One of ${POLICY_NAMES.join(', ')}, or ${FILE_POLICY}: that of policy_file`),
      parameters: json.default({}).describe("By name; docs/reference/policies.md has each policy's"),
    })
    .default({ name: 'static', parameters: {} })
    .describe('How linked models are chosen and combined'),
  policy_file: policyFile.optional(),
  strict: z
    .boolean()
    .default(false)
    .describe('Queries that do not say otherwise get an error in place of the default output'),
  launch_class: launchClass.describe(
    `How much the kernels that compute its queries may be made to wait by others on their GPU, under a scheduling policy that asks; each model's own when left out`,
  ),
  context_ttl_days: z
    .int()
    .min(1)
    .max(MOST_TTL_DAYS)
    .optional()
    .describe(
      'What is learned for a context (uid) that was not used for so many days is forgotten; 30 when left out',
    ),
  loss: loss
    .optional()
    .describe('How labels judge its models, for what policies learn; zeroOne, right or wrong, when left out'),
  loss_of_late: lossOfLate
    .optional()
    .describe(
      'What it costs a model, for what policies learn, not to have answered when the time of a query is over, whatever it says: from 0 to 1; nothing when left out',
    ),
});

/** What may change of a registered application; what is left out stays. */
export const setApplicationSchema = z.strictObject({
  name,
  input_type: inputType.optional().describe('Only the present one: what an application takes never changes'),
  ...addApplicationSchema.pick({ default_output: true, latency_slo_micros: true }).partial().shape,
  max_in_flight: addApplicationSchema.shape.max_in_flight.nullable().describe('null: any number'),
  policy: z
    .strictObject({
      name: z
        .string()
        .optional()
        .describe('Another one begins anew, and is taken only where nothing was learned'),
      parameters: json
        .optional()
        .describe("In place of all the present ones; docs/reference/policies.md has each policy's"),
    })
    .optional(),
  policy_file: policyFile.optional(),
  forget_learned: z
    .boolean()
    .default(false)
    .describe('With another policy.name: what was learned under the present one may go'),
  strict: z.boolean().optional(),
  launch_class: launchClass.nullable().describe("null: each model's own"),
  context_ttl_days: addApplicationSchema.shape.context_ttl_days.nullable().describe('null: 30'),
  loss: loss.nullable().optional().describe('null: right or wrong'),
  loss_of_late: lossOfLate.nullable().optional().describe('null: nothing'),
});

const upTo = (mostMs: number) => z.int().min(1).max(mostMs).optional();

/** Containers that run users' code in processes of their own, for people. */
export const PROCESS_CONTAINERS = `${PROCESS_CONTAINER}, ${PYTHON_CONTAINER} or ${EXEC_CONTAINER}`;

/** Of a model in a process; answered as they were given. */
export const processFields = {
  memory_mib: z
    .int()
    .min(16)
    .max(1_048_576)
    .optional()
    .describe(
      `Of a ${PROCESS_CONTAINER}: its JavaScript heap, and all that it takes beside Node itself; of a ${PYTHON_CONTAINER} or ${EXEC_CONTAINER}: all that its processes take. No limit of ours when left out`,
    ),
  environment: z
    .array(
      z
        .string()
        .max(256)
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
    )
    .max(64)
    .optional()
    .describe(
      `Names of the server's environment variables that a ${PROCESS_CONTAINERS} gets beside the usual`,
    ),
  start_timeout_ms: upTo(MAX_PROCESS_MS).describe(`For a ${PROCESS_CONTAINERS} to load; 60000 when left out`),
  batch_timeout_ms: upTo(MAX_PROCESS_MS).describe(
    `For a batch of a ${PROCESS_CONTAINERS}, which is killed after it; 30000 when left out`,
  ),
  close_timeout_ms: upTo(MAX_CLOSE_MS).describe(
    `For a ${PROCESS_CONTAINERS} to end by itself before it is killed; 2000 when left out`,
  ),
};

/** Of one kind of them each. */
export const languageFields = {
  python: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      `What runs a ${PYTHON_CONTAINER}: a name that is looked for on PATH where it runs, or an absolute path; python3 when left out`,
    ),
  command: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      `What a ${EXEC_CONTAINER} is started with, by /bin/sh -c in the folder model_data_path: it reads and writes lines of JSON`,
    ),
};

const modelClass = launchClass.describe(
  `How much the kernels of a ${KERNEL_MODEL_CONTAINER} may be made to wait by others on its GPU, under a scheduling policy that asks, where the application says nothing; standard when left out`,
);

const pinnedGpu = z
  .string()
  .max(256)
  .optional()
  .describe(
    `NODE/INDEX, such as node0/1: the only GPU that replicas of a ${KERNEL_MODEL_CONTAINER} run on; any with room when left out`,
  );

const contentHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256: 64 hexadecimal digits in lower case');

/** Of add_bundle, which has nothing else but the bytes. */
export const bundleSchema = z.strictObject({
  content_hash: contentHash.describe(
    'SHA-256 over the files in their order: of each its name from the folder of the first, a zero byte, its size, a zero byte, its bytes',
  ),
});

export const bundleAnswer = z.object({
  content_hash: contentHash,
  is_there: z.boolean().describe('Whether add_model may name it'),
});

/** Parameters of policy `canary` by their names; the registry says what is wrong with one. */
export const canaryParameters = z.record(z.string(), json);

export const addModelSchema = z.strictObject({
  ...version,
  input_type: inputType,
  labels: z.array(z.string().max(256)).max(65_536).default([]),
  container_name: z
    .string()
    .min(1)
    .max(256)
    .describe(`${HOSTED_CONTAINERS}; any other name where containers dial in (serve --clipper-port)`),
  model_data_path: z
    .string()
    .max(4096)
    .default('')
    .describe(
      `The folder of a ${KERNEL_MODEL_CONTAINER}, the module of a ${PROCESS_CONTAINER} or ${PYTHON_CONTAINER}, the folder that a ${EXEC_CONTAINER} runs in`,
    ),
  content_hash: contentHash
    .optional()
    .describe(
      'Of the files: with model_data_path no others are taken; without it, those that add_bundle has brought',
    ),
  output: text.optional().describe(`What a ${CONSTANT_CONTAINER} answers`),
  launch_class: modelClass,
  gpu: pinnedGpu,
  ...processFields,
  ...languageFields,
  batch_size: z
    .union([z.literal(-1), z.int().min(1).max(MAX_BATCH_SIZE)])
    .default(-1)
    .describe('-1: adaptive; otherwise the largest batch'),
  batching: z
    .enum(BATCHING_STRATEGIES)
    .optional()
    .describe(
      'Unless given: aimd when batch_size is -1, otherwise fixed, which needs a batch_size. none: one input after the other',
    ),
  batch_delay_micros: z
    .int()
    .min(0)
    .max(MAX_BATCH_DELAY_US)
    .optional()
    .describe(
      'A batch that is not full waits so long for company, as far as the deadlines of its queries allow; 0, not at all, when left out',
    ),
  ...scale,
  canary: z
    .union(
      [z.literal(true), canaryParameters],
      'expected true, or an object of parameters such as {"loss": 0.01}',
    )
    .optional()
    .describe(
      'It is tried beside the current version, with a share of the queries that grows, in place of becoming current at once: true, or parameters of the policy canary such as {"loss": 0.01}',
    ),
  warm_up: z
    .boolean()
    .optional()
    .describe('Unless false a new replica answers golden or made-up inputs before it serves'),
});

export const nameSchema = z.strictObject({ name });
export const modelVersionSchema = z.strictObject(version);
export const modelNameSchema = z.strictObject({ model_name: name });
export const scaleSchema = z.strictObject({ ...version, ...scale });
export const linksSchema = z.strictObject({ app_name: name, model_names: names });
export const applicationNameSchema = z.strictObject({ app_name: name });
export const verboseSchema = z.strictObject({ verbose });
export const containerSchema = z.strictObject({ ...version, replica_id: z.int().min(0) });
export const stateSchema = z.strictObject({
  app_name: name,
  uid: z
    .union([z.string().max(128), z.int()])
    .default('')
    .describe("The selection context; '' is the application's own"),
});

export const applicationAnswer = z.object({
  name,
  input_type: inputType,
  default_output: z.string(),
  latency_slo_micros: z.int(),
  max_in_flight: z.int().optional(),
  context_ttl_days: z.int().optional(),
  launch_class: launchClass,
  loss: loss.optional(),
  loss_of_late: lossOfLate.optional(),
  policy: z.object({ name: z.string(), parameters: z.unknown() }),
  policy_file: z
    .object({
      name: z.string(),
      content_hash: z.string(),
      policy: z.string().optional().describe('The name that its default export has'),
      losses: z.array(z.string()),
    })
    .optional(),
  strict: z
    .boolean()
    .describe('Queries that do not say otherwise get an error in place of the default output'),
  linked_models: z.array(name),
});

export const modelAnswer = z.object({
  ...version,
  input_type: inputType,
  input_length: z.int().optional(),
  input_columns: z.array(z.string()).optional(),
  labels: z.array(z.string()),
  container_name: z.string(),
  model_data_path: z.string(),
  content_hash: z
    .string()
    .optional()
    .describe('SHA-256 of its files when it was registered; replicas start from no others'),
  output: z.string().optional(),
  launch_class: modelClass,
  gpu: pinnedGpu,
  ...processFields,
  ...languageFields,
  batch_size: z.int().describe('The largest batch; -1: adaptive'),
  batching: z.enum(BATCHING_STRATEGIES),
  batch_delay_micros: z.int().optional(),
  warm_up: z.boolean(),
  num_replicas: z.int().optional().describe('Replicas that are to run; none of a container that dials in'),
  min_replicas: z.int().optional().describe('With max_replicas: the load decides between them'),
  max_replicas: z.int().optional(),
  replicas_up: z.int().describe('Replicas that take queries now'),
  one_input_micros: z
    .int()
    .optional()
    .describe('What a single input took at the end of the warm-up of its quickest replica, if it has one'),
  warnings: z.array(z.string()).describe('Linked applications whose objective is shorter than that'),
  is_current_version: z.boolean().describe('The version that was chosen last'),
  canary: z
    .enum(['ramping', 'promoted', 'withdrawn', 'aborted'])
    .optional()
    .describe('Of the last version of the model that was tried beside another: get_canary has more'),
  is_serving_version: z
    .boolean()
    .describe('The version that answers: the current one from the moment that a replica of it is up'),
});

export const containerAnswer = z.object({
  ...version,
  replica_id: z.int(),
  state: z.enum(REPLICA_STATES),
  gpu: z.string().optional().describe('NODE/INDEX of the GPU whose memory it holds'),
  restarts: z.int(),
  last_failure: z.string().optional(),
});

export const stateAnswer = z.object({
  app_name: name,
  uid: z.string(),
  policy: z.object({ name: z.string(), parameters: z.unknown() }),
  shares: z
    .record(z.string(), z.number())
    .describe('Share of queries that each model gets; of the vote in an ensemble'),
});

export type AddApplicationRequest = z.infer<typeof addApplicationSchema>;
export type SetApplicationRequest = z.infer<typeof setApplicationSchema>;
export type BundleAnswer = z.infer<typeof bundleAnswer>;
export type AddModelRequest = z.infer<typeof addModelSchema>;

/** What a client writes: fields with a default may be left out. */
export type AddApplicationFields = z.input<typeof addApplicationSchema>;
export type SetApplicationFields = z.input<typeof setApplicationSchema>;
export type AddModelFields = z.input<typeof addModelSchema>;
export type ScaleFields = z.input<typeof scaleSchema>;

/** What a client reads. */
export type ApplicationAnswer = z.infer<typeof applicationAnswer>;
export type ModelAnswer = z.infer<typeof modelAnswer>;
export type ContainerAnswer = z.infer<typeof containerAnswer>;
export type StateAnswer = z.infer<typeof stateAnswer>;
