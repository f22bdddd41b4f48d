import { KeyedDraw } from '../../../selection/index.js';
import type { DeviceProfile } from '../../../simulator/gpu/index.js';
import { mean } from '../../../simulator/statistics/index.js';
import { jobLaunches, type JobLaunch } from './jobLaunches.js';
import { KnownStreams, capacityOf, type KnownKernel } from './knownStreams.js';
import type { JobKernel } from './languageModelJob.js';
import type { Scheme } from './schemes.js';

export interface EachLaunchResult {
  readonly knowledge: Scheme['knowledge'];
  readonly otherwise: Scheme['otherwise'];
  readonly preemptions: number;
  readonly meanUs: number;
  /** What each launch costs by its own figures, added up: no simulation. */
  readonly expectedUs: number;
}

/**
 * Every launch of a job is preempted once, at a random moment of the time that its blocks are on the SMs: the mean latency over
 * launches, as PICKER (EuroSys'26) tells it, beside the sum of p_i * cost_i.
 */
export function preemptEachLaunch(
  card: DeviceProfile,
  { knowledge, otherwise, choice }: Scheme,
  job: readonly JobKernel[],
  { launches, seed }: { readonly launches: number; readonly seed: number },
): EachLaunchResult {
  const list = jobLaunches(job, launches, seed);
  const urgent = wholeCard(card);
  const draw = new KeyedDraw(seed).of('moments');
  let isOver = false;
  const streams = new KnownStreams(card, choice, {
    onEnd: (stream) => {
      if (stream === 'job') isOver = true;
    },
  });
  const step = (): void => {
    if (!streams.clock.step()) throw new Error('a launch never ended');
  };
  for (const { kernel, verdict } of list) {
    isOver = false;
    streams.submit('job', kernel, { context: 1, launchClass: 'bestEffort', verdict });
    // The overheads of both launches are the same: the urgent one asks for the SMs at this moment of the job's time on them.
    streams.clock.run(streams.clock.nowNs() + draw() * kernel.waves * kernel.blockNs);
    if (!isOver) streams.submit('urgent', urgent, { context: 2, launchClass: 'critical' });
    while (!isOver || streams.waiting('urgent') > 0) step();
  }
  const { events } = streams;
  return {
    knowledge,
    otherwise,
    preemptions: events.length,
    meanUs: mean(events.map(({ decidedNs, freeNs }) => freeNs - decidedNs)) / 1000,
    expectedUs:
      mean(list.map((launch) => expectedNs(launch, { knowledge, otherwise }, card.timing.killNs))) / 1000,
  };
}

/** A block an SM, which leaves no room for another. */
function wholeCard(card: DeviceProfile): KnownKernel {
  const { limits } = card;
  const kernel = {
    name: 'urgent',
    threads: 1024,
    registers: Math.floor(limits.registersPerSm / 1024),
    sharedBytes: limits.sharedPerBlockBytes,
    waves: 1,
    blockNs: 5_000,
  };
  return { ...kernel, blocks: capacityOf(card, kernel) };
}

/** Of a preemption at a uniformly random moment of a wave of equal blocks. */
function expectedNs(
  { kernel, verdict }: JobLaunch,
  { knowledge, otherwise }: Pick<Scheme, 'knowledge' | 'otherwise'>,
  killNs: number,
): number {
  const isKnown =
    verdict.idempotent && (knowledge === 'launches' || (knowledge === 'kernels' && verdict.of === 'kernel'));
  if (otherwise === 'switch') return isKnown ? killNs : kernel.saveNs;
  return untilSooner(isKnown ? killNs : kernel.saveNs, kernel.blockNs);
}

/** Mean of the smaller one of `ns` and what is left of a block that takes `blockNs`. */
function untilSooner(ns: number, blockNs: number): number {
  return ns < blockNs ? ns - (ns * ns) / (2 * blockNs) : blockNs / 2;
}
