import type { LaunchShape } from '../../executor/index.js';
import type { IrFunction, IrModule } from '../../ptx/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { checkLaunch, staticSharedBytes } from './launchLimits.js';
import { blockFootprint, type BlockFootprint } from './occupancy.js';
import { estimateRegisters } from './registerEstimate.js';

/** What a launch takes of a card. */
export interface LaunchNeeds {
  readonly registersPerThread: number;
  /** Of a block. */
  readonly staticSharedBytes: number;
  /** Of a block, static and dynamic. */
  readonly sharedBytes: number;
  /** What an SM gives a block. */
  readonly block: BlockFootprint;
}

/** @param registersPerThread as estimated, unless told */
export function launchNeeds(
  profile: DeviceProfile,
  module: IrModule,
  kernel: IrFunction,
  shape: LaunchShape,
  registersPerThread?: number,
): LaunchNeeds {
  const [x, y, z] = shape.block;
  const threads = x * y * z;
  const registers = registersPerThread ?? estimateRegisters(kernel, profile, threads);
  const staticBytes = staticSharedBytes(module, kernel);
  const sharedBytes = staticBytes + shape.dynamicSharedBytes;
  return {
    registersPerThread: registers,
    staticSharedBytes: staticBytes,
    sharedBytes,
    block: blockFootprint(profile, threads, registers, sharedBytes),
  };
}

/**
 * The same of a launch that is held to the card's limits.
 * @throws GpuError `invalidLaunch`, with the field, its value and the limit; nothing is ever clamped.
 */
export function checkedNeeds(
  profile: DeviceProfile,
  module: IrModule,
  kernel: IrFunction,
  shape: LaunchShape,
  registersPerThread?: number,
): LaunchNeeds {
  const needs = launchNeeds(profile, module, kernel, shape, registersPerThread);
  checkLaunch(profile, kernel, shape, needs.registersPerThread, needs.sharedBytes);
  return needs;
}
