import type { DeviceProfile } from '../profiles/index.js';
import { AloneRates } from './aloneRates.js';
import { alike, blockRates, capacities, type BlockWork, type Capacities } from '../timing/index.js';

/** Blocks of one launch that started together, do the same work and sit in equal number on SMs with equal company. */
export interface ResidentGroup {
  readonly id: number;
  readonly launch: number;
  readonly work: BlockWork;
  readonly sms: number[];
  readonly perSm: number;
  /** Block numbers, `perSm` for each of `sms` in turn. */
  readonly blocks: number[];
  readonly startNs: number;
  /** Of the time since then, what it spent off the SMs while another context had its turn. */
  parkedNs: number;
  /** Fraction of each block still to do at `asOfNs`. */
  remaining: number;
  /** Fraction of a block a nanosecond, until anything changes. */
  ratePerNs: number;
}

/** Plain data. */
export interface EngineState {
  asOfNs: number;
  nextGroup: number;
  groups: ResidentGroup[];
  clockHz: number;
  memoryClockHz: number;
}

export interface PlacedBlocks {
  readonly work: BlockWork;
  readonly firstBlock: number;
  /** SM of each block from `firstBlock` on. */
  readonly sms: readonly number[];
}

/** Works that differ by less count as one: a wave of nearly uniform blocks is then one group and one event. */
const ALIKE = 0.01;
/**
 * Blocks end together that would end within this of each other: in nanoseconds, and as a part of a block. Uniform
 * blocks end at one moment anyway; uneven ones would otherwise cost an event each.
 */
const TOGETHER_NS = 1;
const TOGETHER_SHARE = 0.01;
/** SMs on which a group's rates differ by less go on as one. */
const RATE_SPREAD = 0.1;

