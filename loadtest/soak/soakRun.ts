import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import {
  abortLane,
  badInputLane,
  cutWebSocketLane,
  dialledGarbageLane,
  faultLane,
  malformedLane,
  mixedBatchLane,
} from './badLanes.js';
import { DialledPair } from './dialledPair.js';
import { ECHO_KINDS } from './echoContainers.js';
import { DIALLED, ECHO, Expectations, SCALE } from './expectations.js';
import { batchLane, dialledLane, restLane, tensorLane, Tokens, type Exchange } from './goodLanes.js';
import { HttpPeer } from './httpPeer.js';
import { LaneRunner } from './lanes.js';
import { Randomness } from './randomness.js';
import type { ServerSample } from './serverProbe.js';
import { ServerUnderTest } from './serverUnderTest.js';
import { growth } from './trend.js';
import { Troubles } from './troubles.js';
import { Violations } from './violations.js';
import { webSocketLane } from './webSocketLane.js';

export interface SoakSettings {
  readonly seconds: number;
  readonly seed: number;
  /** Of what the server can do, which is measured first. */
  readonly loadShare: number;
  /** From the end of one trouble to the next. */
  readonly troubleEveryMs: number;
  /** Told now and then how it goes. */
  readonly onProgress?: (text: string) => void;
}

export interface SoakSample extends ServerSample {
  readonly atSeconds: number;
  /** So far. */
  readonly answers: number;
}

export interface SoakReport {
  readonly capacityPerSecond: number;
  readonly offeredPerSecond: number;
  readonly queries: number;
  readonly answers: number;
  readonly skipped: number;
  readonly defaults: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly troubles: Readonly<Record<string, number>>;
  readonly samples: readonly SoakSample[];
  /** Of the server's heap after a collection, once caches are full; undefined for a run that is too short for it. */
  readonly heapGrowthMib: number | undefined;
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  readonly violations: ReturnType<Violations['list']>;
}

const CAPACITY_SECONDS = 4;
const SAMPLES = 40;
/** By then the server remembers as many queries, and caches as many predictions, as it ever will. */
const WARM_ANSWERS = 100_000;
const FEWEST_WARM_SAMPLES = 10;
/** A heap that grows less over the run is flat: as much comes and goes with what is under way. */
const FLAT_SHARE = 0.05;
const FLAT_MIB = 4;
/** Longest that queries in flight may last once nobody asks: the objective, and some. */
const OBJECTIVE_US = 500_000;
const SETTLE_MS = 5000;

/** Serves a mixed load with trouble for a while; what must not happen is in the report. */
export async function runSoak(settings: SoakSettings): Promise<SoakReport> {
  const violations = new Violations();
  const { seed, seconds, loadShare, onProgress = () => undefined } = settings;
  const server = await ServerUnderTest.start(seed, violations);
  const http = new HttpPeer(server.query);
  const expect = new Expectations(violations);
  const dialled = new DialledPair(server.containerPort, violations);
  const containers = new HttpPeer(`http://127.0.0.1:${server.containerPort}`);
  try {
    const troubles = new Troubles(server, dialled, new Randomness(seed, 'troubles'), violations, onProgress);
    await setUp(server, troubles);
    const random = new Randomness(seed, 'clients');
    const exchange: Exchange = { http, tokens: new Tokens(random), random, expect };
    const webSockets = (['binary', 'json'] as const).map((format) =>
      webSocketLane(exchange, server.query, format, violations),
    );
    const good = [
      restLane(exchange),
      batchLane(exchange),
      tensorLane(exchange),
      dialledLane(exchange),
      ...webSockets,
    ];
    const bad = [
      badInputLane(exchange),
      mixedBatchLane(exchange, violations),
      faultLane(exchange, violations),
      abortLane(exchange),
      cutWebSocketLane(exchange, server.query),
      malformedLane(exchange, violations),
      dialledGarbageLane(exchange, containers),
    ];
    const capacityPerSecond = await new LaneRunner(good, violations).flatOut(CAPACITY_SECONDS);
    const offeredPerSecond = loadShare * capacityPerSecond;
    onProgress(`${capacityPerSecond.toFixed(0)} queries/s flat out, ${offeredPerSecond.toFixed(0)} offered`);

    const runner = new LaneRunner([...good, ...bad], violations);
    const samples: SoakSample[] = [];
    const began = performance.now();
    const atSeconds = (): number => (performance.now() - began) / 1000;
    const isOver = (): boolean => {
      // There is nothing more to learn from a server that is gone.
      if (!server.isAlive) runner.stop();
      return atSeconds() >= seconds || !server.isAlive;
    };
    const sampling = (async () => {
      for (let at = 1; !isOver(); at++) {
        const dueMs = began + (at * seconds * 1000) / SAMPLES - performance.now();
        await new Promise((resolve) => setTimeout(resolve, Math.max(1, dueMs)));
        try {
          samples.push({ ...(await server.sample()), atSeconds: atSeconds(), answers: expect.answers });
        } catch (error) {
          violations.add('the server gave no sample', String(error));
          runner.stop();
          return;
        }
        const { heapMib, loopMaxMs } = samples[samples.length - 1];
        onProgress(
          `${atSeconds().toFixed(0)} s: ${expect.answers} answers, ${expect.defaultCount} of them defaults, heap ${heapMib.toFixed(1)} MiB, ` +
            `event loop at most ${loopMaxMs.toFixed(0)} ms late, ${violations.count} violations`,
        );
      }
    })();
    await Promise.all([
      runner.atRate(offeredPerSecond, seconds),
      troubles.run(settings.troubleEveryMs, isOver),
      sampling,
    ]);
    if (server.isAlive) await nothingLeft(server, violations);
    const heapGrowthMib = judgeHeap(samples, violations);
    for (const webSocket of webSockets) await webSocket.close();
    http.close();
    await server.end();
    return {
      capacityPerSecond,
      offeredPerSecond,
      queries: runner.done,
      answers: expect.answers,
      skipped: runner.skipped,
      defaults: Object.fromEntries(expect.defaults),
      refusals: Object.fromEntries(expect.refusals),
      troubles: Object.fromEntries(troubles.done),
      samples,
      heapGrowthMib,
      loopP99Ms: Math.max(...samples.map(({ loopP99Ms }) => loopP99Ms)),
      loopMaxMs: Math.max(...samples.map(({ loopMaxMs }) => loopMaxMs)),
      violations: violations.list(),
    };
  } finally {
    http.close();
    containers.close();
    dialled.end();
    await server.end();
  }
}

