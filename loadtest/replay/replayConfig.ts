import { existsSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { MOST_GPUS, MOST_NODES } from '../../services/cli/index.js';
import { ServiceError } from '../../services/errors/index.js';
import {
  addApplicationSchema,
  addModelSchema,
  choiceOf,
  applicationRecord,
  modelRecord,
  EXEC_CONTAINER,
  PROCESS_CONTAINER,
  PYTHON_CONTAINER,
  registerDefaults,
  validate,
} from '../../services/management/index.js';
import { Registry } from '../../services/registry/index.js';
import { MemoryStore } from '../../services/store/index.js';
import { parseJsonText, readTextFile } from '../../simulator/files/index.js';
import { findCard, GpuError, isCardFile } from '../../simulator/gpu/index.js';
import { LoadError } from '../trace/index.js';
import type { SyntheticTimes } from './replaySettings.js';

/** A model of this container runs no kernels: its times are given. */
export const SYNTHETIC_CONTAINER = 'windjammer/synthetic';

/** Of a model: there is no server that they would be too many for. */
const MOST_REPLAYED = 4096;

const syntheticSchema = z.strictObject({
  fixed_ms: z.number().min(0).max(1e6),
  item_ms: z.number().min(0).max(1e6),
  jitter: z.number().min(0).max(1).default(0),
  output: z.string(),
});

/** Applications and models as management takes them, with their links, replicas and GPUs beside. */
const configSchema = z.strictObject({
  applications: z.array(addApplicationSchema.extend({ linked_models: z.array(z.string()).min(1) })).min(1),
  models: z
    .array(
      // A replay's replicas are there from its beginning to its end.
      addModelSchema
        .omit({ num_replicas: true, min_replicas: true, max_replicas: true, warm_up: true })
        .extend({
          replicas: z.int().min(1).max(MOST_REPLAYED).default(1),
          synthetic: syntheticSchema.optional(),
        }),
    )
    .min(1),
  gpus: z.array(z.string()).min(1).max(MOST_GPUS).default(['h200']),
  nodes: z.int().min(1).max(MOST_NODES).default(1),
});

type Config = z.infer<typeof configSchema>;
type ConfiguredModel = Config['models'][number];

/** What may be replayed, before anything is chosen from it. */
export interface ReplayCatalogue {
  readonly registry: Registry;
  /** Beyond one, by model name. */
  readonly replicas: ReadonlyMap<string, number>;
  /** By model name. */
  readonly synthetic: ReadonlyMap<string, SyntheticTimes>;
  /** Of each node. */
  readonly gpus: readonly string[];
  readonly nodes: number;
}

/** What a fresh server would serve. @param gpus cards of each node; one H200 unless given */
export async function defaultCatalogue(gpus: readonly string[] = ['h200']): Promise<ReplayCatalogue> {
  const store = new MemoryStore();
  const registry = new Registry(store);
  await registerDefaults(store, registry, choiceOf(gpus));
  return { registry, replicas: new Map(), synthetic: new Map(), gpus, nodes: 1 };
}

/**
 * @param cards in place of the file's
 * @throws LoadError naming the file, the field and the fix.
 */
export async function readCatalogue(path: string, cards?: readonly string[]): Promise<ReplayCatalogue> {
  const config = asPart(path, '', () => validate(configSchema, readJson(path)));
  const gpus = cards ?? config.gpus.map((gpu) => (isCardFile(gpu) ? resolve(dirname(path), gpu) : gpu));
  for (const gpu of gpus) knownCard(path, gpu);
  const registry = new Registry(new MemoryStore());
  const replicas = new Map<string, number>();
  const synthetic = new Map<string, SyntheticTimes>();
  for (const [at, model] of config.models.entries()) {
    const field = `models[${at}]`;
    await asPartLater(path, field, () => registry.addModel(recordOf(model, path, choiceOf(gpus))));
    replicas.set(model.model_name, model.replicas);
    if (model.synthetic !== undefined) synthetic.set(model.model_name, timesOf(model.synthetic));
  }
  for (const [at, application] of config.applications.entries()) {
    const { linked_models, ...request } = application;
    await asPartLater(path, `applications[${at}]`, async () => {
      await registry.addApplication(applicationRecord(request));
      await registry.addLinks(request.name, linked_models);
    });
  }
  return { registry, replicas, synthetic, gpus, nodes: config.nodes };
}

function knownCard(path: string, gpu: string): void {
  try {
    findCard(gpu, '.');
  } catch (cause) {
    if (!(cause instanceof GpuError)) throw cause;
    throw new LoadError(`${path}: gpus`, cause.message, { cause });
  }
}

function recordOf(
  { synthetic, ...model }: ConfiguredModel,
  path: string,
  cards: readonly string[],
): ReturnType<typeof modelRecord> {
  const { container_name: container, model_data_path: folder } = model;
  if ((container === SYNTHETIC_CONTAINER) !== (synthetic !== undefined)) {
    throw new ServiceError(
      synthetic === undefined ? 'missing_field' : 'conflicting_fields',
      `a container_name of ${SYNTHETIC_CONTAINER} and the field synthetic go together`,
      'synthetic',
    );
  }
  if (container === PROCESS_CONTAINER || container === PYTHON_CONTAINER || container === EXEC_CONTAINER) {
    throw new ServiceError(
      'invalid_value',
      `a module or a program runs in the wall's time, which a replay has none of: give its times with ${SYNTHETIC_CONTAINER}`,
      'container_name',
    );
  }
  // A model beside the configuration first; the product's own are named from its root.
  const beside = resolve(dirname(path), folder);
  const found = folder !== '' && !isAbsolute(folder) && existsSync(beside) ? beside : folder;
  const record = modelRecord({ ...model, model_data_path: found }, cards);
  if (record.container.kind === 'external' && synthetic === undefined) {
    throw new ServiceError(
      'invalid_value',
      `nothing here runs a container '${container}': give its times with ${SYNTHETIC_CONTAINER}`,
      'container_name',
    );
  }
  return record;
}

function timesOf(given: z.infer<typeof syntheticSchema>): SyntheticTimes {
  const { fixed_ms: fixedMs, item_ms: itemMs, jitter, output } = given;
  return { fixedMs, itemMs, jitter, output };
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (cause) {
    throw new LoadError('--config', `${path} cannot be read (${(cause as Error).message})`, { cause });
  }
  try {
    return parseJsonText(text);
  } catch (cause) {
    throw new LoadError(path, `not JSON: ${(cause as Error).message}`, { cause });
  }
}

function asPart<T>(path: string, part: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw inPart(path, part, error);
  }
}

async function asPartLater(path: string, part: string, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    throw inPart(path, part, error);
  }
}

function inPart(path: string, part: string, error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  return new LoadError(part === '' ? path : `${path}: ${part}`, error.message, { cause: error });
}
