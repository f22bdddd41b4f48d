import type { DeviceProfile } from '../profiles/index.js';

/**
 * Supply voltage at a clock over that at the highest: a straight line down to the lowest clock. What switches takes
 * energy by its square.
 */
export function voltageShare({ clockHz: highestHz, clocks, power }: DeviceProfile, clockHz: number): number {
  const span = highestHz - clocks.minimumHz;
  if (span <= 0) return 1;
  return 1 - (1 - power.lowestVoltageShare) * ((highestHz - clockHz) / span);
}
