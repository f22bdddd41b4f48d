import { layoutShared, type LaunchShape } from '../../executor/index.js';
import type { IrFunction, IrModule } from '../../ptx/index.js';
import { GpuError } from '../gpuError.js';
import type { DeviceProfile } from '../profiles/index.js';
import { checkCluster } from './clusterLimits.js';
import { requireUnits } from './missingUnits.js';

const AXES = ['x', 'y', 'z'] as const;

/** The most blocks of one launch that the simulator numbers. */
const MOST_BLOCKS = 2 ** 31 - 1;

/** Static shared memory of a block: the kernel's own variables and those of the module that it refers to, as placed. */
export function staticSharedBytes(module: IrModule, kernel: IrFunction): number {
  return layoutShared(module, kernel).staticBytes;
}

/**
 * Holds a launch to the device's limits.
 * @throws GpuError `invalidLaunch`, with the field, its value and the limit; nothing is ever clamped.
 */
export function checkLaunch(
  profile: DeviceProfile,
  kernel: IrFunction,
  shape: LaunchShape,
  registersPerThread: number,
  sharedBytes: number,
): void {
  const { limits } = profile;
  checkExtents('grid', shape.grid, limits.gridDim, profile.name);
  const blocks = product(shape.grid);
  if (blocks > MOST_BLOCKS) {
    throw new GpuError(
      'invalidLaunch',
      `grid: ${shape.grid.join(' x ')} blocks; the simulator runs at most ${MOST_BLOCKS} in one launch`,
      'grid',
    );
  }
  checkExtents('block', shape.block, limits.blockDim, profile.name);
  const threads = shape.block[0] * shape.block[1] * shape.block[2];
  if (threads > limits.threadsPerBlock) {
    throw refusal('block', `${threads} threads a block`, `${limits.threadsPerBlock} on ${profile.name}`);
  }
  if (!Number.isInteger(shape.dynamicSharedBytes) || shape.dynamicSharedBytes < 0) {
    throw refusal(
      'dynamicSharedBytes',
      String(shape.dynamicSharedBytes),
      'a whole number of bytes, 0 or more',
    );
  }
  if (sharedBytes > limits.sharedPerBlockBytes) {
    throw refusal(
      'dynamicSharedBytes',
      `${sharedBytes} bytes of shared memory a block (${sharedBytes - shape.dynamicSharedBytes} of them static)`,
      `${limits.sharedPerBlockBytes} on ${profile.name}`,
    );
  }
  if (registersPerThread * threads > limits.registersPerBlock) {
    throw refusal(
      'block',
      `${threads} threads of ${registersPerThread} registers`,
      `${limits.registersPerBlock} registers a block on ${profile.name}`,
    );
  }
  if (kernel.parameterBytes > limits.parameterBytes) {
    throw refusal('params', `${kernel.parameterBytes} bytes`, `${limits.parameterBytes} on ${profile.name}`);
  }
  checkDirectives(kernel, shape, threads);
  checkCluster(profile, kernel, shape);
  requireUnits(profile, kernel);
}

function checkDirectives(kernel: IrFunction, shape: LaunchShape, threads: number): void {
  const most = kernel.directives['maxntid'];
  if (most !== undefined && threads > product(most)) {
    throw refusal('block', `${threads} threads a block`, `.maxntid ${most.join(', ')} of '${kernel.name}'`);
  }
  const exact = kernel.directives['reqntid'];
  if (exact !== undefined && shape.block.some((extent, axis) => extent !== (exact[axis] ?? 1))) {
    throw refusal('block', shape.block.join('x'), `.reqntid ${exact.join(', ')} of '${kernel.name}'`);
  }
}

function checkExtents(
  field: string,
  extents: readonly number[],
  most: readonly number[],
  device: string,
): void {
  for (let axis = 0; axis < 3; axis++) {
    const extent = extents[axis];
    const name = `${field}.${AXES[axis]}`;
    if (!Number.isInteger(extent) || extent < 1)
      throw refusal(name, String(extent), 'a whole number, 1 or more');
    if (extent > most[axis]) throw refusal(name, String(extent), `${most[axis]} on ${device}`);
  }
}

function product(values: readonly number[]): number {
  return values.reduce((result, value) => result * value, 1);
}

function refusal(field: string, found: string, limit: string): GpuError {
  return new GpuError('invalidLaunch', `${field}: ${found}; the limit is ${limit}`, field);
}
