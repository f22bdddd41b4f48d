import type { ExecutionCounters, ExecutorLaunch } from '../../executor/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import {
  planTraffic,
  pointedSegments,
  segmentUses,
  touchSegments,
  type KernelProfile,
  type L2State,
  type SegmentUse,
  type TrafficPlan,
} from '../timing/index.js';
import type { LaunchRecord } from './launchRecord.js';

/** A launch's traffic, by its buffers and by what L2 holds when it starts. */
export function launchTraffic(
  device: DeviceProfile,
  l2: L2State,
  record: LaunchRecord,
  launch: ExecutorLaunch,
  profile: KernelProfile,
  counters: Pick<ExecutionCounters, 'warpInstructions' | 'blocks'>,
  residentBlocks: number,
  otherFootprintBytes: number,
): TrafficPlan {
  const blocks = record.hi - record.lo;
  const pointed = pointedSegments(launch);
  const { segments, tracedBlocks } = profile;
  const usesOf = (gridBlocks: number): SegmentUse[] =>
    segmentUses(segments, pointed, launch.module.space, gridBlocks, tracedBlocks);
  const uses = usesOf(blocks);
  const together = residentBlocks < blocks ? usesOf(residentBlocks) : uses;
  const keys = uses.map((use) => l2Key(record.context, use.segment));
  if (record.warm) {
    const swept = uses.map((use, index) => ({ key: keys[index], bytes: use.footprintBytes }));
    touchSegments(l2, swept, device.timing.l2MissCurve);
  }
  return planTraffic(
    profile,
    l2,
    device,
    uses,
    together.reduce((sum, use) => sum + use.footprintBytes, 0),
    keys,
    blocks,
    otherFootprintBytes,
    profile.warpInstructions > 0
      ? counters.warpInstructions / Math.max(1, counters.blocks) / profile.warpInstructions
      : 1,
  );
}

export function l2Key(context: number, segment: number): string {
  return `${context}:${segment}`;
}
