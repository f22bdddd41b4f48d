import type { GpuDevice } from '../gpu/index.js';
import { Refusal } from './refusal.js';

/**
 * Holds the share of SMs that a context asks for to what MPS gives.
 * @param device undefined: there is none of that number, which is refused elsewhere
 * @throws Refusal
 */
export function checkThreadShare(percentage: number | undefined, device: GpuDevice | undefined): void {
  if (percentage === undefined || device === undefined) return;
  if (!(percentage > 0 && percentage <= 100)) {
    throw new Refusal(
      'invalidValue',
      `activeThreadPercentage: ${percentage}; a context's share of the threads is above 0 and at most 100`,
    );
  }
  if (device.state.turns !== undefined) {
    throw new Refusal(
      'invalidValue',
      'activeThreadPercentage: contexts take turns on this GPU, each with all of it; only contexts side by side have shares',
    );
  }
}
