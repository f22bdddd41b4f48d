import type { BlockEnergy, DrawnPower, EngineState, ResidentGroup } from '../dispatch/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import type { BlockWork } from '../timing/index.js';
import { chipPicojoules, memoryPicojoules, unitEnergies, type UnitEnergies } from './blockEnergy.js';
import { clockUnderLimit } from './clockControl.js';
import { totalWatts, type PowerState } from './powerState.js';
import { voltageShare } from './voltage.js';

/** Nanoseconds times watts are nanojoules. */
const MILLIJOULES_PER_NANOJOULE = 1e-6;
const MILLIJOULES_PER_PICOJOULE = 1e-9;
/** Picojoules a nanosecond are milliwatts. */
const WATTS_PER_MILLIWATT = 1e-3;
/** Memory counts as in full use, as to what it takes beyond its bytes, from this part of its bandwidth on. */
const AWAKE_SHARE = 0.02;

/** Works that were asked for last, which are gone through before a table is asked. */
const RECENT = 12;

/**
 * Power follows from what resident blocks do at their present rates, and energy is its integral: exact, since rates hold
 * between the moments at which the device settles. What a block's work takes is the same however its run was cut, shared or
 * delayed.
 */
export class PowerMeter {
  private readonly energies: UnitEnergies;
  /** Of blocks that have been looked at: their work goes on for many looks, and comes back. */
  private readonly ofWork = new WeakMap<BlockWork, BlockEnergy>();
  private readonly recentWorks: BlockWork[] = [];
  private readonly recentEnergies: BlockEnergy[] = [];
  private nextRecent = 0;
  /** Of memory that is just fully awake. */
  private readonly awakeWatts: number;

  constructor(
    private readonly profile: DeviceProfile,
    readonly state: PowerState,
  ) {
    this.energies = unitEnergies(profile.power);
    this.awakeWatts =
      AWAKE_SHARE * profile.timing.dramBytesPerSecond * profile.power.picojoules.dramBytes * 1e-12;
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
  finish({ work, count, remaining }: ResidentGroup, clockHz: number): void {
    const energy = this.energyOf(work);
    const picojoules = energy.chip * voltageShare(this.profile, clockHz) ** 2 + energy.memory;
    this.state.millijoules += picojoules * remaining * count * MILLIJOULES_PER_PICOJOULE;
  }

  /**
   * Works out the power anew; call when rates or clocks have changed.
   * @param drawn what resident blocks draw, where somebody has worked it out
   */
  rerate({ groups, clockHz }: EngineState, nowNs: number, drawn?: DrawnPower): void {
    const { state, profile } = this;
    let chip = 0;
    let memory = 0;
    if (drawn === undefined) {
      for (const { work, count, ratePerNs } of groups) {
        const energy = this.energyOf(work);
        chip += ratePerNs * count * energy.chip;
        memory += ratePerNs * count * energy.memory;
      }
    } else {
      ({ chip, memory } = drawn);
    }
    const { idleWatts, idleClockWatts, memoryAwakeWatts } = profile.power;
    const squaredVoltage = voltageShare(profile, clockHz) ** 2;
    const memoryWatts = memory * WATTS_PER_MILLIWATT;
    const { watts } = state;
    watts.still = idleWatts - idleClockWatts;
    watts.clocked = idleClockWatts * (clockHz / profile.clockHz) * squaredVoltage;
    watts.chip = chip * WATTS_PER_MILLIWATT * squaredVoltage;
    watts.memory =
      memoryWatts + (memoryWatts > 0 ? memoryAwakeWatts * Math.min(1, memoryWatts / this.awakeWatts) : 0);
    this.planControl(clockHz, nowNs);
  }

  energyOf(work: BlockWork): BlockEnergy {
    const { recentWorks, recentEnergies, energies } = this;
    for (let index = 0; index < recentWorks.length; index++) {
      if (recentWorks[index] === work) return recentEnergies[index];
    }
    // A launch's first blocks are hardly ever equal to another's.
    const isKept = work.startsTogether !== true;
    let energy = isKept ? this.ofWork.get(work) : undefined;
    if (energy === undefined) {
      energy = { chip: chipPicojoules(work, energies), memory: memoryPicojoules(work, energies) };
      if (isKept) this.ofWork.set(work, energy);
    }
    recentWorks[this.nextRecent] = work;
    recentEnergies[this.nextRecent] = energy;
    this.nextRecent = (this.nextRecent + 1) % RECENT;
    return energy;
  }

  isControlDue(nowNs: number): boolean {
    const { controlNs } = this.state;
    return controlNs !== undefined && nowNs >= controlNs;
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
    if (!isWanted) {
      state.controlNs = undefined;
      return;
    }
    const periodNs = this.profile.power.controlPeriodNs;
    state.controlNs ??= (Math.floor(nowNs / periodNs) + 1) * periodNs;
  }

  private averageAfter(elapsedNs: number, watts: number): number {
    const { averageWatts } = this.state;
    return watts + (averageWatts - watts) * decay(elapsedNs / this.profile.power.averagingNs);
  }
}

/** `exp(-x)`; of the short times between two moments by its series, exact to the last bit but one. */
function decay(x: number): number {
  if (x > SHORT) return Math.exp(-x);
  return 1 - x * (1 - (x / 2) * (1 - (x / 3) * (1 - x / 4)));
}

const SHORT = 2 ** -10;
