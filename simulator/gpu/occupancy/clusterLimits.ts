import { clusterBlocks, type Dim3, type LaunchShape } from '../../executor/index.js';
import type { IrFunction } from '../../ptx/index.js';
import { GpuError } from '../gpuError.js';
import type { DeviceProfile } from '../profiles/index.js';

const AXES = ['x', 'y', 'z'] as const;

/**
 * The cluster of a launch: as the kernel's `.reqnctapercluster` says, else as the launch does. Undefined where neither does.
 * @throws GpuError `invalidLaunch` where the two differ
 */
export function launchCluster(kernel: IrFunction, asked: Dim3 | undefined): Dim3 | undefined {
  const required = kernel.directives['reqnctapercluster'];
  if (required === undefined) return asked;
  const [x = 1, y = 1, z = 1] = required;
  if (asked !== undefined && (asked[0] !== x || asked[1] !== y || asked[2] !== z)) {
    throw refusal(
      `${asked.join('x')}, but '${kernel.name}' has .reqnctapercluster ${required.join(', ')}: leave the cluster out, or say the same`,
    );
  }
  return [x, y, z];
}

/**
 * Holds the cluster of a launch to its grid, its kernel and the card.
 * @throws GpuError `invalidLaunch`, field `cluster`
 */
export function checkCluster({ name, limits }: DeviceProfile, kernel: IrFunction, shape: LaunchShape): void {
  const { cluster, grid } = shape;
  if (cluster === undefined) {
    if (kernel.directives['explicitcluster'] !== undefined)
      throw refusal(`none, but '${kernel.name}' is .explicitcluster: give the launch a cluster`);
    return;
  }
  for (const [index, axis] of AXES.entries()) {
    const extent = cluster[index];
    if (!Number.isInteger(extent) || extent < 1)
      throw refusal(`${extent} in ${axis}; a whole number, 1 or more, is expected`);
    if (grid[index] % extent !== 0)
      throw refusal(
        `${extent} in ${axis} does not divide grid.${axis}, ${grid[index]}: make the grid a multiple of it`,
      );
  }
  const blocks = clusterBlocks(shape);
  if (blocks > 1 && limits.clusterBlocks === 1)
    throw refusal(
      `${cluster.join('x')}, which ${name} has not: clusters of blocks came with compute capability 9.0; launch without one`,
    );
  const most = kernel.directives['maxclusterrank']?.[0] ?? 0;
  if (most > 0 && blocks > most)
    throw refusal(`${blocks} blocks; the limit is .maxclusterrank ${most} of '${kernel.name}'`);
  if (blocks > limits.clusterBlocks)
    throw refusal(`${blocks} blocks; the limit is ${limits.clusterBlocks} on ${name}`);
  if (blocks > limits.portableClusterBlocks && shape.nonPortableCluster !== true)
    throw refusal(
      `${blocks} blocks; more than ${limits.portableClusterBlocks}, up to ${limits.clusterBlocks} on ${name}, need nonPortableCluster`,
    );
}

function refusal(what: string): GpuError {
  return new GpuError('invalidLaunch', `cluster: ${what}`, 'cluster');
}
