import type { EngineState, ResidentGroup } from '../dispatch/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { chipPicojoules, memoryPicojoules, unitEnergies, type UnitEnergies } from './blockEnergy.js';
import { clockUnderLimit } from './clockControl.js';
import { totalWatts, type PowerState } from './powerState.js';
import { voltageShare } from './voltage.js';

/** Nanoseconds times watts are nanojoules. */
const MILLIJOULES_PER_NANOJOULE = 1e-6;
/** Picojoules a nanosecond are milliwatts. */
const WATTS_PER_MILLIWATT = 1e-3;

/**
 * Power follows from what resident blocks do at their present rates, and energy is its integral: exact, since rates hold
 * between the moments at which the device settles. What a block takes beyond its SM's being awake is the same however its
 * run was cut, shared or slowed down.
 */
export class PowerMeter {
  private readonly energies: UnitEnergies;

  constructor(
    private readonly profile: DeviceProfile,
    readonly state: PowerState,
  ) {
    this.energies = unitEnergies(profile.power);
  }

  /** Brings the energy to `nowNs` at the present power. */
  advance(nowNs: number): void {
    const { state } = this;
    const elapsedNs = nowNs - state.asOfNs;
    if (elapsedNs <= 0) return;
    const watts = totalWatts(state.watts);
    state.millijoules += watts * elapsedNs * MILLIJOULES_PER_NANOJOULE;
    state.averageWatts = this.averageAfter(elapsedNs, watts);
    state.asOfNs = nowNs;
  }

  /** Energy at `nowNs`, nothing changed. */
  millijoulesAt(nowNs: number): number {
    const { state } = this;
    return (
      state.millijoules +
      totalWatts(state.watts) * Math.max(0, nowNs - state.asOfNs) * MILLIJOULES_PER_NANOJOULE
    );
  }

  /** The average power at `nowNs`, nothing changed. */
  averageAt(nowNs: number): number {
    return this.averageAfter(Math.max(0, nowNs - this.state.asOfNs), totalWatts(this.state.watts));
  }

  /** A group's blocks count as finished a little before or after their work is done: the difference counts now. */
  finish({ work, blocks, remaining }: ResidentGroup, clockHz: number): void {
    const picojoules =
      chipPicojoules(work, this.energies) * voltageShare(this.profile, clockHz) ** 2 +
      memoryPicojoules(work, this.energies);
    this.state.millijoules += picojoules * remaining * blocks.length * 1e-9;
  }

  /** Works out the power anew; call when rates have changed. @param smBlocks resident blocks of each SM */
  rerate({ groups, clockHz }: EngineState, smBlocks: Int32Array, nowNs: number): void {
    const { state, profile } = this;
    let chip = 0;
    let memory = 0;
    for (const { work, blocks, ratePerNs } of groups) {
      const blocksPerNs = ratePerNs * blocks.length;
      chip += blocksPerNs * chipPicojoules(work, this.energies);
      memory += blocksPerNs * memoryPicojoules(work, this.energies);
    }
    const awake =
      groups.length === 0
        ? 0
        : profile.power.activeSmWatts *
          (clockHz / profile.clockHz) *
          (groups.length === 1 ? groups[0].sms.length : busySms(smBlocks));
    state.watts = {
      idle: profile.power.idleWatts,
      chip: (chip * WATTS_PER_MILLIWATT + awake) * voltageShare(profile, clockHz) ** 2,
      memory: memory * WATTS_PER_MILLIWATT,
    };
    this.planControl(clockHz, nowNs);
  }

  /** The clock that the SMs should have now, at a moment when it may change. */
  controlledClock(clockHz: number, nowNs: number): number {
    const { state } = this;
    if (state.controlNs === undefined || nowNs < state.controlNs) return clockHz;
    state.controlNs = undefined;
    return clockUnderLimit(this.profile, state, clockHz);
  }

  private planControl(clockHz: number, nowNs: number): void {
    const { state } = this;
    const isWanted = totalWatts(state.watts) > state.limitWatts || clockHz < state.applicationClockHz;
    if (!isWanted) state.controlNs = undefined;
    else state.controlNs ??= (Math.floor(nowNs / this.period) + 1) * this.period;
  }

  private get period(): number {
    return this.profile.power.controlPeriodNs;
  }

  private averageAfter(elapsedNs: number, watts: number): number {
    const { averageWatts } = this.state;
    return watts + (averageWatts - watts) * Math.exp(-elapsedNs / this.profile.power.averagingNs);
  }
}

function busySms(smBlocks: Int32Array): number {
  let busy = 0;
  for (const blocks of smBlocks) if (blocks > 0) busy += 1;
  return busy;
}
