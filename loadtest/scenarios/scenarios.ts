import type { RunResult, WindowResult } from '../result/index.js';
import { application, inTimeShare, meanBatch, p99, timedModel, type Scenario } from './scenario.js';

const OBJECTIVE_MS = 20;
/** A batch of n takes 1 ms + n × 0.1 ms: 10,000 a second at the most. */
const ONE_MODEL = {
  applications: [application('one', ['timed'], OBJECTIVE_MS)],
  models: [timedModel('timed', 1, 0.1)],
};

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** Clipper's batching (NSDI 2017, section 4.3): batches grow with the load, and the objective is kept. */
const clipper: Scenario = {
  name: 'clipper',
  about: "Clipper's adaptive batching: one model, an objective of 20 ms, more and more load",
  usually: 'about 5 seconds',
  config: ONE_MODEL,
  runs: [200, 2000, 6000].map((rate) => ({
    name: `${rate} a second`,
    trace: `poisson:${rate}`,
    seconds: 10,
  })),
  expects: (results) => {
    const batches = results.map(meanBatch);
    return [
      {
        text: `batches grow with the load: ${batches.map((size) => size.toFixed(1)).join(', ')}`,
        holds: batches.every((size, at) => at === 0 || size > batches[at - 1] * 1.2),
      },
      {
        text: `99 of 100 queries are predicted in time at every load: ${results.map((one) => percent(inTimeShare(one))).join(', ')}`,
        holds: results.every((one) => inTimeShare(one) >= 0.99),
      },
    ];
  },
};

/** Clockwork (OSDI 2020): many functions, of which few are asked often, share a few models' replicas. */
const FUNCTIONS = 60;
const functionName = (at: number): string => `function${at}`;
const clockwork: Scenario = {
  name: 'clockwork',
  about: `Clockwork's functions: ${FUNCTIONS} applications of a model each, calls by Zipf's law, 100 ms each may take`,
  usually: 'about 10 seconds',
  config: {
    applications: Array.from({ length: FUNCTIONS }, (_, at) =>
      application(functionName(at), [`model${at}`], 100),
    ),
    models: Array.from({ length: FUNCTIONS }, (_, at) => timedModel(`model${at}`, 3, 0.5)),
  },
  runs: [{ name: 'functions', trace: 'functions', seconds: 60 }],
  expects: ([result]) => {
    const calls = result.applications.map(({ arrivals }) => arrivals).sort((a, b) => b - a);
    const often = calls.slice(0, FUNCTIONS / 10).reduce((sum, count) => sum + count, 0) / result.arrivals;
    return [
      { text: `a tenth of the functions gets most of the calls: ${percent(often)}`, holds: often > 0.5 },
      {
        text: `99.9 % of the calls are predicted in time: ${percent(inTimeShare(result))}`,
        holds: inTimeShare(result) >= 0.999,
      },
      {
        text: `no application waits for another: the slowest p99 is ${slowest(result).toFixed(1)} ms`,
        holds: slowest(result) < 100,
      },
    ];
  },
};

const bursts: Scenario = {
  name: 'bursts',
  about:
    'the same rate of queries, evenly, at random, and in bursts (Gamma gaps with coefficient of variation 8)',
  usually: 'about 5 seconds',
  config: ONE_MODEL,
  runs: ['uniform:1500', 'poisson:1500', 'bursty:1500,8'].map((trace) => ({
    name: trace,
    trace,
    seconds: 15,
  })),
  expects: (results) => {
    const tails = results.map(p99);
    const batches = results.map(meanBatch);
    return [
      {
        text: `the more uneven, the longer the tail: p99 of ${tails.map((ms) => ms.toFixed(1)).join(', ')} ms`,
        holds: tails.every((ms, at) => at === 0 || ms > tails[at - 1]),
      },
      {
        text: `the more uneven, the larger the batches: ${batches.map((size) => size.toFixed(1)).join(', ')}`,
        holds: batches.every((size, at) => at === 0 || size > batches[at - 1]),
      },
    ];
  },
};

const DAY_SECONDS = 120;
const day: Scenario = {
  name: 'day',
  about: `a day's curve in ${DAY_SECONDS} seconds: from 200 queries a second at night to 4,000 at noon`,
  usually: 'about 10 seconds',
  config: ONE_MODEL,
  runs: [{ name: 'a day', trace: `wave:200..4000,${DAY_SECONDS}`, seconds: DAY_SECONDS }],
  expects: ([result]) => {
    const at = (share: number): WindowResult[] =>
      result.windows.filter(
        ({ fromSeconds }) =>
          Math.abs(fromSeconds - share * result.durationSeconds) < 0.06 * result.durationSeconds,
      );
    const batch = (windows: readonly WindowResult[]): number =>
      total(windows, 'items') / total(windows, 'batches');
    const [night, noon] = [[...at(0), ...at(1)], at(0.5)];
    const ratio = total(noon, 'arrivals') / noon.length / (total(night, 'arrivals') / night.length);
    return [
      { text: `noon has many times the night's queries: ${ratio.toFixed(1)}`, holds: ratio > 5 },
      {
        text: `batches follow the curve: ${batch(night).toFixed(1)} at night, ${batch(noon).toFixed(1)} at noon`,
        holds: batch(noon) > batch(night) * 1.5,
      },
      {
        text: `99 of 100 queries are predicted in time: ${percent(inTimeShare(result))}`,
        holds: inTimeShare(result) >= 0.99,
      },
    ];
  },
};

/** DISB's kinds of clients, each of which asks a model of its own. */
const disb: Scenario = {
  name: 'disb',
  about:
    "DISB's kinds of clients side by side: periodic, Poisson and bursty ones, each with a model of its own",
  usually: 'about 5 seconds',
  config: {
    applications: ['periodic', 'poisson', 'bursty'].map((name) => application(name, [`model-${name}`], 50)),
    models: ['periodic', 'poisson', 'bursty'].map((name) => timedModel(`model-${name}`, 4, 1)),
  },
  runs: [{ name: 'clients', trace: 'clients', seconds: 60 }],
  expects: ([result]) => {
    const of = (name: string): number =>
      result.applications.find((one) => one.name === name)?.latency?.p99Ms ?? Infinity;
    const tails = ['periodic', 'poisson', 'bursty'].map(of);
    return [
      {
        text: `the more uneven a client asks, the longer its tail: p99 of ${tails.map((ms) => ms.toFixed(1)).join(', ')} ms`,
        holds: tails.every((ms, at) => at === 0 || ms > tails[at - 1]),
      },
      {
        text: `a periodic client's queries are alone: its longest is ${longest(result, 'periodic').toFixed(1)} ms`,
        holds: longest(result, 'periodic') < 8,
      },
    ];
  },
};

export const SCENARIOS: readonly Scenario[] = [clipper, clockwork, bursts, day, disb];
export { FUNCTIONS, functionName };

function slowest({ applications }: RunResult): number {
  return Math.max(...applications.map(({ latency }) => latency?.p99Ms ?? 0));
}

function longest({ applications }: RunResult, name: string): number {
  return applications.find((one) => one.name === name)?.latency?.maxMs ?? Infinity;
}

function total(windows: readonly WindowResult[], field: 'items' | 'batches' | 'arrivals'): number {
  return windows.reduce((sum, window) => sum + window[field], 0);
}
