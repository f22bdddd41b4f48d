import type { LoadResult } from './loadGenerator.js';
import type { ServerProcess } from './serverProcess.js';

export interface PredictBenchOptions {
  /** Of one leg; the four legs of a run are A-B-B-A, so that a drifting machine harms both sides alike. */
  readonly legSeconds: number;
  readonly warmUpSeconds: number;
}

/** A server and what is sent to it. */
export interface BenchSide {
  readonly server: ServerProcess;
  readonly title: string;
  /** `salt` makes the inputs of a call differ from those of any other. */
  readonly load: (seconds: number, salt: number) => Promise<LoadResult>;
}

/** One server's two legs together. */
export interface SideResult {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
  /** Of all answers, where defaults were counted. */
  readonly defaultShare: number;
}

export interface PredictBenchResult {
  readonly options: PredictBenchOptions;
  readonly product: SideResult;
  readonly baseline: SideResult;
  /** Product over baseline. */
  readonly throughputRatio: number;
  readonly cpuRatio: number;
  readonly p50Ratio: number;
}

interface Leg extends LoadResult {
  readonly cpuSeconds: number;
}

let salt = 1;

async function leg({ server, load }: BenchSide, seconds: number): Promise<Leg> {
  const before = await server.cpuSeconds();
  const result = await load(seconds, salt++);
  return { ...result, cpuSeconds: (await server.cpuSeconds()) - before };
}

/** One side by itself, for figures that are held against something other than a server: two legs. */
export async function soloBench(side: BenchSide, options: PredictBenchOptions): Promise<SideResult> {
  await leg(side, options.warmUpSeconds);
  const first = await leg(side, options.legSeconds);
  return together(side.title, [first, await leg(side, options.legSeconds)]);
}

export async function predictBench(
  product: BenchSide,
  baseline: BenchSide,
  options: PredictBenchOptions,
): Promise<PredictBenchResult> {
  for (const side of [product, baseline]) await leg(side, options.warmUpSeconds);
  const legs: [BenchSide, Leg][] = [];
  for (const side of [product, baseline, baseline, product]) {
    legs.push([side, await leg(side, options.legSeconds)]);
  }
  const result = (side: BenchSide) =>
    together(
      side.title,
      legs.filter(([of]) => of === side).map(([, one]) => one),
    );
  const [a, b] = [result(product), result(baseline)];
  return {
    options,
    product: a,
    baseline: b,
    throughputRatio: a.requestsPerSecond / b.requestsPerSecond,
    cpuRatio: a.cpuUsPerRequest / b.cpuUsPerRequest,
    p50Ratio: a.p50Ms / b.p50Ms,
  };
}

function together(name: string, legs: readonly Leg[]): SideResult {
  const requests = legs.reduce((sum, leg) => sum + leg.requests, 0);
  const mean = (of: (leg: Leg) => number) => legs.reduce((sum, leg) => sum + of(leg), 0) / legs.length;
  return {
    name,
    requestsPerSecond: mean((leg) => leg.requestsPerSecond),
    cpuUsPerRequest: (legs.reduce((sum, leg) => sum + leg.cpuSeconds, 0) / requests) * 1e6,
    p50Ms: mean((leg) => leg.p50Ms),
    p99Ms: Math.max(...legs.map((leg) => leg.p99Ms)),
    errors: legs.reduce((sum, leg) => sum + leg.errors, 0),
    defaultShare: legs.reduce((sum, leg) => sum + leg.defaults, 0) / requests,
  };
}
