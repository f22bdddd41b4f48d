/**
 * Clipper's figure 10 with digits for speech: eight groups with writing styles of their own, a model for each, one for all, and
 * ensembles that learn for each user. In virtual time, through the prediction engine. Writes personalModels.json, personalModels.md
 * and personalModels.svg.
 * Usage: npm run experiment personalModels [-- --seed N] [--folder FOLDER]
 */
import { loadDigits } from '../../containers/models/index.js';
import { percent } from '../../simulator/text/index.js';
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import {
  OBLIVIOUS,
  askFixed,
  modelOfGroup,
  serveUsers,
  trainStyleModels,
  usersOf,
  type PersonalChoice,
  type UsersDigits,
} from './personalModelsExperiment.js';
import {
  personalModelsFigure,
  type DriftResult,
  type PersonalModelsSummary,
  type PersonalResult,
} from './personalModelsFigure.js';
import { SEEDS, intervalOf, type Interval } from './regretExperiment.js';
import { GROUP_COUNT, groupStyles } from './writingStyles.js';

/** How far the groups are apart: 1 for turns of 35 degrees and the like. */
const DRIFTS = [0.6, 1.2];
const USERS_EACH = 3;
const DIGITS_EACH = 50;
/** Feedbacks of a user, from the first to before the last: errors over so many digits each. */
const STRETCHES = [
  [0, 1],
  [1, 5],
  [5, 10],
  [10, 20],
  [20, 50],
] as const;

const { seed, folder } = experimentArguments('personalModels', EXPERIMENTS.personalModels);
/** For K models and T feedbacks: sqrt(8 ln K / T), at which the bound of the exponentially weighted vote is lowest. */
const eta = Math.sqrt((8 * Math.log(GROUP_COUNT + 1)) / DIGITS_EACH);

interface Choice extends Pick<PersonalResult, 'label' | 'color' | 'dashed'> {
  readonly errors: (users: UsersDigits, seed: number) => readonly number[];
}

const served =
  (choice: PersonalChoice) =>
  (users: UsersDigits, runSeed: number): readonly number[] =>
    serveUsers(users, choice, runSeed);

const CHOICES: readonly Choice[] = [
  {
    label: 'one model for all',
    color: 6,
    dashed: true,
    errors: (users) => askFixed(users, () => OBLIVIOUS),
  },
  {
    label: "the group's own model",
    color: 3,
    dashed: true,
    errors: (users) => askFixed(users, modelOfGroup),
  },
  {
    label: 'exp4 for each user, eta for 50 feedbacks',
    color: 0,
    dashed: false,
    errors: served({ name: 'exp4', parameters: { eta, memory: null }, isPersonal: true }),
  },
  {
    label: 'exp4 for each user, default',
    color: 1,
    dashed: false,
    errors: served({ name: 'exp4', parameters: {}, isPersonal: true }),
  },
  {
    label: 'weighted for each user, default',
    color: 2,
    dashed: false,
    errors: served({ name: 'weighted', parameters: {}, isPersonal: true }),
  },
  {
    label: 'weighted, one state for all',
    color: 5,
    dashed: true,
    errors: served({ name: 'weighted', parameters: {}, isPersonal: false }),
  },
];

const { training, heldOut } = loadDigits();
const plan = {
  seed,
  epochs: 6,
  batchSize: 32,
  rate: 0.05,
  momentum: 0.9,
  weightDecay: 1e-4,
  shiftPixels: 1,
};
const drifts = DRIFTS.map(resultsOf);
const summary: PersonalModelsSummary = {
  seed,
  seeds: SEEDS,
  users: USERS_EACH * GROUP_COUNT,
  digitsEach: DIGITS_EACH,
  eta,
  drifts,
};
folder.writeJson('personalModels.json', summary);
folder.write('personalModels.svg', personalModelsFigure(summary));
const heads = STRETCHES.map(([from, until]) => (until === from + 1 ? `${from}` : `${from} to ${until - 1}`));
for (const { drift, results } of drifts) {
  folder.print(`\n| drift ${drift}: error after so many feedbacks of the user | ${heads.join(' | ')} |\n`);
  folder.print(`| --- |${' --- |'.repeat(heads.length)}\n`);
  for (const { label, stretches } of results) {
    const cells = stretches.map(
      (one) => `${percent(one.mean, 1)} (${percent(one.low, 1)} to ${percent(one.high, 1)})`,
    );
    folder.print(`| ${label} | ${cells.join(' | ')} |\n`);
  }
}

function resultsOf(drift: number): DriftResult {
  const styles = groupStyles(drift);
  const models = trainStyleModels(training, styles, plan, seed);
  const runs = Array.from({ length: SEEDS }, (_, at) => {
    const users = usersOf(models, styles, heldOut, USERS_EACH, DIGITS_EACH, seed + at);
    return CHOICES.map(({ errors }) => errors(users, seed + at));
  });
  const results = CHOICES.map(({ label, color, dashed }, choice): PersonalResult => {
    const curves = runs.map((run) => run[choice]);
    const over = (from: number, until: number): Interval =>
      intervalOf(curves.map((curve) => mean(curve.slice(from, until))));
    return {
      label,
      color,
      dashed,
      stretches: STRETCHES.map(([from, until]) => ({ from, until, ...over(from, until) })),
      curve: Array.from({ length: DIGITS_EACH }, (_, at) => ({ feedbacks: at, ...over(at, at + 1) })),
    };
  });
  return { drift, results };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
