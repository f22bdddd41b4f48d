import type { ExecutionCounters, Executor, ExecutorLaunch } from '../../executor/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import {
  blockWork,
  planTraffic,
  profileLaunch,
  touchSegments,
  type BlockWork,
  type KernelProfile,
  type L2State,
  type TrafficPlan,
} from '../timing/index.js';
import { addCounters, type LaunchRecord } from './launchRecord.js';

/** Turns a launch record back into something that runs: handles resolved, argument bytes in place. */
export interface LaunchSource {
  executorLaunch(record: LaunchRecord): ExecutorLaunch;
  /** Names what the module's code is, the same in every context that loads it. */
  moduleIdentity(record: LaunchRecord): string;
}

export interface ExecutionOptions {
  readonly executor: Executor;
  readonly source: LaunchSource;
  /** PTX thread-instructions that one block may spend. */
  readonly fuelPerBlock: number;
  /** Seconds of host time; without it executor seconds are 0. */
  readonly stopwatch?: () => number;
}

/** Blocks executed in one call: few enough that an uneven grid keeps its unevenness. */
const CHUNK_BLOCKS = 16;

/**
 * Runs blocks functionally when they are dispatched and tells what work they are. Function never depends on timing:
 * blocks run in order of dispatch, to their end.
 */
export class LaunchExecution {
  constructor(
    private readonly profile: DeviceProfile,
    private readonly options: ExecutionOptions,
    private readonly profiles: Map<string, KernelProfile>,
    private readonly l2: L2State,
  ) {}

  /** How many blocks the next call of `run` may take. */
  chunk(record: LaunchRecord, wanted: number): number {
    return Math.min(CHUNK_BLOCKS, wanted, record.hi - record.next);
  }

  /**
   * Runs the next `blocks` blocks of a launch. @returns the work of each, or undefined on a fault, which is then in the
   * record.
   */
  run(
    record: LaunchRecord,
    blocks: number,
    residentBlocks: number,
    otherFootprintBytes: number,
  ): BlockWork | undefined {
    const launch = this.options.source.executorLaunch(record);
    record.profile ??= this.profileOf(record, launch, residentBlocks);
    const startSeconds = this.options.stopwatch?.() ?? 0;
    const range = { lo: record.next, hi: record.next + blocks };
    const result = this.options.executor.run(launch, range, 'fast', this.options.fuelPerBlock);
    record.executorSeconds += (this.options.stopwatch?.() ?? 0) - startSeconds;
    addCounters(record.counters, result.counters);
    if (result.status === 'fault') {
      record.fault = result.fault;
      return undefined;
    }
    if (result.status === 'yield') {
      throw new Error(`the fast variant of '${record.kernel}' yielded; only resumable ones may`);
    }
    record.next = range.hi;
    const { counters } = result;
    record.plan ??= this.planOf(record, record.profile, counters, residentBlocks, otherFootprintBytes);
    return blockWork(record.profile, record.plan, counters, this.profile);
  }

  private planOf(
    record: LaunchRecord,
    profile: KernelProfile,
    counters: ExecutionCounters,
    residentBlocks: number,
    otherFootprintBytes: number,
  ): TrafficPlan {
    const keyOf = (segment: number): string => l2Key(record.context, segment);
    if (record.warm) {
      const swept = profile.uses.map((use) => ({ key: keyOf(use.segment), bytes: use.footprintBytes }));
      touchSegments(this.l2, swept, this.profile.timing.l2MissCurve);
    }
    return planTraffic(
      profile,
      this.l2,
      this.profile,
      keyOf,
      record.hi - record.lo,
      Math.min(residentBlocks, record.hi - record.lo),
      otherFootprintBytes,
      profile.warpInstructions > 0
        ? counters.warpInstructions / Math.max(1, counters.blocks) / profile.warpInstructions
        : 1,
    );
  }

  /** Profiles are kept by what decides them: code, shape, scalar arguments and the sizes of the buffers. */
  private profileOf(record: LaunchRecord, launch: ExecutorLaunch, residentBlocks: number): KernelProfile {
    const key = this.profileKey(record, launch);
    const pointers = pointerSegments(launch);
    const known = this.profiles.get(key);
    if (known !== undefined) return onSegments(known, pointers);
    const profile = profileLaunch(
      this.options.executor,
      launch,
      this.profile,
      Math.max(1, Math.ceil(residentBlocks / this.profile.sms)),
      record.lo,
      record.hi,
      record.sharedBytes,
    );
    this.profiles.set(key, onArguments(profile, pointers));
    return profile;
  }

  private profileKey(record: LaunchRecord, launch: ExecutorLaunch): string {
    const { grid, block } = record.shape;
    const shape = `${grid.join('x')}/${block.join('x')}/${record.shape.dynamicSharedBytes}/${record.lo}-${record.hi}`;
    const view = new DataView(record.params.buffer, record.params.byteOffset, record.params.byteLength);
    const parameters = launch.kernel.parameters.map((parameter) => {
      if (parameter.bytes === 8) {
        const address = Number(view.getBigUint64(parameter.offset, true));
        const segment = launch.module.space.find(address);
        if (segment !== undefined) return `p${address - segment.virtualAddress}:${segment.bytes}`;
      }
      const bytes = record.params.subarray(parameter.offset, parameter.offset + parameter.bytes);
      return Buffer.from(bytes).toString('hex');
    });
    return `${this.options.source.moduleIdentity(record)}|${record.kernel}|${shape}|${parameters.join(',')}`;
  }
}

export function l2Key(context: number, segment: number): string {
  return `${context}:${segment}`;
}

/** Segment that each pointer argument points into, by parameter index; undefined for other arguments. */
function pointerSegments(launch: ExecutorLaunch): (number | undefined)[] {
  const view = new DataView(launch.params.buffer, launch.params.byteOffset, launch.params.byteLength);
  return launch.kernel.parameters.map((parameter) =>
    parameter.bytes === 8
      ? launch.module.space.find(Number(view.getBigUint64(parameter.offset, true)))?.virtualAddress
      : undefined,
  );
}

/** A profile whose segments are argument numbers (-2 - index), so that it fits other buffers of the same sizes. */
function onArguments(profile: KernelProfile, pointers: readonly (number | undefined)[]): KernelProfile {
  const uses = profile.uses.map((use) => {
    const index = pointers.indexOf(use.segment);
    return index < 0 ? use : { ...use, segment: -2 - index };
  });
  return { ...profile, uses };
}

function onSegments(profile: KernelProfile, pointers: readonly (number | undefined)[]): KernelProfile {
  const uses = profile.uses.map((use) =>
    use.segment <= -2 ? { ...use, segment: pointers[-2 - use.segment] ?? -1 } : use,
  );
  return { ...profile, uses };
}
