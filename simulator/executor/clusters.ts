import { isBarrier, type IrFunction, type IrInstruction } from '../ptx/index.js';
import type { Dim3, ExecutorLaunch, LaunchShape } from './types.js';

const ONE: Dim3 = [1, 1, 1];

/** Blocks of a cluster in x, y, z. */
export function clusterDim({ cluster = ONE }: Pick<LaunchShape, 'cluster'>): Dim3 {
  return cluster;
}

/** Blocks of a cluster. */
export function clusterBlocks(shape: Pick<LaunchShape, 'cluster'>): number {
  const [x, y, z] = clusterDim(shape);
  return x * y * z;
}

/** A block's place in its cluster. @param index of the block in the grid */
export function clusterRank(shape: Pick<LaunchShape, 'cluster'>, index: Dim3): number {
  const [x, y, z] = clusterDim(shape);
  return (index[0] % x) + x * ((index[1] % y) + y * (index[2] % z));
}

/** Whether it is of clusters alone: waits for other blocks, or tells places in their shared memory. */
export function isOfClusters({ opcode, modifiers }: IrInstruction): boolean {
  return opcode === 'mapa' || opcode === 'getctarank' || (isBarrier(opcode) && modifiers.includes('cluster'));
}

const meets = new WeakMap<IrFunction, boolean>();

/** Whether blocks of a kernel may wait for those of their cluster, or reach their shared memory. */
export function meetsInCluster(kernel: IrFunction): boolean {
  let found = meets.get(kernel);
  if (found === undefined) {
    found = kernel.instructions.some(isOfClusters);
    meets.set(kernel, found);
  }
  return found;
}

/** How many blocks, from each multiple of it on, must run together. */
export function blocksTogether({ kernel, shape }: Pick<ExecutorLaunch, 'kernel' | 'shape'>): number {
  return meetsInCluster(kernel) ? clusterBlocks(shape) : 1;
}

/**
 * Where in its grid the block of a number is, x fastest. The blocks of one cluster, where they meet, have numbers in a row: in
 * the order of their ranks, cluster by cluster.
 */
export function blockIndexOf(launch: Pick<ExecutorLaunch, 'kernel' | 'shape'>, number: number): Dim3 {
  const { grid } = launch.shape;
  const together = blocksTogether(launch);
  if (together === 1) return unfolded(grid, number);
  const dim = clusterDim(launch.shape);
  const clusters: Dim3 = [grid[0] / dim[0], grid[1] / dim[1], grid[2] / dim[2]];
  const cluster = unfolded(clusters, Math.floor(number / together));
  const place = unfolded(dim, number % together);
  return [cluster[0] * dim[0] + place[0], cluster[1] * dim[1] + place[1], cluster[2] * dim[2] + place[2]];
}

/** The number of the block at a place: see `blockIndexOf`. */
export function blockNumberOf(launch: Pick<ExecutorLaunch, 'kernel' | 'shape'>, index: Dim3): number {
  const { shape } = launch;
  const { grid } = shape;
  const together = blocksTogether(launch);
  if (together === 1) return folded(grid, index);
  const [x, y, z] = clusterDim(shape);
  const clusters: Dim3 = [grid[0] / x, grid[1] / y, grid[2] / z];
  const cluster: Dim3 = [Math.floor(index[0] / x), Math.floor(index[1] / y), Math.floor(index[2] / z)];
  return folded(clusters, cluster) * together + clusterRank(shape, index);
}

function unfolded([x, y]: Dim3, number: number): Dim3 {
  return [number % x, Math.floor(number / x) % y, Math.floor(number / (x * y))];
}

function folded([x, y]: Dim3, index: Dim3): number {
  return index[0] + x * (index[1] + y * index[2]);
}
