import { DEVICE_RESOURCES, type BlockWork, type Capacities } from './blockWork.js';

/** L2, DRAM and the atomic units behind it are fed by the same queues. */
const STAGES = (['l2Bytes', 'dramBytes', 'dramRows', 'atomics'] as const).map((name) =>
  DEVICE_RESOURCES.indexOf(name),
);

/**
 * For how long a block has the memory's path to itself, in nanoseconds: as long as the stage takes that it needs most. While
 * a stage is full its requests stand in the queues, and those for other stages behind them: kernels that are bound by
 * different stages come one after the other, and not side by side.
 */
export function pathNs({ device }: BlockWork, limits: Capacities): number {
  let longest = 0;
  for (const stage of STAGES) {
    const takesNs = device[stage] / limits.device[stage];
    if (device[stage] > 0 && takesNs > longest) longest = takesNs;
  }
  return longest;
}
