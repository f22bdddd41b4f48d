import type { ExperimentDescription } from './experimentArguments.js';

/** What it is unless it is told. */
const text = (preset: string) => ({ type: 'string', default: preset }) as const;
const TEXT = { type: 'string' } as const;
const TEXTS = { type: 'string' as const, multiple: true as const, default: [] as string[] };
const FLAG = { type: 'boolean', default: false } as const;

/** The day of Clipper's conference. */
const NSDI = 20170327;

/** Every experiment but the scenarios: how long it usually takes on two cores that do nothing else, and what it takes. */
export const EXPERIMENTS = {
  agreement: {
    usually: 'about an hour and a quarter (--seconds, --only, --traces and --loads make it shorter)',
    folder: 'agreement',
    seed: 1,
    options: {
      seconds: text('60'),
      only: text('timed,digits-logistic,digits-mlp,digits-linear-svm,digits-rbf-svm,digits-random-forest'),
      traces: text('poisson,bursty,azure'),
      loads: text('50,200,500'),
      'host-times': text('measure'),
      together: text('1'),
    },
  },
  aimd: { usually: 'about 15 seconds', folder: 'aimd', seed: NSDI, options: { only: text('all') } },
  batchLatency: { usually: 'about 1.5 minutes', folder: 'batching', seed: NSDI },
  canary: { usually: 'about a minute', folder: 'canary', seed: NSDI },
  cascade: { usually: 'about three minutes', folder: 'cascade', seed: NSDI },
  concurrency: {
    usually: 'about 20 seconds',
    folder: 'concurrency',
    options: { only: text(''), launches: FLAG },
  },
  contextPrior: { usually: 'about 3 minutes', folder: 'contextPrior', seed: NSDI },
  contexts: {
    usually: 'about three minutes',
    folder: 'contexts',
    seed: NSDI,
    options: { contexts: text('1000000'), seconds: text('10') },
  },
  contextualRegret: { usually: 'about half a minute', folder: 'contextualRegret', seed: NSDI },
  delayedBatching: { usually: 'about 10 seconds', folder: 'delayedBatching', seed: NSDI },
  disb: {
    usually: 'about 10 minutes',
    folder: 'disb',
    seed: 1,
    options: {
      workloads: TEXT,
      tables: TEXT,
      device: text('v100'),
      seconds: text('10'),
      only: TEXT,
      policies: TEXT,
    },
  },
  ensembleConfidence: { usually: 'about 3 seconds', folder: 'ensembleConfidence', seed: NSDI },
  errorsToday: { usually: 'about a second', folder: 'gpuTime', words: 'NAME=FILE.json …' },
  faults: { usually: 'about 5 minutes', folder: 'faults', seed: 1, options: { only: TEXT } },
  feedbackCache: {
    usually: 'about 2 minutes',
    folder: 'feedbackCache',
    seed: NSDI,
    options: { seconds: text('4'), rounds: text('3') },
  },
  gpuTime: {
    usually: 'about ten minutes (--part shares the work)',
    folder: 'gpuTime',
    options: {
      largest: text(String(2 ** 27)),
      rounds: text('3'),
      'no-leave-one-out': FLAG,
      keep: TEXTS,
      part: text('1/1'),
    },
  },
  gpuTimeAblation: {
    usually: 'some hours (--part shares the work)',
    folder: 'gpuTime',
    options: {
      largest: text(String(2 ** 22)),
      keep: TEXTS,
      middle: FLAG,
      only: TEXTS,
      kept: FLAG,
      every: text('1'),
      part: text('1/1'),
      set: TEXTS,
    },
  },
  'idempotency/audit': {
    usually: 'about a minute',
    folder: 'idempotency',
    seed: 5,
    options: { rerolls: text('100'), part: text('0/1') },
  },
  'idempotency/cover': {
    usually: 'about 4 minutes',
    folder: 'idempotency',
    options: { threads: text('65536') },
  },
  'idempotency/fuzz': {
    usually: 'about 4 minutes',
    folder: 'idempotency',
    seed: 1,
    options: {
      kills: text('32'),
      launches: text('1000'),
      part: text('0/1'),
      solver: TEXT,
      'allocation-bound': FLAG,
    },
  },
  'idempotency/heldOut': { usually: 'about a minute', folder: 'idempotency' },
  'idempotency/mutants': {
    usually: 'about 35 seconds',
    folder: 'idempotency',
    seed: 1,
    options: { launches: text('20'), kills: text('4'), step: text('1'), only: TEXTS, family: TEXTS },
  },
  'idempotency/overhead': {
    usually: 'about 10 seconds',
    folder: 'idempotency',
    seed: 5,
    options: { queries: text('512') },
  },
  'idempotency/table': {
    usually: 'about a minute',
    folder: 'idempotency',
    options: { mode: text('compacted'), solver: TEXT },
  },
  jobKills: {
    usually: 'some 15 minutes (--moments makes it shorter)',
    folder: 'jobKills',
    seed: 1,
    options: { moments: text('200'), lines: text('10000'), shared: FLAG },
  },
  kindsOfModels: {
    usually: 'about a minute (--train takes two to four for each network)',
    folder: 'kindsOfModels',
    seed: NSDI,
    options: { queries: text('1000'), train: TEXTS },
  },
  modelFailure: { usually: 'about 2 minutes', folder: 'modelFailure', seed: NSDI },
  offPolicy: { usually: 'about a minute', folder: 'offPolicy', seed: NSDI },
  personalModels: { usually: 'about 2 minutes', folder: 'personalModels', seed: NSDI },
  predictPath: {
    usually: 'about 10 seconds',
    folder: 'predictPath',
    seed: 1,
    options: { queries: text('400000') },
  },
  preemption: { usually: 'about 3 minutes', folder: 'preemption', seed: 1 },
  regret: { usually: 'about 15 seconds', folder: 'regret', seed: NSDI },
  replicaScaling: { usually: 'about 20 seconds', folder: 'replicas', seed: NSDI },
  stragglers: { usually: 'about a minute', folder: 'stragglers', seed: NSDI },
} as const satisfies Readonly<Record<string, ExperimentDescription & { readonly usually: string }>>;

export type ExperimentName = keyof typeof EXPERIMENTS;
