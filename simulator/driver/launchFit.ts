import type { Dim3, LaunchShape, LoadedModule } from '../executor/index.js';
import {
  blockFootprint,
  checkLaunch,
  estimateRegisters,
  occupancy,
  staticSharedBytes,
  type BlockFootprint,
  type DeviceProfile,
  type Occupancy,
} from '../gpu/index.js';
import type { IrFunction } from '../ptx/index.js';
import { Refusal } from './refusal.js';

/** What of a launch its kernel, its shape and the card decide: the same at every launch of the kind. */
export interface LaunchFit {
  readonly profile: DeviceProfile;
  readonly shape: LaunchShape;
  /** Of the whole grid. */
  readonly blocks: number;
  readonly registers: number;
  readonly block: BlockFootprint;
  readonly occupancy: Occupancy;
}

/** Shapes of one kernel that are remembered; the oldest goes. */
const MOST_KEPT = 16;

const kept = new WeakMap<IrFunction, LaunchFit[]>();

/** Holds a launch's shape to its kernel and the card. @throws Refusal, GpuError: what is wrong, with the field and the limit */
export function launchFit(
  module: LoadedModule,
  kernel: IrFunction,
  profile: DeviceProfile,
  grid: Dim3,
  block: Dim3,
  dynamicSharedBytes: number,
): LaunchFit {
  let fits = kept.get(kernel);
  if (fits === undefined) kept.set(kernel, (fits = []));
  for (const fit of fits) {
    const { shape } = fit;
    if (
      fit.profile === profile &&
      shape.dynamicSharedBytes === dynamicSharedBytes &&
      isSame(shape.grid, grid) &&
      isSame(shape.block, block)
    ) {
      return fit;
    }
  }
  const made = workOut(module, kernel, profile, {
    grid: [grid[0], grid[1], grid[2]],
    block: [block[0], block[1], block[2]],
    dynamicSharedBytes,
  });
  if (fits.length === MOST_KEPT) fits.shift();
  fits.push(made);
  return made;
}

function workOut(
  module: LoadedModule,
  kernel: IrFunction,
  profile: DeviceProfile,
  shape: LaunchShape,
): LaunchFit {
  const sharedBytes = staticSharedBytes(module.ir, kernel) + shape.dynamicSharedBytes;
  const threads = blocksOf(shape.block);
  const registers = estimateRegisters(kernel, profile, threads);
  checkLaunch(profile, kernel, shape, registers, sharedBytes);
  const block = blockFootprint(profile, threads, registers, sharedBytes);
  const fit = occupancy(profile, block);
  if (fit.blocksPerSm < 1) {
    throw new Refusal('invalidLaunch', `block: not one fits an SM; ${fit.boundBy} is the limit that binds`);
  }
  return { profile, shape, blocks: blocksOf(shape.grid), registers, block, occupancy: fit };
}

function isSame(a: Dim3, b: Dim3): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}

function blocksOf(extents: Dim3): number {
  return extents[0] * extents[1] * extents[2];
}
