import { KeyedDraw } from '../../../selection/index.js';
import type { DeviceProfile } from '../../../simulator/gpu/index.js';
import { quantile } from '../../../simulator/statistics/index.js';
import { KnownStreams, type KnownKernel, type LaunchOwner } from './knownStreams.js';

/**
 * How a running job is stopped, as XSched (OSDI'25) counts it: 1, no more kernels are submitted and those in flight are waited
 * for; 2, kernels that have not begun stay where they are; 3, the running kernel is interrupted.
 */
export type Level = 1 | 2 | 3;

export interface LatencyPoint {
  readonly level: Level;
  readonly policy: string;
  readonly kernelUs: number;
  /** From a critical launch's arrival until it has all SMs, over the same on an idle card. */
  readonly p50Us: number;
  readonly p99Us: number;
}

/** Kernels that the job keeps submitted. */
const IN_FLIGHT = 10;
const CRITICAL: LaunchOwner = { context: 2, launchClass: 'critical' };
const BEST_EFFORT: LaunchOwner = {
  context: 1,
  launchClass: 'bestEffort',
  verdict: { idempotent: true, of: 'launch' },
};

/** Preemption latency against the length of a job's kernels (64 blocks of 64 threads that wait), `samples` at random times. */
export function latencyPoint(
  card: DeviceProfile,
  level: Level,
  policy: string,
  kernelUs: number,
  samples: number,
  seed: number,
): LatencyPoint {
  const idleNs = latencies(card, level, policy, kernelUs, 0, 1, seed)[0];
  const waits = latencies(card, level, policy, kernelUs, IN_FLIGHT, samples, seed);
  const us = (share: number) => (quantile(waits, share) - idleNs) / 1000;
  return { level, policy, kernelUs, p50Us: us(0.5), p99Us: us(0.99) };
}

function latencies(
  card: DeviceProfile,
  level: Level,
  policy: string,
  kernelUs: number,
  inFlight: number,
  samples: number,
  seed: number,
): number[] {
  const spin = { name: 'spin', threads: 64, registers: 32, sharedBytes: 0, blocks: 64 };
  const job: KnownKernel = { ...spin, waves: 1, blockNs: kernelUs * 1000 };
  // All threads of every SM, and for longer than the job's kernel: the last of its blocks starts when the last SM is free.
  const urgent: KnownKernel = {
    ...job,
    name: 'urgent',
    threads: 1024,
    blocks: undefined,
    blockNs: 2 * job.blockNs,
  };
  const draw = new KeyedDraw(seed).of(`${policy} ${kernelUs}`);
  const found: number[] = [];
  let submits = true;
  let isOver = false;
  let lastStartNs = 0;
  const streams = new KnownStreams(card, policy, {
    onBlocks: (stream, startNs) => {
      if (stream === 'urgent') lastStartNs = Math.max(lastStartNs, startNs);
    },
    onEnd: (stream) => {
      if (stream === 'urgent') isOver = true;
      else if (submits) streams.submit('job', job, BEST_EFFORT);
      else if (streams.waiting('job') === 0) streams.submit('urgent', urgent, CRITICAL);
    },
  });
  while (found.length < samples) {
    submits = true;
    while (streams.waiting('job') < inFlight) streams.submit('job', job, BEST_EFFORT);
    streams.clock.run(streams.clock.nowNs() + job.blockNs * (2 + draw()));
    const fromNs = streams.clock.nowNs();
    isOver = false;
    submits = level !== 1;
    if (submits || inFlight === 0) streams.submit('urgent', urgent, CRITICAL);
    while (!isOver) streams.clock.run(streams.clock.nowNs() + job.blockNs / 4);
    found.push(lastStartNs - fromNs);
  }
  return found;
}
