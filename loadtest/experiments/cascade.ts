/**
 * Cascades of a cheap model and an accurate one, a committee of five networks in one graph: their accuracy and GPU time beside those
 * of the two alone, with thresholds learned to a budget on digits that are not those reported, in virtual time. Writes
 * cascade.json, cascade.md and cascade.svg.
 * Usage: npm run experiment cascade [-- --seed N] [--folder FOLDER]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInModelPath, heldOutDigits } from '../../containers/models/index.js';
import { percent } from '../../simulator/text/index.js';
import {
  DigitsServer,
  errorOn,
  halvesOf,
  learnCascade,
  meanUs,
  measureModel,
  type CascadeModel,
  type LearnedCascade,
  type ModelOnDigits,
} from './cascadeExperiment.js';
import { cascadeFigure, type BudgetResult, type CascadeSummary, type LoadedRun } from './cascadeFigure.js';
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { TABLE_2 } from './networkDesigns.js';
import { SEEDS, intervalOf } from './regretExperiment.js';
import { trainedNetwork, writeCommittee } from './trainedNetworks.js';

/** Shares of the accurate model's GPU time. */
const BUDGETS = [0.1, 0.2, 0.3, 0.35, 0.4];
/** The one of the runs that compute everything. */
const AIMED = 0.35;
/** How often a cascade is asked each digit that it learns with: some 4,000 queries. */
const TIMES = 4;
/** Of the time that the accurate model can be busy, in the runs under load. */
const LOAD = 0.8;
/** So many of the reported digits, where every answer is computed. */
const COMPUTED = 300;
const CHEAP = ['digits-logistic', 'digits-linear-svm'] as const;
const ACCURATE = 'committee';
const CACHE_BYTES = 64 * 2 ** 20;

const { seed, folder } = experimentArguments('cascade', EXPERIMENTS.cascade);
const set = heldOutDigits();
const scratch = mkdtempSync(join(tmpdir(), 'windjammer-cascade-'));
try {
  const members = TABLE_2.map(({ name }) => trainedNetwork(name));
  const models = [
    ...CHEAP.map((name) => ({ name, path: builtInModelPath(name) })),
    { name: ACCURATE, path: writeCommittee(ACCURATE, members, scratch) },
  ];
  const pairs = await learnedPairs(models);
  const runs = await computedRuns(models, pairs);
  folder.writeJson('cascade.json', { seed, pairs, runs });
  folder.write('cascade.svg', cascadeFigure(pairs));
  for (const pair of pairs) tell(pair);
  tellRuns(runs);
} finally {
  rmSync(scratch, { recursive: true });
}

/** A cascade from each cheap model to the accurate one. Digits are computed once and answered from the cache afterwards. */
async function learnedPairs(models: readonly CascadeModel[]): Promise<readonly CascadeSummary[]> {
  const server = await DigitsServer.start(models, set, seed, CACHE_BYTES);
  const measured = new Map<string, ModelOnDigits>();
  for (const { name } of models) measured.set(name, await measureModel(server, name, set));
  const find = (name: string): ModelOnDigits => {
    const found = measured.get(name);
    if (found === undefined) throw new Error(`'${name}' was not measured`);
    return found;
  };
  const pairs: CascadeSummary[] = [];
  for (const name of CHEAP) pairs.push(await splitsOf(server, find(name), find(ACCURATE)));
  server.close();
  return pairs;
}

interface Single {
  readonly error: number;
  readonly gpuUs: number;
}

interface Split {
  /** That are reported. */
  readonly digits: number;
  readonly cheap: Single;
  readonly accurate: Single;
  /** By budget. */
  readonly learned: readonly LearnedCascade[];
}

