import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { policyNamed } from '../../selection/index.js';
import { SeededRandom } from '../../simulator/random/index.js';
import { WebSocketClient, WindjammerClient } from '../../services/client/index.js';
import { SelectionStates } from '../../services/feedback/index.js';
import { EmbeddedStore } from '../../services/store/index.js';
import { Durations } from '../measure/index.js';

export const APPLICATION = 'many';
/** Whose queries are watched while the other one is attacked. */
export const BYSTANDER = 'bystander';
const MODELS = ['one', 'two', 'three', 'four'];
const POLICY = { name: 'exp3', parameters: {} };
const IN_FLIGHT = 64;
/** Contexts that come back all the time. */
export const HOT = 1000;

/** Fills a data directory as so many users who have each judged once would have. @returns contexts a second */
export async function fill(directory: string, contexts: number): Promise<number> {
  const store = new EmbeddedStore(directory);
  const states = new SelectionStates({
    application: APPLICATION,
    policy: policyNamed(POLICY.name),
    parameters: POLICY.parameters,
    arms: MODELS,
    store,
    onWriteFailed: (_key, message) => {
      throw new Error(message);
    },
  });
  const started = performance.now();
  let open = 0;
  for (let at = 0; at < contexts; at++) {
    open += 1;
    states.of(userName(at)).observe({
      selection: { arms: [MODELS[at % MODELS.length]], propensity: 0.25 },
      predictions: [{ arm: MODELS[at % MODELS.length], output: '1' }],
      feedback: { label: '0' },
      done: () => (open -= 1),
    });
    while (open >= 5000) await nextTurn();
  }
  while (open > 0) await nextTurn();
  const perSecond = contexts / ((performance.now() - started) / 1000);
  states.close();
  await new Promise<void>((resolve) => store.close(resolve));
  return perSecond;
}

export const userName = (at: number): string => `user-${at}`;

/** Registers both applications with models that answer at once. */
export async function register(managementUrl: string): Promise<void> {
  const { management } = new WindjammerClient({ managementUrl });
  for (const model of MODELS) {
    await management.addModel({
      model_name: model,
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/constant',
      output: '1',
    });
  }
  for (const name of [APPLICATION, BYSTANDER]) {
    await management.addApplication({
      name,
      input_type: 'doubles',
      default_output: '-',
      latency_slo_micros: 100_000,
      policy: POLICY,
    });
    await management.addLinks(name, MODELS);
  }
}

export interface Leg {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Defaults, refusals and lost connections. */
  readonly errors: number;
}

/** As many queries as one client gets answered. @param contextOf of each query; '' for none @param judges sends feedback for each */
export async function closedLoop(
  url: string,
  seconds: number,
  contextOf: (query: number) => string,
  judges = false,
): Promise<Leg> {
  const client = await WebSocketClient.connect(url, { maxInFlight: 2 * IN_FLIGHT });
  const durations = new Durations();
  let [queries, errors] = [0, 0];
  const started = performance.now();
  const untilMs = started + seconds * 1000;
  const lane = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const at = queries++;
      const beganMs = performance.now();
      try {
        const { queryId, isDefault } = await client.predict(APPLICATION, new Float64Array([at]), {
          context: contextOf(at),
        });
        durations.record((performance.now() - beganMs) * 1e6);
        if (isDefault) errors += 1;
        if (judges) await client.feedback(APPLICATION, { queryId, label: '0' });
      } catch {
        errors += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  const perSecond = queries / ((performance.now() - started) / 1000);
  await client.close();
  return { perSecond, errors, ...summed(durations) };
}

/** Queries of the bystander at a steady rate, each with one of 100 contexts that it has judged before. */
export async function steady(url: string, seconds: number, perSecond: number, seed: number): Promise<Leg> {
  const client = await WebSocketClient.connect(url, { maxInFlight: 1000 });
  const random = new SeededRandom(seed);
  const durations = new Durations();
  let [queries, errors] = [0, 0];
  const open = new Set<Promise<void>>();
  const started = performance.now();
  for (let dueMs = 0; dueMs < seconds * 1000; dueMs += (-Math.log(1 - random.share()) * 1000) / perSecond) {
    while (performance.now() - started < dueMs) await new Promise((resolve) => setTimeout(resolve, 1));
    const context = userName(Math.floor(random.share() * 100));
    // From when it was due: a server that stands still makes all wait that come meanwhile.
    const at = queries++;
    const one = client
      .predict(BYSTANDER, new Float64Array([-1 - at]), { context })
      .then(async ({ queryId, isDefault }) => {
        durations.record((performance.now() - started - dueMs) * 1e6);
        if (isDefault) errors += 1;
        if (at % 10 === 0) await client.feedback(BYSTANDER, { queryId, label: '0' });
      })
      .catch(() => void (errors += 1))
      .finally(() => open.delete(one));
    open.add(one);
  }
  await Promise.all(open);
  await client.close();
  return { perSecond: queries / seconds, errors, ...summed(durations) };
}

function summed(durations: Durations): Pick<Leg, 'p50Ms' | 'p99Ms' | 'maxMs'> {
  const { p50Ms = NaN, p99Ms = NaN, maxMs = NaN } = durations.summary() ?? {};
  return { p50Ms, p99Ms, maxMs };
}

/** Resident memory of a process, and of that what is of files (LMDB's pages). */
export function memoryOf(pid: number): { readonly rssMib: number; readonly fileMib: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN) / 1024;
  return { rssMib: mib('VmRSS'), fileMib: mib('RssFile') };
}
