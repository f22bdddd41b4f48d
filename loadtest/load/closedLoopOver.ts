import { makeLoad } from './loadProcesses.js';

/** Asks the application `noop` of a server for a while, and says how that went. No two inputs are alike. */
export async function closedLoopOver(
  url: string,
  connections: number,
  elements: number,
  seconds: number,
): Promise<{ readonly answers: number; readonly p50Ms: number }> {
  salt += 1;
  const counts = await makeLoad(
    {
      url,
      connection: {},
      mode: 'http',
      trace: undefined,
      seconds,
      seed: salt,
      connections,
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
