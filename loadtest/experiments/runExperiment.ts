import { closest } from 'fastest-levenshtein';
import { runScenario, SCENARIOS } from '../scenarios/index.js';
import {
  ArgumentError,
  checkedArguments,
  experimentArguments,
  usageOf,
  type ExperimentDescription,
} from './experimentArguments.js';
import { EXPERIMENTS, type ExperimentName } from './experimentList.js';

interface Experiment {
  readonly description: ExperimentDescription & { readonly usually: string };
  readonly run: () => Promise<unknown>;
}

/** An experiment is a program of its own that reads the arguments of the process. */
const PROGRAMS: Readonly<Record<ExperimentName, () => Promise<unknown>>> = {
  agreement: () => import('./agreement.js'),
  aimd: () => import('./aimd.js'),
  batchLatency: () => import('./batchLatency.js'),
  canary: () => import('./canary.js'),
  cascade: () => import('./cascade.js'),
  concurrency: () => import('./concurrency.js'),
  contextPrior: () => import('./contextPrior.js'),
  contexts: () => import('./contexts.js'),
  contextualRegret: () => import('./contextualRegret.js'),
  delayedBatching: () => import('./delayedBatching.js'),
  disb: () => import('./disb.js'),
  ensembleConfidence: () => import('./ensembleConfidence.js'),
  errorsToday: () => import('./errorsToday.js'),
  faults: () => import('./faults.js'),
  feedbackCache: () => import('./feedbackCache.js'),
  gpuTime: () => import('./gpuTime.js'),
  gpuTimeAblation: () => import('./gpuTimeAblation.js'),
  'idempotency/audit': () => import('./idempotency/audit.js'),
  'idempotency/cover': () => import('./idempotency/cover.js'),
  'idempotency/fuzz': () => import('./idempotency/fuzz.js'),
  'idempotency/heldOut': () => import('./idempotency/heldOut.js'),
  'idempotency/mutants': () => import('./idempotency/mutants.js'),
  'idempotency/overhead': () => import('./idempotency/overhead.js'),
  'idempotency/table': () => import('./idempotency/table.js'),
  jobKills: () => import('./jobKills.js'),
  kindsOfModels: () => import('./kindsOfModels.js'),
  modelFailure: () => import('./modelFailure.js'),
  offPolicy: () => import('./offPolicy.js'),
  personalModels: () => import('./personalModels.js'),
  predictPath: () => import('./predictPath.js'),
  preemption: () => import('./preemption.js'),
  regret: () => import('./regret.js'),
  replicaScaling: () => import('./replicaScaling.js'),
  stragglers: () => import('./stragglers.js'),
};

const ALL: ReadonlyMap<string, Experiment> = new Map<string, Experiment>([
  ...Object.entries(PROGRAMS).map(([name, run]): [string, Experiment] => {
    return [name, { description: EXPERIMENTS[name as ExperimentName], run }];
  }),
  ...SCENARIOS.map((scenario): [string, Experiment] => {
    const name = `scenarios/${scenario.name}`;
    const description = { usually: scenario.usually, folder: name, seed: 1 };
    const run = async () => {
      const { seed, folder } = experimentArguments(name, description);
      await runScenario(scenario, seed, folder);
    };
    return [name, { description, run }];
  }),
]);

/** Names of all. */
export const EXPERIMENT_NAMES: readonly string[] = [...ALL.keys()];

/**
 * Says how long it usually takes, and runs it; with `--help` says what it takes.
 * @param say gets what is no result
 * @throws ArgumentError for another name, or options that it does not have
 */
export async function runExperiment(
  name: string | undefined,
  words: readonly string[],
  say: (text: string) => void,
): Promise<void> {
  const experiment = ALL.get(name ?? '');
  if (name === undefined || experiment === undefined) {
    const near = name === undefined ? '' : `; did you mean ${closest(name, EXPERIMENT_NAMES)}?`;
    const what = name === undefined ? 'name an experiment' : `there is no experiment '${name}'`;
    throw new ArgumentError(`${what}${near}\nthere are: ${EXPERIMENT_NAMES.join(', ')}`);
  }
  const { description, run } = experiment;
  if (words.includes('--help')) {
    say(
      `${usageOf(name, description)}\nusually ${description.usually}; files in docs/experiments/${description.folder}\n`,
    );
    return;
  }
  checkedArguments(description, words);
  say(`${name}: usually ${description.usually}\n`);
  // Each reads its own arguments, as if it had been started itself.
  process.argv.splice(2, process.argv.length, ...words);
  await run();
}
