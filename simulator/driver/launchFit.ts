import type { Dim3, LaunchShape, LoadedModule } from '../executor/index.js';
import {
  checkedNeeds,
  launchCluster,
  occupancy,
  type BlockFootprint,
  type DeviceProfile,
  type Occupancy,
} from '../gpu/index.js';
import type { IrFunction } from '../ptx/index.js';
import type { DriverCommand } from './commands.js';
import { Refusal } from './refusal.js';

export type LaunchArguments = Extract<DriverCommand, { op: 'launch' }>['args'];

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

/** Shapes of one kernel that are remembered; where there are more, all are forgotten. */
const MOST_KEPT = 4096;

interface Fitted {
  readonly module: LoadedModule;
  readonly kernel: IrFunction;
  readonly fit: LaunchFit;
}

/** By the arguments' own object: who launches the same again mostly sends the same object. */
const ofArguments = new WeakMap<LaunchArguments, Fitted>();
const ofKernels = new WeakMap<IrFunction, Map<string, LaunchFit>>();

/** The kernel that a launch names and how it fits, if these very arguments have been held to them before. */
export function knownFit(
  args: LaunchArguments,
  module: LoadedModule,
  profile: DeviceProfile,
): Fitted | undefined {
  const known = ofArguments.get(args);
  if (known?.module !== module || known.kernel.name !== args.kernel) return undefined;
  return isOf(known.fit, args, profile) ? known : undefined;
}

/** Holds a launch's shape to its kernel and the card. @throws Refusal, GpuError: what is wrong, with the field and the limit */
export function launchFit(
  args: LaunchArguments,
  module: LoadedModule,
  kernel: IrFunction,
  profile: DeviceProfile,
): LaunchFit {
  const { grid, block, dynamicSharedBytes, cluster, nonPortableCluster } = args;
  let fits = ofKernels.get(kernel);
  if (fits === undefined) ofKernels.set(kernel, (fits = new Map<string, LaunchFit>()));
  const key = `${grid.join()}/${block.join()}/${dynamicSharedBytes}/${cluster?.join() ?? ''}/${nonPortableCluster === true}`;
  let fit = fits.get(key);
  if (fit === undefined || !isOf(fit, args, profile)) {
    fit = workOut(module, kernel, profile, {
      grid: [grid[0], grid[1], grid[2]],
      block: [block[0], block[1], block[2]],
      dynamicSharedBytes,
      ...clusterOf(kernel, args),
    });
    if (fits.size === MOST_KEPT) fits.clear();
    fits.set(key, fit);
  }
  ofArguments.set(args, { module, kernel, fit });
  return fit;
}

function workOut(
  module: LoadedModule,
  kernel: IrFunction,
  profile: DeviceProfile,
  shape: LaunchShape,
): LaunchFit {
  const { registersPerThread: registers, block } = checkedNeeds(profile, module.ir, kernel, shape);
  const fit = occupancy(profile, block);
  if (fit.blocksPerSm < 1) {
    throw new Refusal('invalidLaunch', `block: not one fits an SM; ${fit.boundBy} is the limit that binds`);
  }
  return { profile, shape, blocks: blocksOf(shape.grid), registers, block, occupancy: fit };
}

function clusterOf(
  kernel: IrFunction,
  { cluster: asked, nonPortableCluster }: LaunchArguments,
): Pick<LaunchShape, 'cluster' | 'nonPortableCluster'> {
  const cluster = launchCluster(kernel, asked === undefined ? undefined : [asked[0], asked[1], asked[2]]);
  return cluster === undefined ? {} : { cluster, nonPortableCluster: nonPortableCluster === true };
}

function isOf(fit: LaunchFit, args: LaunchArguments, profile: DeviceProfile): boolean {
  const { shape } = fit;
  return (
    fit.profile === profile &&
    shape.dynamicSharedBytes === args.dynamicSharedBytes &&
    isSame(shape.grid, args.grid) &&
    isSame(shape.block, args.block) &&
    (args.cluster === undefined || (shape.cluster !== undefined && isSame(shape.cluster, args.cluster))) &&
    (shape.nonPortableCluster ?? false) === (args.nonPortableCluster ?? false)
  );
}

function isSame(a: Dim3, b: Dim3): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}

function blocksOf(extents: Dim3): number {
  return extents[0] * extents[1] * extents[2];
}
