import { RefusedError } from '../../services/client/index.js';
import { LoadError } from '../trace/index.js';
import type { WeightedName } from './loadCommand.js';
import type { AskedApplication, LoadMode } from './loadPlan.js';
import type { MetricSamples, ServerView } from './server/index.js';

export interface TargetRequest {
  readonly mode: LoadMode;
  readonly apps: readonly WeightedName[] | undefined;
  readonly objectiveMs: number | undefined;
  /** The trace may name applications of its own. */
  readonly isFile: boolean;
}

/** Of a model that is asked by its name: it has none of its own. */
const MODEL_OBJECTIVE_MS = 100;

/**
 * The applications that a load asks, as the server has them.
 * @throws LoadError naming those that there are; ClientError when no server answers
 */
export async function applicationsOf(
  view: ServerView,
  metrics: MetricSamples | RefusedError,
  request: TargetRequest,
): Promise<readonly AskedApplication[]> {
  // Without a key that the server knows, whatever follows is refused too.
  if (metrics instanceof RefusedError && metrics.status === 401) throw metrics;
  const objectives = metrics instanceof RefusedError ? undefined : objectivesOf(metrics);
  const apps = request.apps ?? defaultApps(objectives, request.isFile, metrics);
  return Promise.all(apps.map((app) => applicationOf(view, app, { ...request, objectives, metrics })));
}

interface Known extends TargetRequest {
  /** In milliseconds, by application; undefined: the server does not say. */
  readonly objectives: ReadonlyMap<string, number> | undefined;
  readonly metrics: MetricSamples | RefusedError;
}

async function applicationOf(
  view: ServerView,
  { name, weight }: WeightedName,
  { mode, objectiveMs, objectives, metrics }: Known,
): Promise<AskedApplication> {
  const encoded = encodeURIComponent(name);
  const paths = [`/v2/models/${encodeURIComponent(`application:${name}`)}`];
  if (mode === 'v2') paths.push(`/v2/models/${encoded}`);
  for (const v2Path of paths) {
    const form = await view.inputForm(v2Path);
    if (form === undefined) continue;
    const isModel = v2Path === paths[1];
    const objective = objectiveMs ?? objectives?.get(name) ?? (isModel ? MODEL_OBJECTIVE_MS : undefined);
    if (objective === undefined) throw noObjective(name, metrics);
    return { name, weight, form, objectiveMs: objective, models: modelsOf(metrics, name), v2Path };
  }
  const are = objectives === undefined ? '' : `, only ${[...objectives.keys()].join(', ') || 'none'}`;
  throw new LoadError(
    '--app',
    `the server has no application${mode === 'v2' ? ' or model' : ''} '${name}'${are}`,
  );
}

function defaultApps(
  objectives: ReadonlyMap<string, number> | undefined,
  isFile: boolean,
  metrics: MetricSamples | RefusedError,
): readonly WeightedName[] {
  const names = [...(objectives?.keys() ?? [])];
  if (names.length === 1 || (isFile && names.length > 0)) return names.map((name) => ({ name, weight: 1 }));
  const why = metrics instanceof RefusedError ? ` (its metrics: ${metrics.message})` : '';
  const are =
    objectives === undefined
      ? `the server does not tell which there are${why}`
      : `there are ${names.join(', ')}`;
  throw new LoadError('--app', `say which application to ask: ${are}`);
}

function noObjective(name: string, metrics: MetricSamples | RefusedError): LoadError {
  const why = metrics instanceof RefusedError ? `: ${metrics.message}` : '';
  return new LoadError(
    '--objective-ms',
    `the server's metrics do not tell the objective of '${name}'${why}; say it here`,
  );
}

function objectivesOf(metrics: MetricSamples): ReadonlyMap<string, number> {
  const samples = metrics.get('windjammer_application_objective_seconds') ?? [];
  return new Map(samples.map(({ labels, value }) => [labels.application, value * 1000]));
}

function modelsOf(metrics: MetricSamples | RefusedError, application: string): readonly string[] {
  if (metrics instanceof RefusedError) return [];
  const samples = metrics.get('windjammer_selection_share') ?? [];
  return samples.filter(({ labels }) => labels.application === application).map(({ labels }) => labels.model);
}
