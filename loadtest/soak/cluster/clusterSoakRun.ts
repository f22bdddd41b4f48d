import { setTimeout as after } from 'node:timers/promises';
import { ECHO, SCALE } from '../expectations.js';
import { Tokens } from '../goodLanes.js';
import { LaneRunner } from '../lanes.js';
import { sampleOf } from '../probed.js';
import { Randomness } from '../randomness.js';
import { growth } from '../trend.js';
import { Violations } from '../violations.js';
import { addApplication, addConstant, addEcho, addScale, ARMS, link } from './changes.js';
import { frontendLanes, type Tally } from './clusterLanes.js';
import { ClusterTroubles } from './clusterTroubles.js';
import { ClusterUnderTest, FRONTENDS } from './clusterUnderTest.js';
import { FeedbackLanes, JUDGED, KEYED, type FeedbackReport } from './feedbackLanes.js';
import { Outages } from './outages.js';
import { Registry } from './registry.js';
import { nothingUnderWay, untilSettled, type SettledReport } from './settled.js';

export interface ClusterSoakSettings {
  readonly seconds: number;
  readonly seed: number;
  /** Queries, over all frontends. */
  readonly perSecond: number;
  readonly feedbackLanes: number;
  /** From the beginning of one trouble to that of the next. */
  readonly troubleEveryMs: number;
  /** Told now and then how it goes. */
  readonly onProgress?: (text: string) => void;
}

export interface HeapSample {
  readonly atSeconds: number;
  readonly heapMib: number;
  readonly rssMib: number;
}

export interface ClusterSoakReport {
  readonly seed: number;
  /** Folder of the logs of all processes, where something happened that must not. */
  readonly logs: string | undefined;
  readonly answers: number;
  readonly skipped: number;
  readonly defaults: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly troubles: Readonly<Record<string, number>>;
  readonly feedback: FeedbackReport;
  readonly changes: { readonly made: number; readonly refused: number; readonly slowestMs: number };
  readonly failedStarts: number;
  readonly settled: SettledReport;
  /** Of processes that lived all the time, by name. */
  readonly heaps: Readonly<
    Record<string, { readonly samples: readonly HeapSample[]; readonly grownMib: number }>
  >;
  readonly violations: ReturnType<Violations['list']>;
}

/** The kernel fails on some that come before. */
const FIRST_TOKEN = 100;
const SAMPLES = 40;
const FEWEST_SAMPLES = 10;
const LONGEST_CUT_MS = 60_000;
/** Of the run. */
const LONGEST_CUT_SHARE = 1 / 6;
const MOST_TROUBLES = 3;
/** By then caches are full, and what is remembered of queries; what is learned and kept in Redis still grows a little. */
const WARM_SHARE = 0.4;
const FLAT_SHARE = 0.08;
const FLAT_MIB = 6;
/** The feedback of a frontend that was killed just now, and the last word of the one that placed. */
const QUIET_MS = 2000;

