import type { DeviceState } from './deviceState.js';
import { GpuError } from './gpuError.js';
import { totalWatts, type DeviceReadings, type PowerMeter } from './power/index.js';
import type { DeviceProfile } from './profiles/index.js';

/** Application clock of the SMs. @throws GpuError `invalidClock` */
export function checkClock(profile: DeviceProfile, clockHz: number): void {
  checkRange(profile, 'clockHz', clockHz, profile.clocks.minimumHz, profile.clockHz);
}

/** @throws GpuError `invalidClock` */
export function checkMemoryClock(profile: DeviceProfile, clockHz: number): void {
  checkRange(profile, 'memoryClockHz', clockHz, profile.clocks.memoryMinimumHz, profile.clocks.memoryHz);
}

/** @throws GpuError `invalidPowerLimit` */
export function checkPowerLimit({ name, power }: DeviceProfile, watts: number): void {
  const { idleWatts, limitWatts } = power;
  if (watts > idleWatts && watts <= limitWatts) return;
  throw new GpuError(
    'invalidPowerLimit',
    `powerLimitWatts: ${watts}; ${name} takes a limit above ${idleWatts} W and of at most ${limitWatts} W`,
    'powerLimitWatts',
  );
}

/** What a device's sensors show. */
export function deviceReadings(
  profile: DeviceProfile,
  { power, engine }: DeviceState,
  meter: PowerMeter,
  atNs: number,
): DeviceReadings {
  return {
    atNs,
    powerWatts: totalWatts(power.watts),
    averagePowerWatts: meter.averageAt(atNs),
    powerLimitWatts: power.limitWatts,
    energyMillijoules: meter.millijoulesAt(atNs),
    smClockHz: engine.clockHz,
    applicationClockHz: power.applicationClockHz,
    memoryClockHz: engine.memoryClockHz,
    throttle:
      engine.clockHz < power.applicationClockHz
        ? 'powerCap'
        : engine.clockHz < profile.clockHz
          ? 'applicationClock'
          : 'none',
  };
}

function checkRange(
  { name }: DeviceProfile,
  field: string,
  clockHz: number,
  lowestHz: number,
  highestHz: number,
): void {
  if (clockHz >= lowestHz && clockHz <= highestHz) return;
  throw new GpuError(
    'invalidClock',
    `${field}: ${clockHz / 1e6} MHz; ${name} takes ${lowestHz / 1e6} to ${highestHz / 1e6} MHz`,
    field,
  );
}
