/**
 * The regret of policies that look at features, against those that do not, the best arm and the best linear policy: on stochastic,
 * adversarial and drifting streams, and how it grows where it is hardest. No clock: feedback follows each query at once. Writes
 * contextualRegret.json and contextualRegret.svg.
 * Usage: npm run experiment contextualRegret [-- --seed N] [--folder FOLDER]
 */
import {
  growthOf,
  playContexts,
  type ContextualResult,
  type ContextualSummary,
  type Growth,
} from './contextualRegretExperiment.js';
import { contextualRegretFigure } from './contextualRegretFigure.js';
import {
  FEATURE_NAMES,
  adversarialContexts,
  driftingContexts,
  hardContexts,
  stochasticContexts,
  type ContextualStream,
} from './contextualStreams.js';
import { SEEDS, intervalOf, type Contender, type Interval } from './regretExperiment.js';
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';

const QUERIES = 10_000;
const { seed, folder } = experimentArguments('contextualRegret', EXPERIMENTS.contextualRegret);
const CHECKPOINTS = Array.from({ length: 40 }, (_, at) => (QUERIES * (at + 1)) / 40);
const HORIZONS = [1250, 2500, 5000, 10_000, 20_000, 40_000];
const features = FEATURE_NAMES;

const ENTRIES: readonly (Contender & { readonly color: number; readonly isDefault: boolean })[] = [
  { name: 'linucb', policy: 'linucb', parameters: { features, forgetting: 1 }, color: 0, isDefault: false },
  { name: 'linucb, default', policy: 'linucb', parameters: { features }, color: 0, isDefault: true },
  { name: 'lints', policy: 'lints', parameters: { features, forgetting: 1 }, color: 1, isDefault: false },
  { name: 'lints, default', policy: 'lints', parameters: { features }, color: 1, isDefault: true },
  { name: 'thompson, default', policy: 'thompson', parameters: {}, color: 5, isDefault: true },
  { name: 'exp3, default', policy: 'exp3', parameters: {}, color: 3, isDefault: true },
];

function onStream(
  stream: string,
  make: (seed: number, steps: number) => ContextualStream,
): ContextualSummary['streams'][number] {
  const made = Array.from({ length: SEEDS }, (_, at) => make(seed + at, QUERIES));
  const last = CHECKPOINTS.length - 1;
  const contenders = ENTRIES.map((entry): ContextualResult => {
    const runs = made.map((one, at) => playContexts(one, entry, seed + at, CHECKPOINTS));
    const { name, parameters, color, isDefault } = entry;
    const curve = CHECKPOINTS.map((queries, at) => ({
      queries,
      ...intervalOf(runs.map(({ linear }) => linear[at])),
    }));
    const fixed = intervalOf(runs.map((run) => run.fixed[last]));
    return {
      name,
      parameters,
      color,
      isDefault,
      fixed,
      linear: intervalOf(runs.map((run) => run.linear[last])),
      curve,
    };
  });
  return { stream, contenders };
}

function growth(entry: (typeof ENTRIES)[number]): Growth {
  const regrets = Array.from({ length: SEEDS }, (_, at) =>
    HORIZONS.map((steps) => {
      const stream = hardContexts(seed + at, steps);
      return playContexts(stream, entry, seed + at, [steps]).linear[0];
    }),
  );
  return growthOf(entry.name, entry.color, HORIZONS, regrets);
}

const summary: ContextualSummary = {
  seeds: SEEDS,
  queries: QUERIES,
  streams: [
    onStream('stochastic', stochasticContexts),
    onStream('adversarial', adversarialContexts),
    onStream('drifting', driftingContexts),
  ],
  growth: ENTRIES.filter(({ name }) => name === 'linucb' || name === 'lints').map(growth),
};
folder.writeJson('contextualRegret.json', summary);
folder.write('contextualRegret.svg', contextualRegretFigure(summary));
for (const { stream, contenders } of summary.streams) {
  folder.print(`| ${stream} | best arm | best linear policy |\n`);
  for (const { name, fixed, linear } of contenders) {
    folder.print(`| ${name} | ${text(fixed)} | ${text(linear)} |\n`);
  }
}
for (const { name, exponent, factor, points } of summary.growth) {
  const all = points.map(({ queries, mean }) => `${queries}: ${mean.toFixed(0)}`).join(', ');
  folder.print(`${name}: queries^${text(exponent, 3)}, ${factor.toFixed(2)} sqrt(queries); ${all}\n`);
}

function text({ mean, low, high }: Interval, digits = 0): string {
  return `${mean.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
}
