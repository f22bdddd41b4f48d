import { DEVICE_RESOURCES, type BlockWork, type Capacities } from './blockWork.js';
import { fairShare } from './fairShare.js';
import { pathNs } from './memoryPath.js';
import { raised } from './powers.js';
import { chainNs, soloTimeNs } from './soloTime.js';

/** What blocks of one kind of work ask of what the device's blocks share, at given clocks. */
export interface DeviceDemand {
  /** Of each resource of the device, then nanoseconds of the memory's path. */
  readonly amounts: Float64Array;
  /** The same a nanosecond, of a block alone. */
  readonly perNs: Float64Array;
  readonly soloNs: number;
  readonly chainNs: number;
}

/** Behind the resources: the memory's path, of which there is one. */
const PATH = DEVICE_RESOURCES.length;
const SHARED = PATH + 1;

/** A resource is not felt below this part of a block's time: its term in the power sum would be below a millionth. */
const UNFELT = 0.02;

/**
 * Shares what all blocks of the device have in common: each resource, and the memory's path, max-min fairly among the
 * demands that blocks would make alone.
 */
export class DeviceShares {
  /** What a block gets of each a nanosecond; Infinity where nobody asks for it. */
  private readonly levels = new Float64Array(SHARED).fill(Infinity);
  /** The lesser of that and of what it was before, where it has changed; else Infinity. */
  private readonly changed = new Float64Array(SHARED).fill(Infinity);
  private readonly wanted = new Float64Array(SHARED);
  private readonly largest = new Float64Array(SHARED);
  private readonly capacities: Float64Array;
  private readonly known = new WeakMap<BlockWork, DeviceDemand>();

  constructor(
    private readonly limits: Capacities,
    private readonly exponent: number,
    private readonly schedulers: number,
  ) {
    this.capacities = Float64Array.from([...limits.device, 1]);
  }

  demandOf(work: BlockWork): DeviceDemand {
    let demand = this.known.get(work);
    if (demand === undefined) {
      const { limits, exponent, schedulers } = this;
      const soloNs = soloTimeNs(work, limits, exponent, schedulers);
      const amounts = Float64Array.from([...work.device, pathNs(work, limits)]);
      const perNs = amounts.map((amount) => amount / soloNs);
      this.known.set(work, (demand = { amounts, perNs, soloNs, chainNs: chainNs(work, limits) }));
    }
    return demand;
  }

  /** @param counts blocks of each demand */
  share(demands: readonly DeviceDemand[], counts: readonly number[]): void {
    const { levels, changed, wanted, largest, capacities } = this;
    wanted.fill(0);
    largest.fill(0);
    for (let index = 0; index < demands.length; index++) {
      const { perNs } = demands[index];
      const count = counts[index];
      for (let shared = 0; shared < SHARED; shared++) {
        const each = perNs[shared];
        wanted[shared] += each * count;
        if (each > largest[shared]) largest[shared] = each;
      }
    }
    for (let shared = 0; shared < SHARED; shared++) {
      // As `fairShare` tells, which is asked where wants do not fit.
      const level =
        wanted[shared] <= 0
          ? Infinity
          : wanted[shared] <= capacities[shared]
            ? (capacities[shared] / wanted[shared]) * largest[shared]
            : this.shortLevel(shared, demands, counts);
      changed[shared] = level === levels[shared] ? Infinity : Math.min(level, levels[shared]);
      levels[shared] = level;
    }
  }

  /** Whether a block could tell what it gets now from what it got before the last call of `share`. */
  feels({ amounts, soloNs }: DeviceDemand): boolean {
    const { changed } = this;
    for (let shared = 0; shared < SHARED; shared++) {
      if (amounts[shared] > UNFELT * soloNs * changed[shared]) return true;
    }
    return false;
  }

  /** The power sum of what the device limits of a block. */
  power({ amounts, soloNs }: DeviceDemand): number {
    const { levels, exponent } = this;
    const leastNs = UNFELT * soloNs;
    let power = 0;
    let longestNs = 0;
    for (let resource = 0; resource < PATH; resource++) {
      const timeNs = amounts[resource] / levels[resource];
      if (timeNs <= leastNs) continue;
      power += raised(timeNs, exponent);
      if (timeNs > longestNs) longestNs = timeNs;
    }
    // Behind other launches' requests a block waits longer than for its own stages.
    const pathTimeNs = amounts[PATH] / levels[PATH];
    return pathTimeNs > leastNs && pathTimeNs > longestNs
      ? Math.max(power, raised(pathTimeNs, exponent))
      : power;
  }

  private shortLevel(shared: number, demands: readonly DeviceDemand[], counts: readonly number[]): number {
    return fairShare(
      this.capacities[shared],
      counts,
      demands.map(({ perNs }) => perNs[shared]),
    );
  }
}
