import { timeAfter } from '../../time/index.js';
import type { DeviceProfile } from '../profiles/index.js';
import { DeviceShares, blockRates, capacities, type BlockWork, type Capacities } from '../timing/index.js';
import { AloneRates, type DrawnPower } from './aloneRates.js';
import { grouped, type PlacedBlocks } from './placing.js';
import { partOf, roundRobin, type BlockEnergy, type ResidentGroup } from './residentGroup.js';
import { giveRates, smClasses } from './sharedRates.js';

/** Plain data. */
export interface EngineState {
  asOfNs: number;
  nextGroup: number;
  groups: ResidentGroup[];
  clockHz: number;
  memoryClockHz: number;
}

/**
 * Blocks end together that would end within this of each other: in nanoseconds, and as a part of a block. Uniform
 * blocks end at one moment anyway; uneven ones would otherwise cost an event each.
 */
const TOGETHER_NS = 1;
const TOGETHER_SHARE = 0.01;

export function emptyEngine(profile: DeviceProfile, nowNs: number): EngineState {
  return {
    asOfNs: nowNs,
    nextGroup: 1,
    groups: [],
    clockHz: profile.clockHz,
    memoryClockHz: profile.clocks.memoryHz,
  };
}

interface ClockedLimits {
  readonly clockHz: number;
  readonly memoryClockHz: number;
  readonly capacities: Capacities;
  readonly shares: DeviceShares;
  readonly alone: AloneRates;
}

/**
 * Moves resident blocks forward. Progress is a rate: it holds until residency, contention or frequency change, and is
 * then worked out anew; no block has an end time, only the engine a next moment at which to look.
 */
export class BlockEngine {
  /** At the clocks that they were worked out for. */
  private limits: ClockedLimits | undefined;
  /** Groups on each SM, and SMs with more than one. */
  private readonly groupsOn: Int16Array;
  private sharedSms = 0;
  /** All rates are as `AloneRates` gave them at the last look. */
  private isAlone = false;
  /** Groups have come, gone or changed since the last look. */
  private isChanged = true;
  /** The last look may have changed what groups do; false where each goes on as an equal one before it. */
  hasNewRates = true;
  /** Positions in the list of groups that have finished, which the next to come take. */
  private readonly holes: number[] = [];
  /** The last launch that stood on each SM while one was placed, to tell SMs that it takes twice. */
  private readonly placedAt: Int32Array;
  private placements = 0;

  constructor(
    private readonly profile: DeviceProfile,
    readonly state: EngineState,
    /** Told of groups that go: `done` of each block is 1 at its end, and less when its launch is dropped. */
    private readonly onLeave: (group: ResidentGroup, done: number) => void = () => undefined,
    /** Each block by itself: the same answers, slowly. For tests. */
    private readonly isApart = false,
    /** Where power is looked at: what a block takes. */
    private readonly energyOf: (work: BlockWork) => BlockEnergy = () => NO_ENERGY,
  ) {
    this.groupsOn = new Int16Array(profile.sms);
    this.placedAt = new Int32Array(profile.sms);
    for (const { sms } of state.groups) this.occupy(sms, 1);
  }

  /** No SM holds blocks of two groups. */
  get areApart(): boolean {
    return this.sharedSms === 0;
  }