async function splitsOf(
  server: DigitsServer,
  cheap: ModelOnDigits,
  accurate: ModelOnDigits,
): Promise<CascadeSummary> {
  const splits: Split[] = [];
  for (let at = 0; at < SEEDS; at++) {
    const halves = halvesOf(set.count, seed + at);
    const [, reported] = halves;
    const learned: LearnedCascade[] = [];
    for (const budget of BUDGETS)
      learned.push(await learnCascade(server, [cheap, accurate], budget, halves, TIMES));
    splits.push({
      digits: reported.length,
      cheap: { error: errorOn(cheap, reported), gpuUs: meanUs(cheap, reported) },
      accurate: { error: errorOn(accurate, reported), gpuUs: meanUs(accurate, reported) },
      learned,
    });
  }
  const mean = (of: (split: Split) => number) => intervalOf(splits.map(of));
  const budgets = BUDGETS.map((budget, at): BudgetResult => {
    const behind = ({ learned, accurate: alone }: Split): number => learned[at].error - alone.error;
    const share = ({ learned, accurate: alone }: Split): number => learned[at].gpuUs / alone.gpuUs;
    return {
      budget,
      threshold: mean(({ learned }) => learned[at].threshold),
      escalated: mean(({ learned }) => learned[at].escalated),
      error: mean(({ learned }) => learned[at].error),
      behind: mean(behind),
      gpuUs: mean(({ learned }) => learned[at].gpuUs),
      share: mean(share),
      within: splits.filter((split) => behind(split) <= 0.005 && share(split) <= 0.4).length,
      firstThreshold: splits[0].learned[at].threshold,
    };
  });
  const single = (of: 'cheap' | 'accurate') => ({
    name: (of === 'cheap' ? cheap : accurate).name,
    error: mean((split) => split[of].error),
    gpuUs: mean((split) => split[of].gpuUs),
    share: mean((split) => split[of].gpuUs / split.accurate.gpuUs),
  });
  const [{ digits }] = splits;
  return { splits: SEEDS, digits, cheap: single('cheap'), accurate: single('accurate'), budgets };
}

/** Without a cache, one query after the other and as a stream: the accurate model, and the first cheap one's cascade. */
async function computedRuns(
  models: readonly CascadeModel[],
  [pair]: readonly CascadeSummary[],
): Promise<readonly LoadedRun[]> {
  const computed = halvesOf(set.count, seed)[1].slice(0, COMPUTED);
  const threshold = pair.budgets.find(({ budget }) => budget === AIMED)?.firstThreshold ?? NaN;
  const server = await DigitsServer.start(models, set, seed, 0);
  const linked = [pair.cheap.name, ACCURATE];
  const policies = [
    { name: 'static', parameters: { model: ACCURATE } },
    { name: 'cascade', parameters: { threshold } },
  ];
  const perSecond = (LOAD * 1e6) / pair.accurate.gpuUs.mean;
  const runs: LoadedRun[] = [];
  for (const rate of [undefined, perSecond]) {
    for (const policy of policies) {
      const served = await server.serve(linked, policy, computed, rate);
      const { queries, error, gpuUsPerQuery, p50Us, p99Us, answeredBy } = served;
      const escalated = answeredBy.filter((name) => name === ACCURATE).length / queries;
      const perSecondOf = rate ?? null;
      const name = policy.name === 'static' ? ACCURATE : `cascade from ${pair.cheap.name}`;
      runs.push({ name, perSecond: perSecondOf, error, escalated, gpuUs: gpuUsPerQuery, p50Us, p99Us });
    }
  }
  server.close();
  return runs;
}

function tell({ cheap, accurate, budgets, splits }: CascadeSummary): void {
  folder.print(
    `\n| ${splits} splits | threshold | escalated | error | behind the ${accurate.name}, points | GPU time a query | of the ${accurate.name}'s | within 0.5 points at 40 % |\n` +
      '| --- | --- | --- | --- | --- | --- | --- | --- |\n',
  );
  for (const { name, error, gpuUs, share } of [cheap, accurate])
    folder.print(
      `| ${name} alone | | | ${percent(error.mean, 2)} | | ${gpuUs.mean.toFixed(1)} µs | ${percent(share.mean, 1)} | |\n`,
    );
  for (const one of budgets) {
    const [middle, low, high] = [one.behind.mean, one.behind.low, one.behind.high].map((share) =>
      (100 * share).toFixed(2),
    );
    folder.print(
      `| budget ${percent(one.budget, 0)} | ${one.threshold.mean.toFixed(4)} | ${percent(one.escalated.mean, 1)} | ${percent(one.error.mean, 2)} ` +
        `| ${middle} (${low} to ${high}) | ${one.gpuUs.mean.toFixed(1)} µs ` +
        `| ${percent(one.share.mean, 1)} (${percent(one.share.low, 1)} to ${percent(one.share.high, 1)}) | ${one.within} of ${splits} |\n`,
    );
  }
}

function tellRuns(runs: readonly LoadedRun[]): void {
  folder.print(
    `\n| all computed, ${COMPUTED} digits of the first split | queries/s | escalated | error | GPU time a query | p50 | p99 |\n| --- | --- | --- | --- | --- | --- | --- |\n`,
  );
  for (const { name, perSecond, escalated, error, gpuUs, p50Us, p99Us } of runs)
    folder.print(
      `| ${name} | ${perSecond === null ? 'one after the other' : perSecond.toFixed(0)} | ${percent(escalated, 1)} | ${percent(error, 2)} | ${gpuUs.toFixed(1)} µs | ${p50Us.toFixed(0)} µs | ${p99Us.toFixed(0)} µs |\n`,
    );
}
