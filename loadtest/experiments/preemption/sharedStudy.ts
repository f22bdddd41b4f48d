import { KeyedDraw } from '../../../selection/index.js';
import type { DeviceProfile, PreemptionTotals } from '../../../simulator/gpu/index.js';
import { mean, quantile } from '../../../simulator/statistics/index.js';
import { jobLaunches } from './jobLaunches.js';
import { KnownStreams, type KnownKernel } from './knownStreams.js';
import type { JobKernel } from './languageModelJob.js';

export interface StudySettings {
  readonly launches: number;
  readonly queriesPerSecond: number;
  readonly seed: number;
}

export interface StudyResult {
  readonly policy: string;
  readonly queries: number;
  /** Latency of a query over what the same query has where all queries come as they do, but no job. */
  readonly p50AddedUs: number;
  readonly p99AddedUs: number;
  /** Best-effort launches that ended, a second of simulated time. */
  readonly launchesPerSecond: number;
  /** From the decision to take a launch off the SMs until they were free. */
  readonly preemptions: number;
  readonly meanPreemptionUs: number;
  /** The same from each preempted kernel's share of them and its cost. */
  readonly expectedPreemptionUs: number;
  readonly totals: PreemptionTotals;
  readonly unfinished: number;
}

/**
 * A best-effort job that fills the card, one launch after another, beside queries that arrive at random (exponential gaps) and
 * are chains of launches. The same arrivals and the same launches under every policy.
 */
export function sharedStudy(
  card: DeviceProfile,
  policy: string,
  job: readonly JobKernel[],
  query: readonly KnownKernel[],
  { launches, queriesPerSecond, seed }: StudySettings,
): StudyResult {
  const list = jobLaunches(job, launches, seed);
  const latencyNs: number[] = [];
  let ended = 0;
  let endNs = 0;
  const streams = queryStreams(card, policy, latencyNs, (nowNs) => {
    ended += 1;
    endNs = nowNs;
  });
  for (const { kernel, verdict } of list) {
    streams.submit('job', kernel, { context: 1, launchClass: 'bestEffort', verdict });
  }
  let queries = 0;
  const gapNs = gapsOf(queriesPerSecond, seed);
  while (ended < launches) {
    streams.clock.run(streams.clock.nowNs() + gapNs());
    if (ended < launches) submitQuery(streams, queries++, query);
  }
  streams.clock.run();
  const withoutJobNs: number[] = [];
  const alone = queryStreams(card, policy, withoutJobNs, () => undefined);
  const gapAloneNs = gapsOf(queriesPerSecond, seed);
  for (let number = 0; number < queries; number++) {
    alone.clock.run(alone.clock.nowNs() + gapAloneNs());
    submitQuery(alone, number, query);
  }
  alone.clock.run();
  const { events } = streams;
  const added = withoutJobNs.map((ns, number) => (latencyNs[number] - ns) / 1000);
  return {
    policy,
    queries,
    p50AddedUs: quantile(added, 0.5),
    p99AddedUs: quantile(added, 0.99),
    launchesPerSecond: (ended * 1e9) / endNs,
    preemptions: events.length,
    meanPreemptionUs: mean(events.map(({ decidedNs, freeNs }) => freeNs - decidedNs)) / 1000,
    expectedPreemptionUs: mean(events.map(({ kind, kernel }) => costNs(card, job, kind, kernel))) / 1000,
    totals: streams.preemptions(),
    unfinished: launches - ended + queries - latencyNs.length,
  };
}

function costNs(card: DeviceProfile, job: readonly JobKernel[], kind: string, name: string): number {
  if (kind === 'kill') return card.timing.killNs;
  return job.find((each) => kind === 'save' && each.name === name)?.saveNs ?? NaN;
}

/** @param latencyNs gets that of each query, by its number. */
function queryStreams(
  card: DeviceProfile,
  policy: string,
  latencyNs: number[],
  onJobLaunch: (nowNs: number) => void,
): KnownStreams {
  const streams: KnownStreams = new KnownStreams(card, policy, {
    onEnd: (stream, _number, nowNs) => {
      if (stream === 'job') onJobLaunch(nowNs);
      else if (streams.waiting(stream) === 0) latencyNs[Number(stream)] = nowNs - streams.openedNs(stream);
    },
  });
  return streams;
}

function submitQuery(streams: KnownStreams, number: number, query: readonly KnownKernel[]): void {
  for (const kernel of query) streams.submit(`${number}`, kernel, { context: 2, launchClass: 'critical' });
}

function gapsOf(perSecond: number, seed: number): () => number {
  const draw = new KeyedDraw(seed + 1).of('arrivals');
  return () => (-Math.log(1 - draw()) * 1e9) / perSecond;
}
