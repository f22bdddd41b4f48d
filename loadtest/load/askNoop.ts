import { makeLoad } from './loadProcesses.js';

/** How the application `noop` of a server is asked. */
export interface NoopLoad {
  readonly url: string;
  /** Of each input. */
  readonly elements: number;
  readonly seconds: number;
  /** Queries a second, at random; undefined: as many as it answers. */
  readonly rate?: number;
}

const CONNECTIONS = 16;

/** Asks `noop` for a while, and says how that went. No two inputs are alike. */
export async function askNoop({
  url,
  elements,
  seconds,
  rate,
}: NoopLoad): Promise<{ readonly answers: number; readonly p50Ms: number }> {
  salt += 1;
  const counts = await makeLoad(
    {
      url,
      connection: {},
      mode: 'http',
      trace: rate === undefined ? undefined : { spec: `poisson:${rate}`, seed: salt, scale: 1 },
      seconds,
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
  return { answers: tally.answers, p50Ms: tally.latencies.summary()?.p50Ms ?? 0 };
}

/** Inputs that were asked before would be in the cache. */
let salt = 0;
