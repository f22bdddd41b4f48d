import type { ExecutionCounters, ExecutorLaunch } from '../../executor/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import {
  executedOf,
  planTraffic,
  pointedSegments,
  residentShare,
  segmentUses,
  touchSegments,
  type KernelProfile,
  type L2State,
  type SegmentUse,
  type TrafficPlan,
} from '../timing/index.js';
import type { LaunchRecord } from './launchRecord.js';

/** How launches with these arguments, of this many blocks, use their buffers. */
interface BufferUses {
  readonly context: number;
  /** Of the context's address space when this was worked out. */
  readonly mapping: number;
  readonly params: Uint8Array;
  readonly blocks: number;
  readonly residentBlocks: number;
  readonly uses: readonly SegmentUse[];
  /** Name in L2 of each use's segment. */
  readonly keys: readonly string[];
  /** Distinct bytes of the blocks that are resident together. */
  readonly togetherBytes: number;
  latest: KeptPlan | undefined;
}

/** A plan and what it depends on beside the buffers. */
interface KeptPlan {
  /** Part of each use's segment that L2 held. */
  readonly held: readonly number[];
  readonly otherFootprintBytes: number;
  readonly scale: number;
  readonly plan: TrafficPlan;
}

/** Of one kernel's profile; the oldest goes. */
const MOST_KEPT = 16;

/**
 * Launches' traffic, by their buffers and by what L2 holds when they start. A launch that equals an earlier one, on equal
 * caches, gets the same plan: what follows from it need not be worked out again either. What is kept changes no answer, and
 * is no part of the device's state.
 */
export class TrafficPlans {
  private readonly kept = new WeakMap<KernelProfile, BufferUses[]>();

  constructor(
    private readonly device: DeviceProfile,
    private readonly l2: L2State,
  ) {}

  planOf(
    record: LaunchRecord,
    launch: ExecutorLaunch,
    profile: KernelProfile,
    counters: Pick<ExecutionCounters, 'warpInstructions' | 'blocks'>,
    residentBlocks: number,
    otherFootprintBytes: number,
  ): TrafficPlan {
    const buffers = this.usesOf(record, launch, profile, residentBlocks);
    const { uses, keys } = buffers;
    if (record.warm) {
      const swept = uses.map((use, index) => ({ key: keys[index], bytes: use.footprintBytes }));
      touchSegments(this.l2, swept, this.device.timing.l2MissCurve);
    }
    const scale = profile.warpInstructions > 0 ? executedOf(profile, counters) / profile.warpInstructions : 1;
    const { latest } = buffers;
    if (
      latest?.scale === scale &&
      latest.otherFootprintBytes === otherFootprintBytes &&
      this.isHeld(buffers, latest.held)
    ) {
      return latest.plan;
    }
    const held = uses.map((use, index) => residentShare(this.l2, keys[index], use.footprintBytes));
    const plan = planTraffic(
      profile,
      this.l2,
      this.device,
      uses,
      buffers.togetherBytes,
      keys,
      buffers.blocks,
      otherFootprintBytes,
      scale,
    );
    buffers.latest = { held, otherFootprintBytes, scale, plan };
    return plan;
  }

  private isHeld({ uses, keys }: BufferUses, held: readonly number[]): boolean {
    for (let index = 0; index < uses.length; index++) {
      if (residentShare(this.l2, keys[index], uses[index].footprintBytes) !== held[index]) return false;
    }
    return true;
  }

  private usesOf(
    record: LaunchRecord,
    launch: ExecutorLaunch,
    profile: KernelProfile,
    residentBlocks: number,
  ): BufferUses {
    let known = this.kept.get(profile);
    if (known === undefined) this.kept.set(profile, (known = []));
    const blocks = record.hi - record.lo;
    const { space } = launch.module;
    for (const buffers of known) {
      if (
        buffers.context === record.context &&
        buffers.mapping === space.mapping &&
        buffers.blocks === blocks &&
        buffers.residentBlocks === residentBlocks &&
        areEqual(buffers.params, launch.params)
      ) {
        return buffers;
      }
    }
    const made = this.workOut(record, launch, profile, blocks, residentBlocks);
    if (known.length === MOST_KEPT) known.shift();
    known.push(made);
    return made;
  }

  private workOut(
    { context }: LaunchRecord,
    launch: ExecutorLaunch,
    { segments, tracedBlocks }: KernelProfile,
    blocks: number,
    residentBlocks: number,
  ): BufferUses {
    const { space } = launch.module;
    const pointed = pointedSegments(launch);
    const usesOf = (gridBlocks: number): SegmentUse[] =>
      segmentUses(segments, pointed, space, gridBlocks, tracedBlocks);
    const uses = usesOf(blocks);
    const together = residentBlocks < blocks ? usesOf(residentBlocks) : uses;
    return {
      context,
      mapping: space.mapping,
      params: launch.params.slice(),
      blocks,
      residentBlocks,
      uses,
      keys: uses.map((use) => l2Key(context, use.segment)),
      togetherBytes: together.reduce((sum, use) => sum + use.footprintBytes, 0),
      latest: undefined,
    };
  }
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

export function l2Key(context: number, segment: number): string {
  return `${context}:${segment}`;
}
