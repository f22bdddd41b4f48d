import { load, type LoadResult } from './loadGenerator.js';
import type { ServerProcess } from './serverProcess.js';

export interface PredictBenchOptions {
  readonly generator: 'wrk' | 'autocannon';
  readonly connections: number;
  /** Of one leg; the four legs of a run are A-B-B-A, so that a drifting machine harms both sides alike. */
  readonly legSeconds: number;
  readonly warmUpSeconds: number;
  readonly inputLength: number;
  readonly unique: boolean;
}

/** One server's two legs together. */
export interface SideResult {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
}

export interface PredictBenchResult {
  readonly options: PredictBenchOptions;
  readonly product: SideResult;
  readonly baseline: SideResult;
  /** Product over baseline. */
  readonly throughputRatio: number;
  readonly cpuRatio: number;
}

interface Leg extends LoadResult {
  readonly cpuSeconds: number;
}

export async function predictBench(
  product: ServerProcess,
  baseline: ServerProcess,
  options: PredictBenchOptions,
): Promise<PredictBenchResult> {
  let salt = 1;
  const leg = async (server: ServerProcess, seconds: number): Promise<Leg> => {
    const before = await server.cpuSeconds();
    const result = await load(options.generator, { ...options, url: server.url, seconds, salt: salt++ });
    return { ...result, cpuSeconds: (await server.cpuSeconds()) - before };
  };
  for (const server of [product, baseline]) await leg(server, options.warmUpSeconds);
  const legs: [ServerProcess, Leg][] = [];
  for (const server of [product, baseline, baseline, product]) {
    legs.push([server, await leg(server, options.legSeconds)]);
  }
  const side = (server: ServerProcess) =>
    together(
      server.name,
      legs.filter(([of]) => of === server).map(([, result]) => result),
    );
  const [a, b] = [side(product), side(baseline)];
  return {
    options,
    product: a,
    baseline: b,
    throughputRatio: a.requestsPerSecond / b.requestsPerSecond,
    cpuRatio: a.cpuUsPerRequest / b.cpuUsPerRequest,
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
  };
}
