import type { DeviceProfile } from '../profiles/index.js';
import { totalWatts, type PowerState } from './powerState.js';
import { voltageShare } from './voltage.js';

/**
 * The highest clock, up to the application clock, at which the present load would stay within the power limit. Power on the
 * chip is taken to go with clock and squared voltage; a load that memory holds back loses less than that, and the next
 * moment of control corrects it. The average decides whether a clock must fall: a short burst may pass.
 */
export function clockUnderLimit(profile: DeviceProfile, state: PowerState, clockHz: number): number {
  const { still, clocked, chip, memory } = state.watts;
  const isOver = totalWatts(state.watts) > state.limitWatts;
  if (isOver && state.averageWatts <= state.limitWatts) return clockHz;
  const room = state.limitWatts - still - memory;
  const scaleAt = (hz: number): number => hz * voltageShare(profile, hz) ** 2;
  const isWithin = (hz: number): boolean => ((clocked + chip) * scaleAt(hz)) / scaleAt(clockHz) <= room;
  const { minimumHz, stepHz } = profile.clocks;
  const most = isOver ? clockHz : state.applicationClockHz;
  if (isWithin(most)) return most;
  for (let hz = (Math.ceil(most / stepHz) - 1) * stepHz; hz > minimumHz; hz -= stepHz) {
    if (isWithin(hz)) return hz;
  }
  return minimumHz;
}
