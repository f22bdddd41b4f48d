import {
  emptyCounters,
  type Dim3,
  type ExecutionCounters,
  type Executor,
  type ExecutorLaunch,
  type InstructionClass,
} from '../../executor/index.js';
import type { IrFunction } from '../../ptx/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { blockLike, profileBlock, profileLaunch, type KernelProfile } from '../timing/index.js';
import type { LaunchRecord } from './launchRecord.js';

/** A profile with the instruction mix for which it was made. Plain data. */
export interface KeptProfile {
  readonly profile: KernelProfile;
  /** PTX warp instructions a block, and each class's part of them. */
  readonly warpInstructions: number;
  readonly mix: Readonly<Record<InstructionClass, number>>;
}

interface LaunchKey {
  readonly block: Dim3;
  readonly dynamicSharedBytes: number;
  /** Blocks that share an SM, as a power of two. */
  readonly crowd: number;
  readonly key: string;
}

/** Profiles by kernel, block shape and how crowded an SM is. Plain data. */
export type KeptProfiles = Map<string, KeptProfile[]>;

const CLASSES = Object.keys(emptyCounters().byClass) as InstructionClass[];

/** A block that executes this many times more or less is another case: loops decide what stays in L1. */
const LENGTH_FACTOR = 1.7;
/** How far two mixes may lie apart, as the sum of the differences of their parts. */
const MIX_DISTANCE = 0.06;
/** In an uneven grid, blocks that execute this many times more or less than all that were traced are traced, too. */
const OTHER_LENGTH = 1.6;
const MOST_OTHERS = 8;

/**
 * Keeps kernels' profiles, because a trace costs the host milliseconds. A profile made at one grid size and one set of
 * arguments serves others whose blocks execute the same mix of instructions at a similar length, so that a model
 * is traced for a few batch sizes and not for each.
 */
export class ProfileCache {
  /** Of each kernel, the key of its latest launch. */
  private readonly keys = new WeakMap<IrFunction, LaunchKey>();

  constructor(
    private readonly device: DeviceProfile,
    private readonly executor: Executor,
    private readonly kept: KeptProfiles,
    private readonly moduleIdentity: (record: LaunchRecord) => string,
  ) {}

  /**
   * Traces a kernel that was never seen at this block shape, before any of its blocks run: what they write may change
   * what others do. @returns undefined when a kept profile may serve, which `settle` decides.
   */
  prepare(
    key: string,
    record: LaunchRecord,
    launch: ExecutorLaunch,
    residentBlocks: number,
  ): KernelProfile | undefined {
    return this.kept.has(key) ? undefined : this.trace(record, launch, residentBlocks);
  }

  /**
   * The profile for a launch whose first blocks executed `counters`: the prepared one, else a kept one that is like it,
   * else a new trace.
   */
  settle(
    key: string,
    record: LaunchRecord,
    launch: ExecutorLaunch,
    counters: ExecutionCounters,
    residentBlocks: number,
    prepared: KernelProfile | undefined,
  ): KernelProfile {
    const warpInstructions = counters.warpInstructions / Math.max(1, counters.blocks);
    const known = this.kept.get(key) ?? [];
    if (prepared === undefined) {
      for (const candidate of known) {
        if (ratio(candidate.warpInstructions, warpInstructions) > LENGTH_FACTOR) continue;
        if (distance(candidate.mix, counters) <= MIX_DISTANCE) return candidate.profile;
      }
    }
    const profile = prepared ?? this.trace(record, launch, residentBlocks);
    this.kept.set(key, [...known, { profile, warpInstructions, mix: mixOf(counters) }]);
    return profile;
  }

  /**
   * The profile with a block of the given length among its others, if there was none like it. It has run already, as the
   * launch's others of its length will.
   */
  withBlock(
    record: LaunchRecord,
    launch: ExecutorLaunch,
    profile: KernelProfile,
    block: number,
    length: number,
    residentBlocks: number,
  ): KernelProfile {
    const { others = [] } = profile;
    if (profile.isTold === true || profile.warpInstructions === 0 || others.length === MOST_OTHERS)
      return profile;
    const lengths = [profile.warpInstructions, ...others.map((other) => other.length)];
    if (lengths.some((each) => ratio(each, length) <= OTHER_LENGTH)) return profile;
    const found = profileBlock(
      this.executor,
      launch,
      this.device,
      this.perSm(record, residentBlocks),
      record.lo + Math.floor((record.hi - record.lo) / 2),
      block,
      length,
      record.sharedBytes,
    );
    // Where it cannot be traced it counts as the one next to it, and is not tried again.
    const { work, chainDramCycles, warpInstructions } = blockLike(profile, length);
    const other = found ?? { work, chainDramCycles, warpInstructions, length };
    const extended = { ...profile, others: [...others, other] };
    const key = this.keyOf(record, launch, residentBlocks);
    const known = this.kept.get(key) ?? [];
    this.kept.set(
      key,
      known.map((kept) => (kept.profile === profile ? { ...kept, profile: extended } : kept)),
    );
    return extended;
  }

  private trace(record: LaunchRecord, launch: ExecutorLaunch, residentBlocks: number): KernelProfile {
    const resident = this.perSm(record, residentBlocks);
    return profileLaunch(
      this.executor,
      launch,
      this.device,
      resident,
      record.lo,
      record.hi,
      record.sharedBytes,
    );
  }

  /** Blocks of the launch that share an SM. */
  private perSm(record: LaunchRecord, residentBlocks: number): number {
    const room = Math.max(1, Math.ceil(residentBlocks / this.device.sms));
    return Math.min(room, Math.ceil((record.hi - record.lo) / this.device.sms));
  }

  /** What a profile is kept under. */
  keyOf(record: LaunchRecord, { kernel }: ExecutorLaunch, residentBlocks: number): string {
    const { block, dynamicSharedBytes } = record.shape;
    const crowd = Math.floor(Math.log2(this.perSm(record, residentBlocks)));
    const known = this.keys.get(kernel);
    if (
      known?.crowd === crowd &&
      known.dynamicSharedBytes === dynamicSharedBytes &&
      known.block[0] === block[0] &&
      known.block[1] === block[1] &&
      known.block[2] === block[2]
    ) {
      return known.key;
    }
    const key = `${this.moduleIdentity(record)}|${record.kernel}|${block.join('x')}/${dynamicSharedBytes}|${crowd}`;
    this.keys.set(kernel, { block, dynamicSharedBytes, crowd, key });
    return key;
  }
}

function mixOf(counters: ExecutionCounters): Record<InstructionClass, number> {
  const mix = { ...counters.byClass };
  const total = Math.max(1, counters.warpInstructions);
  for (const name of Object.keys(mix) as InstructionClass[]) mix[name] /= total;
  return mix;
}

/** Of a mix and that of a launch, which has no object of its own: this is asked at every launch. */
function distance(mix: Readonly<Record<InstructionClass, number>>, counters: ExecutionCounters): number {
  const { byClass } = counters;
  const total = Math.max(1, counters.warpInstructions);
  let sum = 0;
  for (const name of CLASSES) sum += Math.abs(mix[name] - byClass[name] / total);
  return sum;
}

function ratio(a: number, b: number): number {
  return Math.max(a, b) / Math.max(1, Math.min(a, b));
}
