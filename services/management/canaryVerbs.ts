import { z } from 'zod';
import type { Json, Trial } from '../../selection/index.js';
import { ServiceError } from '../errors/index.js';
import type { TrialStatus } from '../prediction/index.js';
import type { CanaryRecord, Registry } from '../registry/index.js';
import { canaryParameters, modelNameSchema, modelVersionSchema } from './schemas.js';
import { verb, type AdminVerb } from './verb.js';

/** What versions that are tried are managed by. */
export interface CanarySources {
  readonly registry: Registry;
  /** Versions that are tried, as this server sees them. */
  readonly trials?: (() => readonly TrialStatus[]) | undefined;
}

const PHASES = ['ramping', 'promoted', 'withdrawn', 'aborted'] as const;

const seen = z.object({
  queries: z.int(),
  sum: z.number().describe('Of losses, or of queries that were slow or failed'),
});
const rail = z.object({ candidate: seen, incumbent: seen });

export const canaryAnswer = z.object({
  model_name: z.string(),
  candidate_version: z.string(),
  incumbent_version: z.string(),
  phase: z.enum(PHASES),
  reason: z.string().optional().describe('Why it ended'),
  parameters: z.unknown(),
  share: z
    .number()
    .optional()
    .describe('Of the queries, while it is tried: 0 until a replica of the candidate is up'),
  step: z.int().optional().describe('Place of the share among the steps, from 0'),
  asked: z.int().optional().describe('Queries that the candidate was asked at this step'),
  rails: z.object({ loss: rail, latency: rail, errors: rail }).optional(),
});

export type CanaryAnswer = z.infer<typeof canaryAnswer>;

const startSchema = modelVersionSchema.extend({ canary: canaryParameters.default({}) });

type StartRequest = z.infer<typeof startSchema>;
type NameRequest = z.infer<typeof modelNameSchema>;

/** Versions that are tried beside the one that serves. */
export function canaryVerbs({ registry, trials = () => [] }: CanarySources): AdminVerb[] {
  const recordOf = (model: string): CanaryRecord | undefined => registry.canary(model);
  const running = (model: string): CanaryRecord => {
    const record = recordOf(model);
    if (record !== undefined && record.end === undefined) return record;
    const message =
      record === undefined
        ? `no version of model '${model}' was ever tried`
        : `no version of model '${model}' is being tried: '${record.candidate}' was ${record.end?.kind}`;
    throw new ServiceError('no_canary', message, 'model_name');
  };
  const about = ({ model_name: model }: NameRequest) => ({
    model,
    version: recordOf(model)?.candidate ?? '',
  });
  const state = ({ model_name: model }: NameRequest) => ({
    canary: recordOf(model)?.end?.kind ?? 'ramping',
    current_version: registry.currentVersion(model),
  });
  const end = async (model: string, kind: 'promoted' | 'aborted', reason: string): Promise<CanaryRecord> => {
    const record = running(model);
    const isEnded = await registry.endCanary(model, record.number, { kind, reason });
    if (isEnded) return record;
    const message = `the trial of '${record.candidate}' has ended meanwhile`;
    throw new ServiceError('no_canary', message, 'model_name');
  };
  return [
    verb('start_canary', {
      summary: 'Try a registered version beside the current one, with a share of the queries that grows',
      request: startSchema,
      errors: [
        'unknown_model',
        'invalid_policy',
        'no_incumbent',
        'canary_running',
        'input_type_mismatch',
        'concurrent_change',
        'storage_full',
        'store_failed',
      ],
      changes: {
        about: ({ model_name: model, model_version: version }: StartRequest) => ({ model, version }),
        after: ({ model_name: model }) => recordOf(model),
      },
      run: async ({ model_name: model, model_version: version, canary }) => {
        await registry.startCanary(model, version, canary);
        return `Success! ${triedText(registry, model, version)}`;
      },
    }),
    verb('promote_canary', {
      summary: 'Make the version that is tried the current one, whatever was seen of it',
      request: modelNameSchema,
      errors: ['no_canary', 'concurrent_change', 'storage_full', 'store_failed'],
      changes: { about, state },
      run: async ({ model_name: model }) => {
        const { candidate } = await end(model, 'promoted', 'somebody has promoted it');
        return `Success! Model '${model}' is at version '${candidate}'.`;
      },
    }),
    verb('abort_canary', {
      summary: 'Try the version no longer: the one that serves answers all',
      request: modelNameSchema,
      errors: ['no_canary', 'concurrent_change', 'storage_full', 'store_failed'],
      changes: { about, state },
      run: async ({ model_name: model }) => {
        const { candidate, incumbent } = await end(model, 'aborted', 'somebody has aborted it');
        return `Success! Version '${candidate}' of model '${model}' is no longer tried: '${incumbent}' answers.`;
      },
    }),
    verb('get_canary', {
      summary: 'The version of a model that is tried, or was last, and what was seen of it',
      request: modelNameSchema,
      answer: canaryAnswer,
      errors: ['no_canary'],
      changes: 'nothing',
      run: ({ model_name: model }) => canaryJson(recordOf(model) ?? running(model), trials()),
    }),
    verb('get_all_canaries', {
      summary: 'Of each model the version that is tried, or was last',
      request: z.strictObject({}),
      answer: canaryAnswer.array(),
      changes: 'nothing',
      run: () => registry.canaries().map((record) => canaryJson(record, trials())),
    }),
  ];
}

/** What becomes of a version that was added to be tried. */
export function triedText(registry: Registry, model: string, version: string): string {
  const incumbent = registry.canary(model)?.incumbent ?? '';
  const tried = `Version '${version}' of model '${model}' is tried beside '${incumbent}' from the moment that a replica of it is up`;
  return registry.scale(model, version).replicas > 0
    ? `${tried}.`
    : `${tried}. Warning: it is to have none: set_num_replicas gives it some.`;
}

function canaryJson(record: CanaryRecord, trials: readonly TrialStatus[]): CanaryAnswer {
  const { model, candidate, incumbent, parameters, end, number } = record;
  const status = trials.find((one) => one.record.model === model && one.record.number === number);
  return {
    model_name: model,
    candidate_version: candidate,
    incumbent_version: incumbent,
    phase: end?.kind ?? 'ramping',
    ...(end === undefined ? {} : { reason: end.reason }),
    parameters,
    ...(status === undefined || end !== undefined ? {} : trialJson(status)),
  };
}

function trialJson({ trial, share }: TrialStatus): Partial<CanaryAnswer> {
  const { loss, latency, errors } = trial.rails;
  return {
    share,
    step: trial.step,
    asked: trial.asked,
    rails: { loss: railJson(loss), latency: railJson(latency), errors: railJson(errors) },
  };
}

function railJson({ candidate, incumbent }: Trial['rails']['loss']): z.infer<typeof rail> {
  const json = ({ count, sum }: typeof candidate) => ({ queries: count, sum });
  return { candidate: json(candidate), incumbent: json(incumbent) };
}

/** Parameters as a request has them: true stands for none. */
export function parametersOf(canary: true | Readonly<Record<string, Json>> | undefined): Json | undefined {
  return canary === true ? {} : canary;
}
