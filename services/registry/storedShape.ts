import { z } from 'zod';
import { INPUT_TYPES, LAUNCH_CLASSES } from '../../containers/protocol/index.js';
import { checkLoss, checkPolicy, LOSS_NAMES, PolicyError, type Json } from '../../selection/index.js';
import { FILE_POLICY } from '../policyFiles/index.js';
import { shapeFault } from '../json/index.js';
import { MOST_REPLICAS } from './registry.js';

const name = z.string().min(1);
const launchClass = z.enum(LAUNCH_CLASSES).optional();
const range = z.looseObject({
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  missing: z.literal(true).optional(),
});

const application = z.looseObject({
  name,
  inputType: z.enum(INPUT_TYPES),
  defaultOutput: z.string(),
  latencyObjectiveUs: z.int().min(1),
  strict: z.boolean().optional(),
  policy: z.looseObject({ name, parameters: z.unknown() }),
  maxInFlight: z.int().min(1).optional(),
  contextTtlDays: z.int().min(1).optional(),
  launchClass,
  policyFile: z
    .looseObject({
      name,
      hash: name,
      traits: z.looseObject({
        name: z.string().optional(),
        parameters: z.array(z.string()),
        methods: z.array(z.string()),
        isShared: z.boolean(),
        isPropensityUnknown: z.boolean(),
        losses: z.array(z.string()),
      }),
    })
    .optional(),
  fileLoss: z.string().optional(),
  loss: z
    .looseObject({
      name: z.enum(LOSS_NAMES),
      scale: z.number().optional(),
      quantile: z.number().optional(),
    })
    .optional(),
  lossOfLate: z.number().min(0).max(1).optional(),
});

const ownProcess = {
  path: z.string(),
  memoryMiB: z.number().optional(),
  environment: z.array(z.string()).optional(),
  limits: z.record(z.string(), z.number()).optional(),
};
const container = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('kernelModel'),
    path: z.string(),
    launchClass,
    gpu: z.string().optional(),
    memory: z
      .looseObject({ arrayBytes: z.number(), moduleBytes: z.number(), backingBytes: z.number() })
      .optional(),
    misfits: z.record(z.string(), z.string()).optional(),
  }),
  z.looseObject({ kind: z.literal('constant'), output: z.string() }),
  z.looseObject({ kind: z.literal('process'), ...ownProcess }),
  z.looseObject({ kind: z.literal('python'), ...ownProcess, python: z.string().min(1).optional() }),
  z.looseObject({ kind: z.literal('exec'), ...ownProcess, command: z.string().min(1) }),
  z.looseObject({ kind: z.literal('external'), containerName: z.string(), modelDataPath: z.string() }),
]);

const delayUs = z.number().min(0).optional();
const batching = z.discriminatedUnion('strategy', [
  z.looseObject({ strategy: z.literal('aimd'), delayUs }),
  z.looseObject({ strategy: z.literal('quantile'), delayUs }),
  z.looseObject({ strategy: z.literal('fixed'), maxBatchSize: z.int().min(1), delayUs }),
  z.looseObject({ strategy: z.literal('none') }),
]);

const model = z.looseObject({
  name,
  version: name,
  inputType: z.enum(INPUT_TYPES),
  inputLength: z.int().min(0).optional(),
  inputRange: range.optional(),
  inputColumns: z.array(z.string()).optional(),
  labels: z.array(z.string()),
  container,
  batching,
  contentHash: z.string().optional(),
  warmUp: z.literal(false).optional(),
});

const policyFile = z.looseObject({ name, text: z.string() });

const replicas = z.int().min(0).max(MOST_REPLICAS);
const scaled = {
  replicas,
  range: z.looseObject({ minimum: replicas, maximum: replicas }).optional(),
};
const scale = z.looseObject({ ...scaled, resting: z.looseObject(scaled).optional() });

/** Of earlier programs a number, the elements of an input. */
const declared = z.union([
  z.number(),
  z.looseObject({ length: z.number().optional(), range: range.optional() }),
]);

const canary = z.looseObject({
  model: name,
  candidate: name,
  incumbent: name,
  number: z.int().min(1),
  parameters: z.unknown(),
  end: z.looseObject({ kind: z.enum(['promoted', 'withdrawn', 'aborted']), reason: z.string() }).optional(),
});

const SHAPES: ReadonlyMap<string, { readonly parts: number; readonly shape: z.ZodType }> = new Map([
  ['application', { parts: 3, shape: application }],
  ['model', { parts: 4, shape: model }],
  ['current', { parts: 3, shape: name }],
  ['former', { parts: 3, shape: z.array(name) }],
  ['scale', { parts: 4, shape: scale }],
  ['declared', { parts: 4, shape: declared }],
  ['policyFile', { parts: 3, shape: policyFile }],
  ['canary', { parts: 3, shape: canary }],
  ['links', { parts: 3, shape: z.array(name) }],
]);

/**
 * Whether the registry can read what is kept under a key of its own: from whatever program, it may have been edited.
 * @param parts of the key, `registry` first
 * @returns what is wrong with it; undefined: nothing is
 */
export function registryFault(parts: readonly string[], value: Json): string | undefined {
  const known = SHAPES.get(parts[1] ?? '');
  // Of later programs.
  if (known === undefined) return undefined;
  if (parts.length !== known.parts) return `its key has ${parts.length} parts, and ${known.parts} are read`;
  const fault = shapeFault(known.shape, value);
  if (fault !== undefined) return fault;
  if (parts[1] === 'application')
    return applicationFault(parts, value as unknown as z.infer<typeof application>);
  if (parts[1] === 'canary') return canaryFault(parts, value as unknown as z.infer<typeof canary>);
  if (parts[1] === 'model') return modelFault(parts, value as unknown as z.infer<typeof model>);
  return undefined;
}

function applicationFault(
  [, , key]: readonly string[],
  { name: own, policy, policyFile, loss }: z.infer<typeof application>,
): string | undefined {
  if (own !== key) return `it is the record of '${own}'`;
  return (
    (policy.name === FILE_POLICY
      ? policyFile?.traits.name === undefined
        ? 'policyFile: it is not there'
        : undefined
      : choiceFault('policy', () => checkPolicy(policy.name, policy.parameters as Json))) ??
    choiceFault('loss', () => loss && checkLoss(loss))
  );
}

function canaryFault(
  [, , key]: readonly string[],
  { model: own, parameters }: z.infer<typeof canary>,
): string | undefined {
  if (own !== key) return `it is the record of '${own}'`;
  return choiceFault('canary', () => checkPolicy('canary', parameters as Json));
}

function choiceFault(field: string, check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return `${field}.${error.field}: ${error.message}`;
  }
}

function modelFault(
  [, , key, version]: readonly string[],
  record: z.infer<typeof model>,
): string | undefined {
  if (record.name === key && record.version === version) return undefined;
  return `it is the record of version '${record.version}' of '${record.name}'`;
}