  /** Brings every group to `nowNs` at the present rates. */
  advance(nowNs: number): void {
    const { state } = this;
    const elapsedNs = nowNs - state.asOfNs;
    if (!(elapsedNs > 0)) return;
    const { groups } = state;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index];
      group.remaining -= group.ratePerNs * elapsedNs;
    }
    state.asOfNs = nowNs;
  }

  /** `advance` and then `onlyFinished`, in one go. */
  step(nowNs: number): number {
    const { state } = this;
    const elapsedNs = nowNs - state.asOfNs;
    if (!(elapsedNs > 0)) return this.onlyFinished();
    const { groups } = state;
    let only = -1;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index];
      const { ratePerNs } = group;
      const remaining = group.remaining - ratePerNs * elapsedNs;
      group.remaining = remaining;
      if (isOver(remaining, ratePerNs)) only = only === -1 ? index : -2;
    }
    state.asOfNs = nowNs;
    return only;
  }

  /** The position of the only group that has finished by now; -1 when there is none, -2 when there are several. */
  onlyFinished(): number {
    const { groups } = this.state;
    let only = -1;
    for (let index = 0; index < groups.length; index++) {
      if (!isFinished(groups[index])) continue;
      if (only >= 0) return -2;
      only = index;
    }
    return only;
  }

  /** A group has finished, and as many alike blocks start in its places. */
  passOn(position: number, launch: number, work: BlockWork, firstBlock: number): void {
    const group = this.state.groups[position];
    this.onLeave(group, 1);
    const { sms, perSm, count, numbers } = group;
    this.renew(
      group,
      launch,
      work,
      sms,
      perSm,
      count,
      firstBlock,
      numbers === undefined ? undefined : roundRobin(sms, perSm, firstBlock),
    );
  }

  /**
   * Takes out the groups that have finished by now. @param keepsPlaces their SMs count as theirs until `refill` gives them to
   * others or `leave` gives them up
   */
  takeFinished(keepsPlaces = false): readonly ResidentGroup[] {
    const { groups } = this.state;
    let taken: ResidentGroup[] | undefined;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index];
      if (!isFinished(group)) continue;
      this.holes.push(index);
      if (taken === undefined) taken = [group];
      else taken.push(group);
    }
    if (taken === undefined) return NONE;
    for (const group of taken) {
      if (!keepsPlaces) this.occupy(group.sms, -1);
      this.onLeave(group, 1);
    }
    return taken;
  }

  /** Groups that have finished and whose positions in the list nobody took are out of it. */
  dropFinished(): void {
    const { holes } = this;
    if (holes.length === 0) return;
    const { groups } = this.state;
    if (holes.length > 1) holes.sort((a, b) => a - b);
    let kept = holes[0];
    let next = 0;
    for (let index = kept; index < groups.length; index++) {
      if (index === holes[next]) next += 1;
      else groups[kept++] = groups[index];
    }
    while (groups.length > kept) groups.pop();
    while (holes.length > 0) holes.pop();
    this.isChanged = true;
  }

  /** SMs that a finished group kept are nobody's now. */
  leave(sms: readonly number[]): void {
    this.occupy(sms, -1);
  }

  /** Takes out a launch's groups, finished or not. */
  takeLaunch(launch: number): ResidentGroup[] {
    const taken = this.take((group) => group.launch === launch);
    for (const group of taken) this.onLeave(group, Math.min(1, Math.max(0, 1 - group.remaining)));
    return taken;
  }

  /** Takes out groups that are to go on later; nobody is told. */
  park(isParked: (group: ResidentGroup) => boolean): ResidentGroup[] {
    return this.take(isParked);
  }

  /** Parked groups that never go on. */
  leaveParked(groups: readonly ResidentGroup[]): void {
    for (const group of groups) this.onLeave(group, Math.min(1, Math.max(0, 1 - group.remaining)));
  }

  /** Groups that were parked go on. */
  putBack(groups: readonly ResidentGroup[]): void {
    this.dropFinished();
    this.state.groups.push(...groups);
    for (const { sms } of groups) this.occupy(sms, 1);
    this.isAlone = false;
    this.isChanged = true;
  }

  /** Adds blocks that start now. `advance` must have been called for this moment. */
  add(launch: number, placed: readonly PlacedBlocks[]): void {
    if (this.isApart) {
      for (const { work, firstBlock, sms } of placed) {
        sms.forEach((sm, index) => this.come(launch, work, [sm], 1, firstBlock + index, undefined));
      }
      return;
    }
    if (placed.length === 1 && this.areDifferent(placed[0].sms)) {
      const [{ work, firstBlock, sms }] = placed;
      this.come(launch, work, sms, 1, firstBlock, undefined);
      return;
    }
    for (const { work, sms, perSm, firstBlock, numbers } of grouped(placed)) {
      this.come(launch, work, sms, perSm, firstBlock, numbers);
    }
  }

  /** Adds alike blocks where groups were that have finished and kept their places. */
  refill(
    launch: number,
    work: BlockWork,
    sms: readonly number[],
    perSm: number,
    firstBlock: number,
    numbers: readonly number[] | undefined,
  ): void {
    this.addGroup(launch, work, sms, perSm, firstBlock, numbers);
  }

  private areDifferent(sms: readonly number[]): boolean {
    const placement = ++this.placements;
    for (const sm of sms) {
      if (this.placedAt[sm] === placement) return false;
      this.placedAt[sm] = placement;
    }
    return true;
  }

  /** Counts a group that comes to SMs (1) or leaves them (-1). */
  private occupy(sms: readonly number[], change: 1 | -1): void {
    const { groupsOn } = this;
    const shared = change > 0 ? 2 : 1;
    for (let index = 0; index < sms.length; index++) {
      const sm = sms[index];
      groupsOn[sm] += change;
      if (groupsOn[sm] === shared) this.sharedSms += change;
    }
  }

  private come(
    launch: number,
    work: BlockWork,
    sms: readonly number[],
    perSm: number,
    firstBlock: number,
    numbers: readonly number[] | undefined,
  ): void {
    this.occupy(sms, 1);
    this.addGroup(launch, work, sms, perSm, firstBlock, numbers);
  }

  private addGroup(
    launch: number,
    work: BlockWork,
    sms: readonly number[],
    perSm: number,
    firstBlock: number,
    numbers: readonly number[] | undefined,
  ): void {
    const { state, holes } = this;
    const count = sms.length * perSm;
    const hole = holes.pop();
    if (hole !== undefined) {
      this.renew(state.groups[hole], launch, work, sms, perSm, count, firstBlock, numbers);
      return;
    }
    this.isChanged = true;
    state.groups.push({
      id: state.nextGroup++,
      launch,
      work,
      sms,
      perSm,
      count,
      firstBlock,
      numbers,
      startNs: state.asOfNs,
      parkedNs: 0,
      remaining: 1,
      ratePerNs: 0,
    });
  }

  /** Makes a group that has finished another one: of equal work and number it keeps the rate, since nothing has changed. */
  private renew(
    group: Mutable<ResidentGroup>,
    launch: number,
    work: BlockWork,
    sms: readonly number[],
    perSm: number,
    count: number,
    firstBlock: number,
    numbers: readonly number[] | undefined,
  ): void {
    const { state } = this;
    if (group.work !== work || group.perSm !== perSm || group.count !== count) {
      this.isChanged = true;
      group.ratePerNs = 0;
    }
    group.id = state.nextGroup++;
    group.launch = launch;
    group.work = work;
    group.sms = sms;
    group.perSm = perSm;
    group.count = count;
    group.firstBlock = firstBlock;
    group.numbers = numbers;
    group.startNs = state.asOfNs;
    group.parkedNs = 0;
    group.remaining = 1;
  }

  /** Works out all rates anew; call after any change. @returns when the next group ends at these rates, or undefined. */
  rerate(): number | undefined {
    this.dropFinished();
    const { state, profile } = this;
    if (state.groups.length === 0) {
      this.hasNewRates = true;
      return undefined;
    }
    const { alone, shares, capacities: limits } = this.capacities();
    const { isChanged } = this;
    this.isChanged = false;
    this.hasNewRates = isChanged || !this.isAlone || this.sharedSms > 0;
    if (this.sharedSms === 0) {
      const soonestNs = this.hasNewRates
        ? alone.rate(state.groups, !this.isAlone)
        : alone.soonestNs(state.groups);
      this.isAlone = true;
      return timeAfter(state.asOfNs, soonestNs);
    }
    this.isAlone = false;
    const classes = smClasses(state.groups);
    const rates = blockRates(
      state.groups.map(({ launch, work, sms, perSm }) => ({ launch, work, sms: sms.length, perSm })),
      classes,
      limits,
      profile.timing.overlapExponent,
      profile.schedulersPerSm,
      shares,
    );
    state.groups = giveRates(state.groups, classes, rates, (group, positions) =>
      partOf(group, state.nextGroup++, positions),
    );
    return this.soonest();
  }

  /** What all that is resident draws at the rates of the last look; undefined where that was not worked out. */
  get drawn(): DrawnPower | undefined {
    return this.isAlone && this.state.groups.length > 0 ? this.limits?.alone.drawn : undefined;
  }

  private soonest(): number {
    const { groups, asOfNs } = this.state;
    let soonestNs = Infinity;
    for (let index = 0; index < groups.length; index++) {
      const { remaining, ratePerNs } = groups[index];
      const leftNs = remaining > 0 ? remaining / ratePerNs : 0;
      if (leftNs < soonestNs) soonestNs = leftNs;
    }
    return timeAfter(asOfNs, soonestNs);
  }

  setClock(clockHz: number): void {
    this.state.clockHz = clockHz;
  }

  setMemoryClock(memoryClockHz: number): void {
    this.state.memoryClockHz = memoryClockHz;
  }

  private capacities(): ClockedLimits {
    const { clockHz, memoryClockHz } = this.state;
    if (this.limits?.clockHz !== clockHz || this.limits.memoryClockHz !== memoryClockHz) {
      const { timing, schedulersPerSm } = this.profile;
      const limits = capacities(this.profile, clockHz, memoryClockHz);
      const shares = new DeviceShares(limits, timing.overlapExponent, schedulersPerSm);
      const alone = new AloneRates(limits, timing.overlapExponent, schedulersPerSm, this.energyOf);
      this.limits = { clockHz, memoryClockHz, capacities: limits, shares, alone };
      this.isAlone = false;
    }
    return this.limits;
  }

  private take(wanted: (group: ResidentGroup) => boolean): ResidentGroup[] {
    this.dropFinished();
    const taken = this.state.groups.filter(wanted);
    if (taken.length > 0) {
      this.state.groups = this.state.groups.filter((group) => !wanted(group));
      this.isChanged = true;
    }
    for (const { sms } of taken) this.occupy(sms, -1);
    return taken;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const NONE: readonly ResidentGroup[] = [];

const NO_ENERGY: BlockEnergy = { chip: 0, memory: 0 };

function isFinished({ remaining, ratePerNs }: ResidentGroup): boolean {
  return isOver(remaining, ratePerNs);
}

function isOver(remaining: number, ratePerNs: number): boolean {
  return ratePerNs > 0 && (remaining <= TOGETHER_SHARE || remaining <= ratePerNs * TOGETHER_NS);
}
