import { digitAt, PIXELS, type DigitSet } from '../../containers/models/index.js';
import { VirtualNode } from '../../containers/runtime/testing/index.js';
import { KeyedDraw, type Json } from '../../selection/index.js';
import { PredictionEngine, type Answer, type Query } from '../../services/prediction/index.js';
import { Registry } from '../../services/registry/index.js';
import { MemoryStore } from '../../services/store/index.js';
import { wholeNumberHistogram } from '../../simulator/statistics/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { PoissonLoad } from './poissonLoad.js';

const OBJECTIVE_US = 100_000;

/** A kernel model on disk. */
export interface CascadeModel {
  readonly name: string;
  readonly path: string;
}

/** One policy, as an application names it. */
export interface PolicyOfCascade {
  readonly name: string;
  readonly parameters: Json;
}

export interface ServedDigits {
  readonly queries: number;
  readonly error: number;
  readonly defaults: number;
  /** Time with a block on the GPU for each query, as the simulator charges it. */
  readonly gpuUsPerQuery: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** The last model that answered each query, whose answer a cascade gives; '' for none. */
  readonly answeredBy: readonly string[];
  /** The policy's at the end. */
  readonly state: Json;
}

/** The prediction engine over the kernels of some models on one simulated H200, in virtual time. */
export class DigitsServer {
  private readonly clock = new VirtualClock();
  private readonly node = new VirtualNode({ clock: this.clock });
  private readonly store = new MemoryStore();
  private readonly registry = new Registry(this.store);
  private readonly engine: PredictionEngine;
  private applications = 0;

  private constructor(
    private readonly set: DigitSet,
    private readonly seed: number,
    cacheBytes: number,
  ) {
    const { clock, registry, store } = this;
    this.engine = new PredictionEngine({ clock, registry, store, seed, cacheBytes, recentQueries: 1024 });
  }

  /**
   * @param set whose digits it is asked
   * @param cacheBytes of the prediction cache; 0: every query is computed
   */
  static async start(
    models: readonly CascadeModel[],
    set: DigitSet,
    seed: number,
    cacheBytes: number,
  ): Promise<DigitsServer> {
    const server = new DigitsServer(set, seed, cacheBytes);
    for (const model of models) await server.deploy(model);
    server.clock.run();
    if (server.engine.replicas().length < models.length) throw new Error('a model did not start');
    return server;
  }

  /** Digits through an application of the policy, that is made for them. @param linked in order, the cheapest first */
  async serve(
    linked: readonly string[],
    policy: PolicyOfCascade,
    digits: readonly number[],
    perSecond?: number,
  ): Promise<ServedDigits> {
    const application = `digits-${(this.applications += 1)}`;
    await this.registry.addApplication({
      name: application,
      inputType: 'floats',
      defaultOutput: '-1',
      latencyObjectiveUs: OBJECTIVE_US,
      policy,
    });
    await this.registry.addLinks(application, linked);
    const { clock, engine } = this;
    const before = this.node.gpuNode.reading(0);
    const answers: (Answer | undefined)[] = digits.map(() => undefined);
    const sink = {
      onAnswer: ({ id }: Query, answer: Answer) => {
        answers[Number(id.split('/')[1])] = answer;
      },
      onRefusal: (_query: Query, refusal: { message: string }) => {
        throw new Error(refusal.message);
      },
    };
    const ask = (at: number): void => {
      const pixels = digitAt(this.set, digits[at]);
      const input = new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength);
      engine.predict({ id: `${application}/${at}`, application, context: '', input }, sink);
    };
    if (perSecond === undefined) {
      for (let at = 0; at < digits.length; at++) {
        ask(at);
        clock.run();
      }
    } else {
      const from = clock.nowNs();
      const last = (at: number): void => (at < digits.length ? ask(at) : undefined);
      const untilNs = from + (digits.length / perSecond) * 1e9;
      new PoissonLoad(clock, `load ${application}`, perSecond, from, untilNs, this.seed, last);
      clock.run();
    }
    engine.flush(() => undefined);
    const after = this.node.gpuNode.reading(0);
    const state = engine.states(application)?.of('').state ?? null;
    await this.registry.deleteApplication(application);
    return {
      ...summaryOf(answers, (at) => `${this.set.labels[digits[at]]}`, (after.busyNs - before.busyNs) / 1e3),
      state,
    };
  }

  close(): void {
    this.engine.close();
    this.node.close(() => undefined);
    this.registry.close();
  }

  private async deploy({ name, path }: CascadeModel): Promise<void> {
    await this.registry.addModel({
      name,
      version: '1',
      inputType: 'floats',
      inputLength: PIXELS,
      labels: [],
      container: { kind: 'kernelModel', path },
      batching: { strategy: 'aimd' },
    });
    const request = { model: name, version: '1', replica: '0', path } as const;
    this.engine.addReplica(this.node.start({ ...request, inputType: 'floats', inputLength: PIXELS }));
  }
}

