import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { PolicyError, checkPolicy, type Json, type SelectionPolicy } from '../../selection/index.js';
import { FILE_POLICY, openSteppedPolicy } from '../../services/policyFiles/index.js';
import {
  commonInputForm,
  inputFormOf,
  type ApplicationRecord,
  type Registry,
} from '../../services/registry/index.js';
import { findCard, GpuError } from '../../simulator/gpu/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { poolFor } from '../inputs/index.js';
import { defaultCatalogue, readCatalogue, type ReplayCatalogue } from './replayConfig.js';
import { LoadError } from '../trace/index.js';
import type {
  FeedbackSettings,
  ReplayedApplication,
  ReplayedModel,
  ReplaySettings,
} from './replaySettings.js';
import { DEFAULT_SECONDS, endsByItself, openTrace } from '../trace/index.js';

/** What a replay may be asked for, as the command takes it. */
export interface ReplayRequest {
  readonly trace: string;
  /** Of a trace file; undefined: found out. */
  readonly format?: string;
  /** Of a trace file's times; undefined: found out. */
  readonly timeUnit?: string;
  /** What a trace file calls the product's columns, `NAME=COLUMN` each. */
  readonly columns?: readonly string[];
  readonly spread?: string;
  readonly seed: number;
  readonly scale: number;
  readonly durationSeconds?: number;
  /** A file of applications and models; undefined: what a fresh server serves. */
  readonly config?: string;
  /** undefined: the first; for a trace that names applications, any. */
  readonly application?: string;
  /** `NAME` or `NAME:PARAMETERS`, in place of the applications' own. */
  readonly policy?: string;
  /** A policy of the user's own, in place of `policy`, whose parameters may come by `file:PARAMETERS`. */
  readonly policyFile?: string;
  readonly objectiveMs?: number;
  readonly replicas?: number;
  /** Cards of each node's GPUs, or how many. */
  readonly gpus?: readonly string[] | number;
  readonly nodes?: number;
  /** A file of inputs. */
  readonly inputs?: string;
  /** Share of queries that repeat a sample exactly. */
  readonly repeats?: number;
  readonly feedback: FeedbackSettings;
  readonly cacheBytes: number;
}

/** @throws LoadError naming the option, line or field at fault, and the fix. */
export async function planReplay(request: ReplayRequest): Promise<ReplaySettings> {
  const { seed, scale, trace: spec, durationSeconds, feedback, cacheBytes } = request;
  const { format, timeUnit, columns, spread } = request;
  const trace = openTrace({
    spec,
    scale,
    seed,
    durationSeconds,
    ...(format === undefined ? {} : { format }),
    ...(timeUnit === undefined ? {} : { timeUnit }),
    ...(columns === undefined ? {} : { columns }),
    ...(spread === undefined ? {} : { spread }),
  });
  try {
    const cards = typeof request.gpus === 'object' ? checkedCards(request.gpus) : undefined;
    const catalogue =
      request.config === undefined
        ? await defaultCatalogue(cards)
        : await readCatalogue(request.config, cards);
    const names = chosenNames(catalogue.registry, request, endsByItself(spec));
    const applications = names.map((name) => applicationOf(catalogue.registry, name, request, names.length));
    return {
      seed,
      trace,
      scale,
      durationSeconds: durationSeconds ?? (endsByItself(spec) ? undefined : DEFAULT_SECONDS),
      applications,
      models: modelsOf(catalogue, names, request.replicas),
      gpus: typeof request.gpus === 'number' ? repeated(catalogue.gpus, request.gpus) : catalogue.gpus,
      nodes: request.nodes ?? catalogue.nodes,
      feedback,
      cacheBytes,
    };
  } catch (error) {
    trace.close();
    throw error;
  }
}

function chosenNames(
  registry: Registry,
  { application }: ReplayRequest,
  fromFile: boolean,
): readonly string[] {
  const all = registry.applications().map(({ name }) => name);
  if (application === undefined) return fromFile ? all : all.slice(0, 1);
  if (!all.includes(application)) {
    throw new LoadError('--app', `there is no application '${application}', only ${all.join(', ')}`);
  }
  return [application];
}

function applicationOf(
  registry: Registry,
  name: string,
  request: ReplayRequest,
  applications: number,
): ReplayedApplication {
  const linked = registry.linkedModels(name);
  const found = registry.requireApplication(name, 'name');
  const { objectiveMs } = request;
  const own = request.policyFile === undefined ? undefined : ownPolicy(request.policyFile);
  const policy = request.policy ?? (own === undefined ? undefined : FILE_POLICY);
  const record: ApplicationRecord = {
    ...found,
    ...(policy === undefined ? {} : { policy: policyOf(policy, own) }),
    ...(objectiveMs === undefined ? {} : { latencyObjectiveUs: objectiveMs * 1000 }),
  };
  return {
    record,
    models: linked.map((model) => model.name),
    ...(own === undefined ? {} : { policy: own }),
    inputs: poolFor(commonInputForm(record.inputType, linked.map(inputFormOf)), request, applications),
  };
}

/** It runs in this process, where virtual time waits for it. @throws LoadError */
function ownPolicy(path: string): SelectionPolicy {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new LoadError('--policy-file', `cannot read ${path}: ${reasonOf(cause)}`, { cause });
  }
  try {
    const { policy } = openSteppedPolicy({ name: basename(path), text });
    if (policy !== undefined) return policy;
  } catch (cause) {
    throw new LoadError('--policy-file', reasonOf(cause), { cause });
  }
  throw new LoadError('--policy-file', `${path} has losses alone, no policy`);
}

/** @param own that the name `file` stands for */
function policyOf(text: string, own: SelectionPolicy | undefined): ApplicationRecord['policy'] {
  const at = text.indexOf(':');
  const name = at < 0 ? text : text.slice(0, at);
  try {
    const parameters = at < 0 ? {} : (JSON.parse(text.slice(at + 1)) as Json);
    if (own === undefined) checkPolicy(name, parameters);
    else if (name !== FILE_POLICY)
      throw new LoadError('--policy', `with --policy-file it is '${FILE_POLICY}:PARAMETERS', not '${name}'`);
    else own.init([], parameters);
    return { name, parameters };
  } catch (cause) {
    if (cause instanceof SyntaxError) {
      throw new LoadError('--policy', `the parameters of '${name}' are not JSON: ${cause.message}`, {
        cause,
      });
    }
    if (!(cause instanceof PolicyError)) throw cause;
    throw new LoadError('--policy', `${cause.field}: ${cause.message}`, { cause });
  }
}

/** Models that the chosen applications are linked to. */
function modelsOf(
  { registry, replicas, synthetic }: ReplayCatalogue,
  applications: readonly string[],
  everywhere: number | undefined,
): readonly ReplayedModel[] {
  const records = new Set(applications.flatMap((name) => registry.linkedModels(name)));
  return [...records].map((record) => {
    const times = synthetic.get(record.name);
    return {
      record,
      replicas: everywhere ?? replicas.get(record.name) ?? 1,
      ...(times === undefined ? {} : { synthetic: times }),
    };
  });
}

function repeated(cards: readonly string[], count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => cards[at % cards.length]);
}

/** @throws LoadError naming the card that there is not, and those that there are */
function checkedCards(cards: readonly string[]): readonly string[] {
  for (const card of cards) {
    try {
      findCard(card, '.');
    } catch (cause) {
      if (!(cause instanceof GpuError)) throw cause;
      throw new LoadError('--gpus', cause.message, { cause });
    }
  }
  return cards;
}