/** Serves a mixed load on a cluster with trouble for a while; what must not happen is in the report. */
export async function runClusterSoak(settings: ClusterSoakSettings): Promise<ClusterSoakReport> {
  const { seed, seconds, perSecond, onProgress = () => undefined } = settings;
  const outages = new Outages();
  let began = performance.now();
  const atSeconds = (): number => (performance.now() - began) / 1000;
  const violations = new Violations(() => `${atSeconds().toFixed(1)} s (${outages.lately()}): `);
  const cluster = await ClusterUnderTest.start(seed, outages, violations);
  try {
    const registry = new Registry(cluster, new Randomness(seed, 'administrator'), outages, violations);
    await setUp(registry);
    await untilSettled(cluster, violations);
    const tally: Tally = { answers: 0, defaults: new Map(), refusals: new Map() };
    const random = new Randomness(seed, 'clients');
    const sources = { tokens: new Tokens(random, FIRST_TOKEN), random, outages, violations, tally };
    const asking = cluster.frontends.flatMap((seat) =>
      seat.life === undefined ? [] : [frontendLanes(seat, seat.life, sources)],
    );
    const runner = new LaneRunner(
      asking.flatMap(({ lanes }) => lanes),
      violations,
    );
    const feedback = new FeedbackLanes(cluster, new Randomness(seed, 'feedback'), outages, violations);
    const troubles = new ClusterTroubles(
      cluster,
      registry,
      outages,
      new Randomness(seed, 'troubles'),
      violations,
      [ECHO, SCALE, KEYED, JUDGED],
      (text) => onProgress(`  ${text}`),
    );

    began = performance.now();
    const isOver = (): boolean => atSeconds() >= seconds;
    const heaps = new Map<string, HeapSample[]>();
    const sampling = (async () => {
      for (let at = 1; !isOver(); at++) {
        await after(Math.max(1, began + (at * seconds * 1000) / SAMPLES - performance.now()));
        await sample(cluster, heaps, atSeconds(), violations);
        const texts = [...heaps].map(([name, list]) => `${name} ${list.at(-1)?.heapMib.toFixed(1)} MiB`);
        onProgress(
          `${atSeconds().toFixed(0)} s: ${tally.answers} answers, ${feedback.acknowledged} feedback, ${texts.join(', ')}, ` +
            `${violations.count} violations`,
        );
      }
    })();
    const judging = feedback.run(settings.feedbackLanes);
    const cuts = {
      everyMs: settings.troubleEveryMs,
      longestCutMs: Math.min(LONGEST_CUT_MS, 1000 * seconds * LONGEST_CUT_SHARE),
      most: MOST_TROUBLES,
    };
    await Promise.all([runner.atRate(perSecond / FRONTENDS, seconds), troubles.run(cuts, isOver), sampling]);
    feedback.stop();
    await judging;
    onProgress('quiet');
    await after(QUIET_MS);
    const settled = await untilSettled(cluster, violations);
    await nothingUnderWay(cluster, violations);
    const learned = await feedback.settle();
    await troubles.check(cluster.client(cluster.frontends[0]));
    const grown = judgeHeaps(heaps, violations);
    for (const one of asking) await one.close();
    await cluster.end();
    const { made, refused, slowestMs } = registry;
    return {
      seed,
      logs: cluster.logs,
      answers: tally.answers,
      skipped: runner.skipped,
      defaults: Object.fromEntries(tally.defaults),
      refusals: Object.fromEntries(tally.refusals),
      troubles: Object.fromEntries(troubles.done),
      feedback: learned,
      changes: { made, refused, slowestMs },
      failedStarts: cluster.failedStarts,
      settled,
      heaps: grown,
      violations: violations.list(),
    };
  } finally {
    await cluster.discard();
  }
}

async function setUp(registry: Registry): Promise<void> {
  for (const arm of ARMS) await registry.change(addConstant(arm));
  for (const name of [KEYED, JUDGED]) {
    await registry.change(addApplication(name, 'doubles', true));
    await registry.change(link(name, ARMS));
  }
  await registry.change(addApplication(ECHO, 'doubles'));
  await registry.change(addEcho(1));
  await registry.change(link(ECHO, [ECHO]));
  await registry.change(addApplication(SCALE, 'floats'));
  await registry.change(addScale(3));
  await registry.change(link(SCALE, [SCALE]));
}

async function sample(
  cluster: ClusterUnderTest,
  heaps: Map<string, HeapSample[]>,
  atSeconds: number,
  violations: Violations,
): Promise<void> {
  const seats = [...cluster.frontends, ...cluster.nodes.map(({ seat }) => seat)];
  for (const { name, life, isSpared } of seats) {
    if (!isSpared || life === undefined) continue;
    try {
      const { heapMib, rssMib } = await sampleOf(life.process);
      const list = heaps.get(name) ?? [];
      heaps.set(name, [...list, { atSeconds, heapMib, rssMib }]);
    } catch (error) {
      violations.add('no sample', `${name}: ${String(error)}`);
    }
  }
}

function judgeHeaps(
  heaps: ReadonlyMap<string, readonly HeapSample[]>,
  violations: Violations,
): ClusterSoakReport['heaps'] {
  return Object.fromEntries(
    [...heaps].map(([name, samples]) => {
      const warm = samples.slice(Math.floor(samples.length * WARM_SHARE));
      const grownMib = growth(warm.map(({ atSeconds, heapMib }) => ({ atSeconds, value: heapMib })));
      const most = Math.max(FLAT_MIB, FLAT_SHARE * (warm[0]?.heapMib ?? 0));
      if (warm.length >= FEWEST_SAMPLES && grownMib > most)
        violations.add(
          'the heap grows',
          `${name}: by ${grownMib.toFixed(1)} MiB from ${warm[0].heapMib.toFixed(1)}`,
        );
      return [name, { samples, grownMib }];
    }),
  );
}