/** @param answers undefined: a stream ended before it was asked */
function summaryOf(
  answers: readonly (Answer | undefined)[],
  labelOf: (at: number) => string,
  gpuUs: number,
): Omit<ServedDigits, 'state'> {
  const latencies = wholeNumberHistogram();
  let [queries, right, defaults] = [0, 0, 0];
  answers.forEach((answer, at) => {
    if (answer === undefined) return;
    queries += 1;
    latencies.recordValue(answer.latencyNs);
    if (answer.isDefault) defaults += 1;
    if (answer.output === labelOf(at)) right += 1;
  });
  if (queries === 0) throw new Error('nothing was answered');
  return {
    queries,
    error: 1 - right / queries,
    defaults: defaults / queries,
    gpuUsPerQuery: gpuUs / queries,
    p50Us: latencies.getValueAtPercentile(50) / 1e3,
    p99Us: latencies.getValueAtPercentile(99) / 1e3,
    answeredBy: answers.map((answer) => answer?.models.at(-1)?.name ?? ''),
  };
}

/** A model by itself on single digits: what the simulator charges for each, in µs, and whether it is right. */
export interface ModelOnDigits {
  readonly name: string;
  readonly gpuUs: Float64Array;
  readonly isRight: readonly boolean[];
}

/** Asks a model each digit of a set by itself. */
export async function measureModel(
  server: DigitsServer,
  name: string,
  set: DigitSet,
): Promise<ModelOnDigits> {
  const gpuUs = new Float64Array(set.count);
  const isRight: boolean[] = [];
  const policy = { name: 'static', parameters: { model: name } };
  for (let digit = 0; digit < set.count; digit++) {
    const { gpuUsPerQuery, error } = await server.serve([name], policy, [digit]);
    gpuUs[digit] = gpuUsPerQuery;
    isRight.push(error === 0);
  }
  return { name, gpuUs, isRight };
}

/** Two halves of a set, dealt by the seed: one to learn on, the other to report. */
export function halvesOf(
  count: number,
  seed: number,
): readonly [learned: readonly number[], reported: readonly number[]] {
  const draw = new KeyedDraw(seed).of('halves');
  const order = Array.from({ length: count }, (_, at) => ({ at, key: draw() }))
    .sort((one, other) => one.key - other.key)
    .map(({ at }) => at);
  return [order.slice(0, count >> 1), order.slice(count >> 1)];
}

export interface LearnedCascade {
  readonly threshold: number;
  /** On the digits that are reported: the error, what is charged a query in µs, and the share of queries that both models were asked. */
  readonly error: number;
  readonly gpuUs: number;
  readonly escalated: number;
}

/**
 * Learns a cascade's threshold to a budget of GPU time on some digits, whose labels nobody tells it, and serves others with it,
 * learning no more. Each model's cost is what it was charged on the digits to learn with.
 * @param server may answer from its cache: a query is charged what its models were charged for its digit when they computed it
 * @param budget what a query may cost on average, as a share of the accurate model's cost
 * @param times how often it is asked each digit to learn with
 */
export async function learnCascade(
  server: DigitsServer,
  [cheap, accurate]: readonly [ModelOnDigits, ModelOnDigits],
  budget: number,
  [learned, reported]: readonly [readonly number[], readonly number[]],
  times: number,
): Promise<LearnedCascade> {
  const linked = [cheap.name, accurate.name];
  const costs = Object.fromEntries([cheap, accurate].map((one) => [one.name, meanUs(one, learned)]));
  const again = Array.from({ length: times }, () => learned).flat();
  const parameters = { costs, budget: budget * costs[accurate.name] };
  const { state } = await server.serve(linked, { name: 'cascade', parameters }, again);
  const threshold = 1 / (1 + Math.exp(-(state as { readonly limit: number }).limit));
  const fixed = { name: 'cascade', parameters: { threshold } };
  const { error, answeredBy } = await server.serve(linked, fixed, reported);
  const isEscalated = answeredBy.map((name) => name === accurate.name);
  const chargedUs = reported.reduce(
    (sum, digit, at) => sum + cheap.gpuUs[digit] + (isEscalated[at] ? accurate.gpuUs[digit] : 0),
    0,
  );
  return {
    threshold,
    error,
    gpuUs: chargedUs / reported.length,
    escalated: isEscalated.filter((one) => one).length / reported.length,
  };
}

export function meanUs({ gpuUs }: ModelOnDigits, digits: readonly number[]): number {
  return digits.reduce((sum, digit) => sum + gpuUs[digit], 0) / digits.length;
}

export function errorOn({ isRight }: ModelOnDigits, digits: readonly number[]): number {
  return digits.filter((digit) => !isRight[digit]).length / digits.length;
}
