import { makeLoad } from './loadProcesses.js';

/** How the application `noop` of a server is asked. */
export interface NoopLoad {
  readonly url: string;
  /** Of each input. */
  readonly elements: number;
  readonly seconds: number;
  /** Queries a second, one after as long as the other; undefined: as many as it answers. */
  readonly rate?: number;
}

export interface AskedNoop {
  readonly answers: number;
  /** What a query and its answer have kept this thread busy. */
  readonly busyMs: number;
  readonly quantileMs: (share: number) => number;
}

const CONNECTIONS = 16;

/** Asks `noop` for a while, and says how that went. No two inputs are alike. */
export async function askNoop({ url, elements, seconds, rate }: NoopLoad): Promise<AskedNoop> {
  salt += 1;
  const before = performance.eventLoopUtilization();
  const counts = await makeLoad(
    {
      url,
      connection: {},
      mode: 'http',
      trace: rate === undefined ? undefined : { spec: `uniform:${rate}`, seed: salt, scale: 1 },
      seconds,
      warmUpSeconds: 0,
      seed: salt,
      connections: CONNECTIONS,
      inFlight: 1,
      applications: [
        {
          name: 'noop',
          weight: 1,
          form: { type: 'doubles', length: elements },
          objectiveMs: 1000,
          models: [],
          v2Path: '',
        },
      ],
      inputs: undefined,
      repeats: undefined,
      feedback: { share: 0, delayMs: 0, lag: 'fixed' },
      timeoutMs: 10_000,
      lateLimitMs: undefined,
      answersFile: undefined,
      processes: 1,
    },
    () => undefined,
    new AbortController().signal,
  );
  const [tally] = counts.tallies.values();
  const { answers, latencies } = tally;
  const busyMs = performance.eventLoopUtilization(before).active / Math.max(1, answers);
  return { answers, busyMs, quantileMs: (share) => latencies.quantileMs(100 * share) };
}

/** Inputs that were asked before would be in the cache. */
let salt = 0;
