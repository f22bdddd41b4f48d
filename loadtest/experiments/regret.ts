/**
 * The regret of each single-model policy on stochastic, adversarial and drifting streams, against its bound. No clock:
 * feedback follows each query at once. Writes regret.json and regret.svg.
 * Usage: npm run experiment regret [-- --seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import {
  SPREAD,
  adversarialStream,
  driftingStream,
  stochasticStream,
  type LossStream,
} from './lossStreams.js';
import { exp3Bound, exp3Rate, exp3sBound, exp3sGamma, thompsonBound, ucb1Bound } from './regretBounds.js';
import {
  SEEDS,
  intervalOf,
  playStream,
  type Contender,
  type ContenderResult,
  type Interval,
  type RegretSummary,
} from './regretExperiment.js';
import { regretFigure } from './regretFigure.js';

const QUERIES = 20_000;
const ARMS = SPREAD.length;
const { seed, folder } = experimentArguments('regret', EXPERIMENTS.regret);
const CHECKPOINTS = Array.from({ length: 50 }, (_, at) => (QUERIES * (at + 1)) / 50);

/** Textbook parameters have a bound where their paper proves one. */
interface Entry extends Contender {
  readonly color: number;
  readonly bound: (stream: string) => number | null;
}

const TINY = 1e-12;
const GAPS = SPREAD.map((error) => error - Math.min(...SPREAD)).filter((gap) => gap > 0);

function entries(segments: number): Entry[] {
  const eta = exp3Rate(ARMS, QUERIES);
  return [
    {
      name: 'exp3',
      policy: 'exp3',
      parameters: { eta, gamma: TINY, floor: 1e-300 },
      color: 0,
      bound: () => exp3Bound(ARMS, QUERIES, eta, TINY),
    },
    { name: 'exp3, default', policy: 'exp3', parameters: {}, color: 0, bound: () => null },
    {
      name: 'exp3s',
      policy: 'exp3s',
      parameters: { gamma: exp3sGamma(ARMS, QUERIES, segments), alpha: 1 / QUERIES },
      color: 1,
      bound: () => exp3sBound(ARMS, QUERIES, segments),
    },
    { name: 'exp3s, default', policy: 'exp3s', parameters: {}, color: 1, bound: () => null },
    {
      name: 'epsilonGreedy',
      policy: 'epsilonGreedy',
      parameters: { memory: null },
      color: 2,
      bound: () => null,
    },
    { name: 'epsilonGreedy, default', policy: 'epsilonGreedy', parameters: {}, color: 2, bound: () => null },
    {
      name: 'ucb1',
      policy: 'ucb1',
      parameters: { memory: null },
      color: 3,
      bound: (stream) => (stream === 'stochastic' ? ucb1Bound(GAPS, QUERIES) : null),
    },
    { name: 'ucb1, default', policy: 'ucb1', parameters: {}, color: 3, bound: () => null },
    {
      name: 'thompson',
      policy: 'thompson',
      parameters: { memory: null },
      color: 5,
      bound: (stream) => (stream === 'stochastic' ? thompsonBound(ARMS, QUERIES) : null),
    },
    { name: 'thompson, default', policy: 'thompson', parameters: {}, color: 5, bound: () => null },
  ];
}

function onStream(
  stream: string,
  make: (seed: number, steps: number) => LossStream,
  segments: number,
): RegretSummary['streams'][number] {
  const tracks = stream === 'drifting';
  const losses = Array.from({ length: SEEDS }, (_, at) => make(seed + at, QUERIES));
  const contenders = entries(segments).map((entry): ContenderResult => {
    const runs = losses.map((one, at) => playStream(one, entry, seed + at, CHECKPOINTS));
    const last = CHECKPOINTS.length - 1;
    return {
      name: entry.name,
      parameters: entry.parameters,
      color: entry.color,
      isDefault: entry.name.endsWith('default'),
      fixed: intervalOf(runs.map(({ fixed }) => fixed[last])),
      tracking: intervalOf(runs.map(({ tracking }) => tracking[last])),
      bound: entry.bound(stream),
      curve: CHECKPOINTS.map((queries, at) => ({
        queries,
        ...intervalOf(runs.map(({ fixed, tracking }) => (tracks ? tracking : fixed)[at])),
      })),
    };
  });
  const comparator = tracks ? 'the best of each segment' : 'the best arm';
  return { stream, comparator, contenders };
}

const summary: RegretSummary = {
  seeds: SEEDS,
  queries: QUERIES,
  streams: [
    onStream('stochastic', stochasticStream, 1),
    onStream('adversarial', adversarialStream, 1),
    onStream('drifting', driftingStream, ARMS),
  ],
};
folder.writeJson('regret.json', summary);
folder.write('regret.svg', regretFigure(summary));
for (const { stream, contenders } of summary.streams) {
  folder.print(`| ${stream} | best arm | best of each segment | bound |\n`);
  for (const { name, fixed, tracking, bound } of contenders) {
    folder.print(`| ${name} | ${text(fixed)} | ${text(tracking)} | ${bound?.toFixed(0) ?? '-'} |\n`);
  }
}

function text({ mean, low, high }: Interval): string {
  return `${mean.toFixed(0)} (${low.toFixed(0)} to ${high.toFixed(0)})`;
}
