import {
  blockNs,
  classRates,
  fairShare,
  soloTimeNs,
  chainNs,
  pathNs,
  type BlockWork,
  type Capacities,
} from '../timing/index.js';
import type { ResidentGroup } from './blockEngine.js';

/** What does not change of a group that has its SMs to itself, while clocks stay. */
interface SoloTerms {
  readonly perSm: number;
  readonly soloNs: number;
  /** For how long it has the memory's path. */
  readonly pathNs: number;
  readonly chainNs: number;
  /** Power sum of what the SM limits. */
  readonly power: number;
}

/** A resource is not felt below this part of a block's time: its term in the power sum would be below a millionth. */
const UNFELT = 0.02;

/**
 * Rates of groups each of which has its SMs to itself, as when one kernel runs after the other or each takes other SMs.
 * They come out as `blockRates` tells, but what an SM gives is worked out once a group, and rates anew only where the
 * device's share of something has changed.
 */
export class AloneRates {
  private readonly known = new WeakMap<BlockWork, SoloTerms>();
  /** What a block gets of each resource of the device; Infinity where nobody asks for it. */
  private readonly levels: number[];
  /** The lesser of that and of what it was before, where it has changed; else Infinity. */
  private readonly changed: number[];
  /** Of the groups being rated, in their order; what is behind them is of earlier ones. */
  private readonly terms: SoloTerms[] = [];

  /** Of the memory's path, as of the others. */
  private pathLevel = Infinity;
  private pathChanged = Infinity;

  constructor(
    private readonly limits: Capacities,
    private readonly exponent: number,
    private readonly schedulers: number,
  ) {
    this.levels = limits.device.map(() => Infinity);
    this.changed = limits.device.map(() => Infinity);
  }

  /** @param isFresh false: all that were resident at the last call have the rates that it gave them, the others none */
  rate(groups: readonly ResidentGroup[], isFresh: boolean): void {
    const { levels, changed, terms } = this;
    for (let index = 0; index < groups.length; index++) terms[index] = this.termsOf(groups[index]);
    for (let resource = 0; resource < levels.length; resource++) {
      const level = this.levelOf(groups, resource);
      changed[resource] = level === levels[resource] ? Infinity : Math.min(level, levels[resource]);
      levels[resource] = level;
    }
    const pathLevel = this.pathLevelOf(groups);
    this.pathChanged = pathLevel === this.pathLevel ? Infinity : Math.min(pathLevel, this.pathLevel);
    this.pathLevel = pathLevel;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index];
      if (isFresh || group.ratePerNs === 0 || this.feels(group.work, terms[index])) {
        group.ratePerNs = this.rateOf(group.work, terms[index]);
      }
    }
  }

  private pathLevelOf(groups: readonly ResidentGroup[]): number {
    const { terms } = this;
    let wanted = 0;
    let largest = 0;
    for (let index = 0; index < groups.length; index++) {
      const { pathNs: path, soloNs } = terms[index];
      const demand = path / soloNs;
      wanted += demand * groups[index].blocks.length;
      if (demand > largest) largest = demand;
    }
    if (wanted <= 1) return wanted > 0 ? largest / wanted : Infinity;
    return fairShare(
      1,
      groups.map(({ blocks }) => blocks.length),
      groups.map((_, index) => terms[index].pathNs / terms[index].soloNs),
    );
  }

  /** As `fairShare` tells, which is asked where wants do not fit. */
  private levelOf(groups: readonly ResidentGroup[], resource: number): number {
    const { terms } = this;
    const capacity = this.limits.device[resource];
    let wanted = 0;
    let largest = 0;
    for (let index = 0; index < groups.length; index++) {
      const { work, blocks } = groups[index];
      const demand = work.device[resource] / terms[index].soloNs;
      wanted += demand * blocks.length;
      if (demand > largest) largest = demand;
    }
    if (wanted <= capacity) return wanted > 0 ? (capacity / wanted) * largest : Infinity;
    return fairShare(
      capacity,
      groups.map(({ blocks }) => blocks.length),
      groups.map(({ work }, index) => work.device[resource] / terms[index].soloNs),
    );
  }

  /** Whether a change of what the device gives could be told by the block. */
  private feels(work: BlockWork, { soloNs, pathNs: path }: SoloTerms): boolean {
    const { changed } = this;
    if (path > UNFELT * soloNs * this.pathChanged) return true;
    for (let resource = 0; resource < changed.length; resource++) {
      if (work.device[resource] > UNFELT * soloNs * changed[resource]) return true;
    }
    return false;
  }

  private rateOf(work: BlockWork, { soloNs, pathNs: path, chainNs: chain, power: own }: SoloTerms): number {
    let power = 0;
    for (let resource = 0; resource < this.levels.length; resource++) {
      const timeNs = work.device[resource] / this.levels[resource];
      if (timeNs > UNFELT * soloNs) power += timeNs ** this.exponent;
    }
    // As in `blockRates`: behind other launches' requests a block waits longer than for its own stages.
    const pathTimeNs = path / this.pathLevel;
    if (pathTimeNs > UNFELT * soloNs) power = Math.max(power, pathTimeNs ** this.exponent);
    power += own;
    return 1 / blockNs(power ** (1 / this.exponent), chain, work, this.limits);
  }

  private termsOf({ work, perSm }: ResidentGroup): SoloTerms {
    const known = this.known.get(work);
    if (known?.perSm === perSm) return known;
    const soloNs = soloTimeNs(work, this.limits, this.exponent, this.schedulers);
    const [rate] = classRates(
      [{ work, sms: 1, perSm }],
      [0],
      { soloNs: [soloNs], chains: [0], powers: [0], schedulers: this.schedulers },
      this.limits,
      this.exponent,
    );
    const made = {
      perSm,
      soloNs,
      pathNs: pathNs(work, this.limits),
      chainNs: chainNs(work, this.limits),
      power: (1 / rate) ** this.exponent,
    };
    this.known.set(work, made);
    return made;
  }
}