interface HeldClass {
  readonly members: readonly number[];
  readonly sms: number[];
}

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
  readonly alone: AloneRates;
  /** Blocks' times alone, which every change of residency asks for again. */
  readonly soloTimes: WeakMap<BlockWork, number>;
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
  ) {
    this.groupsOn = new Int16Array(profile.sms);
    this.placedAt = new Int32Array(profile.sms);
    for (const { sms } of state.groups) this.occupy(sms, 1);
  }

  /** Brings every group to `nowNs` at the present rates. */
  advance(nowNs: number): void {
    const elapsedNs = nowNs - this.state.asOfNs;
    if (elapsedNs > 0) {
      for (const group of this.state.groups) group.remaining -= group.ratePerNs * elapsedNs;
    }
    this.state.asOfNs = Math.max(this.state.asOfNs, nowNs);
  }

  /** Takes out the groups that have finished by now. */
  takeFinished(): readonly ResidentGroup[] {
    if (!this.state.groups.some(isFinished)) return NONE;
    const taken = this.take(isFinished);
    for (const group of taken) this.onLeave(group, 1);
    return taken;
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
    this.state.groups.push(...groups);
    for (const { sms } of groups) this.occupy(sms, 1);
    this.isAlone = false;
  }

  /** Adds blocks that start now. `advance` must have been called for this moment. */
  add(launch: number, placed: readonly PlacedBlocks[]): void {
    if (this.isApart) {
      for (const { work, firstBlock, sms } of placed) {
        sms.forEach((sm, index) => this.addGroup(launch, work, [sm], 1, [firstBlock + index]));
      }
      return;
    }
    if (placed.length === 1 && placed[0].sms.length === 1) {
      const [{ work, firstBlock, sms }] = placed;
      this.addGroup(launch, work, [sms[0]], 1, [firstBlock]);
      return;
    }
    if (placed.length === 1 && this.areDifferent(placed[0].sms)) {
      const [{ work, firstBlock, sms }] = placed;
      this.addGroup(
        launch,
        work,
        [...sms],
        1,
        sms.map((_, index) => firstBlock + index),
      );
      return;
    }
    for (const kind of mergeAlike(placed)) {
      const bySm = new Map<number, number[]>();
      kind.forEach(({ firstBlock, sms }) => {
        sms.forEach((sm, index) => {
          const blocks = bySm.get(sm);
          if (blocks === undefined) bySm.set(sm, [firstBlock + index]);
          else blocks.push(firstBlock + index);
        });
      });
      const byCount = new Map<number, { sms: number[]; blocks: number[] }>();
      for (const [sm, blocks] of bySm) {
        const group = byCount.get(blocks.length) ?? { sms: [], blocks: [] };
        group.sms.push(sm);
        group.blocks.push(...blocks);
        byCount.set(blocks.length, group);
      }
      for (const [perSm, { sms, blocks }] of byCount) {
        this.addGroup(launch, kind[0].work, sms, perSm, blocks);
      }
    }
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
    for (const sm of sms) {
      groupsOn[sm] += change;
      if (groupsOn[sm] === shared) this.sharedSms += change;
    }
  }

  private addGroup(launch: number, work: BlockWork, sms: number[], perSm: number, blocks: number[]): void {
    this.occupy(sms, 1);
    this.state.groups.push({
      id: this.state.nextGroup++,
      launch,
      work,
      sms,
      perSm,
      blocks,
      startNs: this.state.asOfNs,
      parkedNs: 0,
      remaining: 1,
      ratePerNs: 0,
    });
  }

  /** Works out all rates anew; call after any change. @returns when the next group ends at these rates, or undefined. */
  rerate(): number | undefined {
    const { state, profile } = this;
    if (state.groups.length === 0) return undefined;
    const limits = this.capacities();
    if (this.sharedSms === 0) {
      limits.alone.rate(state.groups, !this.isAlone);
      this.isAlone = true;
      return this.soonest();
    }
    this.isAlone = false;
    const classes = this.smClasses();
    const rates = blockRates(
      state.groups.map(({ launch, work, sms, perSm }) => ({ launch, work, sms: sms.length, perSm })),
      classes,
      limits.capacities,
      profile.timing.overlapExponent,
      profile.schedulersPerSm,
      limits.soloTimes,
    );
    this.giveRates(classes, rates);
    return this.soonest();
  }

  private soonest(): number {
    const { groups, asOfNs } = this.state;
    let soonestNs = Infinity;
    for (const { remaining, ratePerNs } of groups) {
      const leftNs = Math.max(0, remaining) / ratePerNs;
      if (leftNs < soonestNs) soonestNs = leftNs;
    }
    return asOfNs + soonestNs;
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
      const alone = new AloneRates(limits, timing.overlapExponent, schedulersPerSm);
      this.limits = { clockHz, memoryClockHz, capacities: limits, alone, soloTimes: new WeakMap() };
      this.isAlone = false;
    }
    return this.limits;
  }

  private take(wanted: (group: ResidentGroup) => boolean): ResidentGroup[] {
    const taken = this.state.groups.filter(wanted);
    if (taken.length > 0) this.state.groups = this.state.groups.filter((group) => !wanted(group));
    for (const { sms } of taken) this.occupy(sms, -1);
    return taken;
  }

  /** SMs by the groups that they hold. */
  private smClasses(): HeldClass[] {
    const { groups } = this.state;
    if (groups.length === 1) return [{ members: [0], sms: groups[0].sms }];
    const members = new Map<number, number[]>();
    groups.forEach((group, index) => {
      for (const sm of group.sms) {
        const held = members.get(sm);
        if (held === undefined) members.set(sm, [index]);
        else held.push(index);
      }
    });
    const classes = new Map<string, HeldClass>();
    for (const sm of [...members.keys()].sort((a, b) => a - b)) {
      const company = members.get(sm) ?? [];
      const key = company.join();
      const held = classes.get(key);
      if (held === undefined) classes.set(key, { members: company, sms: [sm] });
      else held.sms.push(sm);
    }
    return [...classes.values()];
  }

  /**
   * Gives each group the mean of its SMs' rates. Where they differ by more than a little, the group is split: blocks
   * beside a hog and blocks on free SMs must not end together.
   */
  private giveRates(classes: readonly HeldClass[], rates: readonly (readonly number[])[]): void {
    const { groups } = this.state;
    if (groups.length === 1 && classes.length === 1) {
      // As below: the sum over the SMs divided by their number.
      const [group] = groups;
      group.ratePerNs = (rates[0][0] * classes[0].sms.length) / group.sms.length;
      return;
    }
    const sums = new Float64Array(groups.length);
    const lows = new Float64Array(groups.length).fill(Infinity);
    const highs = new Float64Array(groups.length);
    classes.forEach(({ members, sms }, index) => {
      for (let position = 0; position < members.length; position++) {
        const group = members[position];
        const rate = rates[index][position];
        sums[group] += rate * sms.length;
        lows[group] = Math.min(lows[group], rate);
        highs[group] = Math.max(highs[group], rate);
      }
    });
    let split = false;
    groups.forEach((group, index) => {
      group.ratePerNs = sums[index] / group.sms.length;
      if (highs[index] > lows[index] * (1 + RATE_SPREAD)) split = true;
    });
    if (!split) return;
    const parts = groups.flatMap((group, index) => {
      if (highs[index] <= lows[index] * (1 + RATE_SPREAD)) return [group];
      const rateOf = new Map<number, number>();
      classes.forEach(({ members, sms }, smClass) => {
        const position = members.indexOf(index);
        if (position >= 0) for (const sm of sms) rateOf.set(sm, rates[smClass][position]);
      });
      return this.splitByRate(group, rateOf);
    });
    this.state.groups = parts;
  }

  private splitByRate(group: ResidentGroup, rateOf: ReadonlyMap<number, number>): ResidentGroup[] {
    const positions = group.sms.map((_, position) => position);
    const rate = (position: number): number => rateOf.get(group.sms[position]) ?? 0;
    positions.sort((a, b) => rate(a) - rate(b) || a - b);
    const parts: number[][] = [];
    let first = 0;
    for (const position of positions) {
      if (parts.length === 0 || rate(position) > first * (1 + RATE_SPREAD)) {
        parts.push([]);
        first = rate(position);
      }
      parts[parts.length - 1].push(position);
    }
    return parts.map((part) => {
      const kept =
        parts.length === 1
          ? group
          : this.part(
              group,
              part.sort((a, b) => a - b),
            );
      kept.ratePerNs = part.reduce((sum, position) => sum + rate(position), 0) / part.length;
      return kept;
    });
  }

  private part(group: ResidentGroup, positions: readonly number[]): ResidentGroup {
    const { perSm } = group;
    return {
      ...group,
      id: this.state.nextGroup++,
      sms: positions.map((position) => group.sms[position]),
      blocks: positions.flatMap((position) => group.blocks.slice(position * perSm, (position + 1) * perSm)),
    };
  }
}

const NONE: readonly ResidentGroup[] = [];

function isFinished({ remaining, ratePerNs }: ResidentGroup): boolean {
  return ratePerNs > 0 && remaining <= Math.max(ratePerNs * TOGETHER_NS, TOGETHER_SHARE);
}

function mergeAlike(placed: readonly PlacedBlocks[]): PlacedBlocks[][] {
  const kinds: PlacedBlocks[][] = [];
  for (const blocks of placed) {
    const kind = kinds.find((known) => alike(known[0].work, blocks.work, ALIKE));
    if (kind === undefined) kinds.push([blocks]);
    else kind.push(blocks);
  }
  return kinds;
}