async function setUp(server: ServerUnderTest, troubles: Troubles): Promise<void> {
  const common = { latency_slo_micros: OBJECTIVE_US, default_output: '"none"' };
  await server.admin('add_app', { name: ECHO, input_type: 'doubles', ...common });
  await server.admin('add_app', { name: SCALE, input_type: 'floats', ...common });
  await server.admin('add_model', {
    model_name: SCALE,
    model_version: '1',
    input_type: 'floats',
    container_name: 'windjammer/kernel-model',
    model_data_path: join(packageRoot(), 'containers/runtime/tests/scaleModel'),
  });
  await server.admin('add_app', { name: DIALLED, input_type: 'doubles', ...common });
  await server.admin('add_model', {
    model_name: DIALLED,
    model_version: '1',
    input_type: 'doubles',
    container_name: 'clipper/python-closure-container',
  });
  await server.admin('add_model_links', { app_name: DIALLED, model_names: [DIALLED] });
  for (let kind = 0; kind < ECHO_KINDS; kind++) await troubles.deploy();
  await server.admin('add_model_links', { app_name: ECHO, model_names: [ECHO] });
  await server.admin('add_model_links', { app_name: SCALE, model_names: [SCALE] });
}

function judgeHeap(samples: readonly SoakSample[], violations: Violations): number | undefined {
  const warm = samples.filter(({ answers }) => answers >= WARM_ANSWERS);
  if (warm.length < FEWEST_WARM_SAMPLES) return undefined;
  const grownMib = growth(warm.map(({ atSeconds, heapMib }) => ({ atSeconds, value: heapMib })));
  const { heapMib } = warm[0];
  if (grownMib > Math.max(FLAT_MIB, FLAT_SHARE * heapMib)) {
    violations.add('the heap grows', `by ${grownMib.toFixed(1)} MiB from ${heapMib.toFixed(1)}`);
  }
  return grownMib;
}

/** Once nobody asks, nothing may be under way any more. */
async function nothingLeft(server: ServerUnderTest, violations: Violations): Promise<void> {
  const gauges = ['windjammer_queries_in_flight', 'windjammer_in_flight_inputs'];
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const left: string[] = [];
    try {
      for (const name of gauges) {
        const value = await server.metric(name);
        if (value !== 0) left.push(`${name} ${value}`);
      }
    } catch (error) {
      violations.add('the server gave no metrics', String(error));
      return;
    }
    if (left.length === 0) return;
    if (performance.now() > end) {
      violations.add('something is left under way', left.join(', '));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
