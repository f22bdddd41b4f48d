/**
 * Clipper's section 4.2: feedback on an ensemble of four models that a running server learns a second, with its prediction cache and
 * without, by the judged input; and by the query's id, which needs no cache. Writes feedbackCache.json, feedbackCache.md and
 * feedbackCache.svg.
 * Usage: npm run experiment feedbackCache [-- --seed N] [--folder FOLDER] [--seconds SECONDS] [--rounds ROUNDS]
 */
import { renderBars } from '../report/index.js';
import {
  INSTANT_MODELS,
  KERNEL_MODELS,
  feedbackRate,
  type FeedbackRate,
  type JudgedBy,
} from '../bench/feedbackRate.js';
import { EXPERIMENTS } from './experimentList.js';
import { ArgumentError, experimentArguments } from './experimentArguments.js';

const WAYS: readonly JudgedBy[] = ['input, not cached', 'input, cached', 'query'];

const { seed, folder, values } = experimentArguments('feedbackCache', EXPERIMENTS.feedbackCache);
const seconds = positive('seconds', values.seconds);
const rounds = positive('rounds', values.rounds);

interface Measured {
  readonly ensemble: string;
  readonly by: JudgedBy;
  readonly median: number;
  readonly runs: readonly FeedbackRate[];
}

const rows: Measured[] = [];
for (const ensemble of [KERNEL_MODELS, INSTANT_MODELS]) {
  const runs = WAYS.map((): FeedbackRate[] => []);
  // In turns, so that whatever else the machine does meets all of them.
  for (let round = 0; round < rounds; round++) {
    for (const [at, by] of WAYS.entries())
      runs[at].push(await feedbackRate(ensemble, by, seconds, seed + round));
  }
  for (const [at, by] of WAYS.entries())
    rows.push({ ensemble: ensemble.name, by, median: medianOf(runs[at]), runs: runs[at] });
}
folder.writeJson('feedbackCache.json', { seed, seconds, rounds, rows });
folder.write(
  'feedbackCache.svg',
  renderBars({
    title: 'Feedback with and without the prediction cache',
    subtitle: `Four-model ensembles in a running server, one client, 64 in flight; median of ${rounds} rounds of ${seconds} s`,
    yLabel: 'learned a second',
    groups: [...new Set(rows.map(({ ensemble }) => ensemble))].map((name) => ({
      name,
      bars: rows
        .filter(({ ensemble }) => ensemble === name)
        .map(({ by, median }) => ({
          name: by.split(', '),
          value: median,
          text: median.toFixed(0),
          color: WAYS.indexOf(by),
        })),
    })),
  }),
);
folder.print(
  '| models | judged by | learned a second, median (least to most) | over not cached | joined | errors |\n| --- | --- | --- | --- | --- | --- |\n',
);
for (const { ensemble, by, median, runs } of rows) {
  const rates = runs.map(({ perSecond }) => perSecond);
  const plain = rows.find((row) => row.ensemble === ensemble && row.by === 'input, not cached');
  const ways = [...new Set(runs.flatMap(({ joined }) => Object.keys(joined)))];
  const errors = runs.reduce((sum, run) => sum + run.errors, 0);
  folder.print(
    `| ${ensemble} | ${by} | ${median.toFixed(0)} (${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)}) ` +
      `| ${(median / (plain?.median ?? NaN)).toFixed(2)} x | ${ways.join(', ')} | ${errors} |\n`,
  );
}

function medianOf(runs: readonly FeedbackRate[]): number {
  const sorted = runs.map(({ perSecond }) => perSecond).sort((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isInteger(value)) return value;
  throw new ArgumentError(`--${name} must be a whole number above 0, not '${text}'`);
}
