import type { DeviceProfile } from '../profiles/index.js';

/** A device's clocks, power and energy; plain data. */
export interface PowerState {
  asOfNs: number;
  /** Of the whole card since the device was made. */
  millijoules: number;
  /** The present power, until anything changes. */
  readonly watts: Watts;
  /** Exponentially weighted over `averagingNs`: what is held against the limit. */
  averageWatts: number;
  limitWatts: number;
  /** What was asked for; the clock that the SMs have may be lower, see `EngineState.clockHz`. */
  applicationClockHz: number;
  /** When the clock may be changed next; undefined while there is no reason to. */
  controlNs: number | undefined;
}

/** Power by what it scales with. */
export interface Watts {
  /** Whatever runs, at any clock. */
  still: number;
  /** Of the clock itself, at the present one. */
  clocked: number;
  /** Of what blocks do on the chip, at the present clock. */
  chip: number;
  memory: number;
}

export function emptyPower(profile: DeviceProfile, nowNs: number): PowerState {
  const { idleWatts, idleClockWatts, limitWatts } = profile.power;
  return {
    asOfNs: nowNs,
    millijoules: 0,
    watts: { still: idleWatts - idleClockWatts, clocked: idleClockWatts, chip: 0, memory: 0 },
    averageWatts: idleWatts,
    limitWatts,
    applicationClockHz: profile.clockHz,
    controlNs: undefined,
  };
}

export function totalWatts({ still, clocked, chip, memory }: Watts): number {
  return still + clocked + chip + memory;
}
