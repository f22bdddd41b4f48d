import type { DeviceProfile } from '../profiles/index.js';

/**
 * Supply voltage at a clock over that at the highest: it falls with the clock down to what the chip needs at any. What
 * switches takes energy by its square.
 */
export function voltageShare({ clockHz: highestHz, power }: DeviceProfile, clockHz: number): number {
  return Math.max(power.lowestVoltageShare, 1 - power.voltageSlope * (1 - clockHz / highestHz));
}
