import {
  classRates,
  joinExponent,
  joinedNs,
  raised,
  type BlockWork,
  type Capacities,
  type DeviceDemand,
  type DeviceShares,
  type DeviceUser,
} from '../timing/index.js';
import type { ResidentGroup, ResidentKind } from './residentGroup.js';

/** What does not change of groups that have their SMs to themselves, while clocks stay; and what the last look said of them. */
interface AloneTerms extends DeviceUser, ResidentKind {
  readonly perSm: number;
  readonly demand: DeviceDemand;
  /** Power sum of what the SM limits. */
  readonly own: number;
  /** Blocks that were there. */
  count: number;
  lookedAt: number;
  isNew: boolean;
  blockNs: number;
  ratePerNs: number;
}

/** Groups that are gone through before a table is asked. */
const FEW = 16;

/**
 * Rates of groups each of which has its SMs to itself, as when one kernel runs after the other or each takes other SMs.
 * They come out as `blockRates` tells, but what an SM gives is worked out once a kind of work, and rates anew only where the
 * device's share of something has changed.
 */
export class AloneRates {
  private readonly known = new WeakMap<BlockWork, AloneTerms>();
  /** Of works with the same amounts, by those. */
  private readonly ownPowers = new WeakMap<
    readonly number[],
    { readonly perSm: number; readonly warps: number; readonly own: number }
  >();
  /** Of the groups at their positions, as at the last look: most are the same at the next. */
  private readonly terms: AloneTerms[] = [];
  /** Each once, and others behind the first `kindCount`. */
  readonly kinds: AloneTerms[] = [];
  kindCount = 0;
  private looks = 0;

  constructor(
    private readonly limits: Capacities,
    private readonly exponent: number,
    private readonly schedulers: number,
    private readonly shares: DeviceShares,
  ) {}

  /**
   * @param isFresh false: all that were resident at the last call have the rates that it gave them
   * @returns in how many nanoseconds the next group ends
   */
  rate(groups: readonly ResidentGroup[], isFresh: boolean): number {
    const { terms, kinds, shares } = this;
    const look = ++this.looks;
    let length = 0;
    for (let index = 0; index < groups.length; index++) {
      const { work, perSm, count } = groups[index];
      let each = index < terms.length ? terms[index] : undefined;
      if (each?.work !== work || each.perSm !== perSm) terms[index] = each = this.termsOf(work, perSm);
      if (each.lookedAt === look) {
        each.count += count;
        continue;
      }
      each.isNew = isFresh || each.lookedAt !== look - 1;
      each.lookedAt = look;
      each.count = count;
      kinds[length++] = each;
    }
    this.kindCount = length;
    shares.share(kinds, length);
    for (let index = 0; index < length; index++) {
      const each = kinds[index];
      if (!each.isNew && !shares.feels(each.demand)) continue;
      each.blockNs = this.blockNs(each);
      each.ratePerNs = 1 / each.blockNs;
    }
    for (let index = 0; index < groups.length; index++) groups[index].ratePerNs = terms[index].ratePerNs;
    return this.soonestNs(groups);
  }

  /** In how many nanoseconds the next of the groups ends, of works at their positions as at the last look. */
  soonestNs(groups: readonly ResidentGroup[]): number {
    const { terms } = this;
    let soonestNs = Infinity;
    for (let index = 0; index < groups.length; index++) {
      const leftNs = groups[index].remaining * terms[index].blockNs;
      if (leftNs < soonestNs) soonestNs = leftNs;
    }
    return Math.max(0, soonestNs);
  }

  private blockNs({ work, demand, own }: AloneTerms): number {
    const ofDevice = this.shares.power(demand);
    const power = ofDevice + own;
    const exponent = joinExponent(work, this.limits, power > 0 ? ofDevice / power : 0);
    const chainPower =
      exponent === demand.joinExponent ? demand.chainPower : raised(demand.chainNs, exponent);
    return joinedNs(power ** (exponent / this.exponent), chainPower, exponent);
  }

  private termsOf(work: BlockWork, perSm: number): AloneTerms {
    const { terms } = this;
    for (let index = 0; index < terms.length && index < FEW; index++) {
      if (terms[index].work === work && terms[index].perSm === perSm) return terms[index];
    }
    // A launch's first blocks are hardly ever equal to another's.
    const isKept = work.startsTogether !== true;
    const known = isKept ? this.known.get(work) : undefined;
    if (known?.perSm === perSm) return known;
    const demand = isKept ? this.shares.demandOf(work) : this.shares.madeDemand(work);
    const own = this.ownPower(work, perSm);
    const made = {
      work,
      perSm,
      demand,
      own,
      count: 0,
      lookedAt: -1,
      isNew: true,
      blockNs: NaN,
      ratePerNs: NaN,
      energy: undefined,
    };
    if (isKept) this.known.set(work, made);
    return made;
  }

  private ownPower(work: BlockWork, perSm: number): number {
    const known = this.ownPowers.get(work.sm);
    if (known?.perSm === perSm && known.warps === work.warps) return known.own;
    const [rate] = classRates(
      // The same to the last bit for all of these works, whichever comes first.
      [{ work: { ...work, startsTogether: false }, sms: 1, perSm }],
      [0],
      { soloNs: [1], chains: [0], powers: [0], schedulers: this.schedulers },
      this.limits,
      this.exponent,
    );
    const own = raised(1 / rate, this.exponent);
    this.ownPowers.set(work.sm, { perSm, warps: work.warps, own });
    return own;
  }
}
