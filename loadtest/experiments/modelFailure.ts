/**
 * Clipper's figure 8: the best of five models fails and recovers, in virtual time, through the prediction engine. Writes
 * modelFailure.json and modelFailure.svg.
 * Usage: npm run experiment modelFailure [-- --seed N] [--folder FOLDER]
 */
import { setImmediate } from 'node:timers/promises';
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { degradedModels, loadDigits, predictions } from '../../containers/models/index.js';
import { modelFailureFigure, type FailureSummary, type ChoiceResult } from './modelFailureFigure.js';
import type { PolicyChoice } from './judgedQueries.js';
import { runModelFailure, type ErrorCurve, type ModelFailureSettings } from './modelFailureExperiment.js';
import { exp3Bound, exp3Rate } from './regretBounds.js';
import { SEEDS, intervalOf } from './regretExperiment.js';

const QUERIES = 20_000;

const split = loadDigits();
const trained = degradedModels(split);
const models = trained.map((model) => ({ name: model.name, labels: predictions(model, split.heldOut) }));
const best = trained.reduce((least, model) => (model.error < least.error ? model : least));
const settings: ModelFailureSettings = {
  queries: QUERIES,
  every: 250,
  failure: { model: best.name, from: 5000, until: 10_000 },
};
const textbookRate = exp3Rate(models.length, QUERIES);

const choices: (PolicyChoice & { readonly label: string })[] = [
  ...models.map(({ name }) => ({ label: name, name: 'static', parameters: { model: name } })),
  { label: 'exp3', name: 'exp3', parameters: {} },
  {
    label: 'exp3, textbook',
    name: 'exp3',
    parameters: { eta: textbookRate, gamma: 1e-12, floor: 1e-300 },
  },
  { label: 'exp3s', name: 'exp3s', parameters: {} },
  { label: 'epsilonGreedy', name: 'epsilonGreedy', parameters: {} },
  { label: 'ucb1', name: 'ucb1', parameters: {} },
  { label: 'thompson', name: 'thompson', parameters: {} },
  { label: 'exp4', name: 'exp4', parameters: {} },
  { label: 'exp4, memory null', name: 'exp4', parameters: { memory: null } },
  { label: 'majority', name: 'majority', parameters: {} },
  { label: 'weighted', name: 'weighted', parameters: {} },
];

const { seed, folder } = experimentArguments('modelFailure', EXPERIMENTS.modelFailure);
const checkpoints = Array.from({ length: QUERIES / settings.every }, (_, at) => (at + 1) * settings.every);
const played: ((typeof choices)[number] & { readonly runs: readonly ErrorCurve[] })[] = [];
for (const choice of choices) {
  const runs: ErrorCurve[] = [];
  for (let at = 0; at < SEEDS; at++) {
    runs.push(runModelFailure(settings, models, split.heldOut.labels, choice, seed + at));
    // What the store has to tell of a run is told in a turn of the event loop, and held until then.
    await setImmediate();
  }
  played.push({ ...choice, runs });
}
/** Wrong answers of the best static choice, seed by seed. */
const bestStatic = Array.from({ length: SEEDS }, (_, run) =>
  Math.min(...played.filter(({ name }) => name === 'static').map(({ runs }) => runs[run].wrong)),
);
const results = played.map(({ label, name, parameters, runs }): ChoiceResult => {
  const curve = checkpoints.map((queries, at) => ({
    queries,
    ...intervalOf(runs.map(({ cumulative }) => cumulative[at])),
  }));
  const regret = intervalOf(runs.map(({ wrong }, run) => wrong - bestStatic[run]));
  return { label, policy: name, parameters, error: curve[curve.length - 1], regret, curve };
});
const summary: FailureSummary = {
  settings,
  seeds: SEEDS,
  models: trained.map(({ name, error }) => ({ name, heldOutError: error })),
  exp3TextbookBound: exp3Bound(models.length, QUERIES, textbookRate, 1e-12),
  exp3DefaultBound: exp3Bound(models.length, QUERIES, 0.05, 0.05),
  results,
};
folder.writeJson('modelFailure.json', summary);
folder.write('modelFailure.svg', modelFailureFigure(summary));
folder.print('| choice | after 5 000 | after 10 000 | after 20 000 | beyond the best static choice |\n');
for (const { label, curve, regret } of results) {
  const at = (queries: number): string => curve[queries / settings.every - 1].mean.toFixed(3);
  const reach = (regret.high - regret.mean).toFixed(0);
  folder.print(
    `| ${label} | ${at(5000)} | ${at(10_000)} | ${at(20_000)} | ${regret.mean.toFixed(0)} ± ${reach} |\n`,
  );
}
folder.print(
  `bounds of exp3: ${summary.exp3TextbookBound.toFixed(0)} textbook, ${summary.exp3DefaultBound.toFixed(0)} default\n`,
);
