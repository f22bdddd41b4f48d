import { DEVICE_RESOURCES, type BlockWork, type Capacities } from './blockWork.js';
import { pathNs } from './memoryPath.js';
import { raised } from './powers.js';
import { soloDevicePower, soloSmPower, soloTime, type SoloTime } from './soloTime.js';

/** What blocks of one kind of work ask of what the device's blocks share, at given clocks. */
export interface DeviceDemand extends SoloTime {
  /** Of each resource of the device, then nanoseconds of the memory's path. */
  readonly amounts: Float64Array;
  /** Positions in `amounts` of what it asks for at all. */
  readonly asked: Uint8Array;
  /** 1 / `soloNs`. */
  readonly soloRate: number;
}

/** So many blocks of a kind. */
export interface DeviceUser {
  readonly demand: DeviceDemand;
  readonly count: number;
}

/** Behind the resources: the memory's path, of which there is one. */
export const DEVICE_PATH = DEVICE_RESOURCES.length;
/** How many things blocks of the whole device share. */
export const DEVICE_SHARED = DEVICE_PATH + 1;

/** A resource is not felt below this part of a block's time: its term in the power sum would be below a millionth. */
export const UNFELT = 0.02;

/**
 * Shares what all blocks of the device have in common: each resource, and the memory's path, max-min fairly among the
 * demands that blocks would make alone.
 */
export class DeviceShares {
  /** What a block gets of each a nanosecond; Infinity where nobody asks for it. */
  private readonly levels = new Float64Array(DEVICE_SHARED).fill(Infinity);
  private readonly wanted = new Float64Array(DEVICE_SHARED);
  private readonly largest = new Float64Array(DEVICE_SHARED);
  private readonly capacities: Float64Array;
  private readonly known = new WeakMap<BlockWork, DeviceDemand>();
  /** Of works with the same amounts, which differ in their chains: by those amounts. */
  private readonly smPowers = new WeakMap<
    readonly number[],
    { readonly warps: number; readonly power: number }
  >();
  private readonly deviceTerms = new WeakMap<
    readonly number[],
    { readonly amounts: Float64Array; readonly asked: Uint8Array; readonly power: number }
  >();

  constructor(
    private readonly limits: Capacities,
    private readonly exponent: number,
    private readonly schedulers: number,
  ) {
    this.capacities = Float64Array.from([...limits.device, 1]);
  }

  demandOf(work: BlockWork): DeviceDemand {
    let demand = this.known.get(work);
    if (demand === undefined) this.known.set(work, (demand = this.madeDemand(work)));
    return demand;
  }

  private madeDemand(work: BlockWork): DeviceDemand {
    const { limits, exponent, schedulers } = this;
    let sm = this.smPowers.get(work.sm);
    if (sm?.warps !== work.warps) {
      sm = { warps: work.warps, power: soloSmPower(work, limits, exponent, schedulers) };
      this.smPowers.set(work.sm, sm);
    }
    let device = this.deviceTerms.get(work.device);
    if (device === undefined) {
      const amounts = Float64Array.from([...work.device, pathNs(work, limits)]);
      const asked = Uint8Array.from([...amounts.keys()].filter((shared) => amounts[shared] > 0));
      device = { amounts, asked, power: soloDevicePower(work, limits, exponent) };
      this.deviceTerms.set(work.device, device);
    }
    const { soloNs, chainNs, joinExponent, chainPower } = soloTime(
      work,
      sm.power,
      device.power,
      limits,
      exponent,
    );
    const { amounts, asked } = device;
    return { amounts, asked, soloNs, soloRate: 1 / soloNs, chainNs, joinExponent, chainPower };
  }

  /** @param users the first `length` of them are there */
  share(users: readonly DeviceUser[], length: number): void {
    const { levels, wanted, largest, capacities } = this;
    for (let shared = 0; shared < DEVICE_SHARED; shared++) {
      wanted[shared] = 0;
      largest[shared] = 0;
    }
    for (let index = 0; index < length; index++) {
      const { demand, count } = users[index];
      const { amounts, asked, soloRate } = demand;
      for (let place = 0; place < asked.length; place++) {
        const shared = asked[place];
        const perNs = amounts[shared] * soloRate;
        wanted[shared] += perNs * count;
        if (perNs > largest[shared]) largest[shared] = perNs;
      }
    }
    for (let shared = 0; shared < DEVICE_SHARED; shared++) {
      levels[shared] =
        wanted[shared] <= 0
          ? Infinity
          : wanted[shared] <= capacities[shared]
            ? (capacities[shared] / wanted[shared]) * largest[shared]
            : this.shortLevel(shared, users, length);
    }
  }

  /** The power sum of what the device limits of a block. */
  power({ amounts, asked, soloNs }: DeviceDemand): number {
    const { levels, exponent } = this;
    const leastNs = UNFELT * soloNs;
    let power = 0;
    let longestNs = 0;
    for (let place = 0; place < asked.length; place++) {
      const resource = asked[place];
      if (resource === DEVICE_PATH) break;
      // Told without a division: little of what there is is felt.
      if (amounts[resource] <= leastNs * levels[resource]) continue;
      const timeNs = amounts[resource] / levels[resource];
      power += raised(timeNs, exponent);
      if (timeNs > longestNs) longestNs = timeNs;
    }
    // Behind other launches' requests a block waits longer than for its own stages.
    if (amounts[DEVICE_PATH] <= leastNs * levels[DEVICE_PATH]) return power;
    const pathTimeNs = amounts[DEVICE_PATH] / levels[DEVICE_PATH];
    return pathTimeNs > longestNs ? Math.max(power, raised(pathTimeNs, exponent)) : power;
  }

  /** As `fairShare`, where wants do not fit: those that want less than the level get what they want, the others the level. */
  private shortLevel(shared: number, users: readonly DeviceUser[], length: number): number {
    let level = 0;
    for (;;) {
      let left = this.capacities[shared];
      let members = 0;
      for (let index = 0; index < length; index++) {
        const { demand, count } = users[index];
        const perNs = demand.amounts[shared] * demand.soloRate;
        if (perNs < level) left -= perNs * count;
        else members += count;
      }
      if (members === 0) return this.largest[shared];
      const next = left / members;
      if (!(next > level)) return level;
      level = next;
    }
  }
}
