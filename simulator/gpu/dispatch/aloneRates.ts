import {
  blockNs,
  classRates,
  raised,
  rooted,
  type BlockWork,
  type Capacities,
  type DeviceDemand,
  type DeviceShares,
  type DeviceUser,
} from '../timing/index.js';
import type { ResidentGroup } from './residentGroup.js';

/** What does not change of groups that have their SMs to themselves, while clocks stay; and what the last look said of them. */
interface AloneTerms extends DeviceUser {
  readonly work: BlockWork;
  readonly perSm: number;
  readonly demand: DeviceDemand;
  /** Power sum of what the SM limits. */
  readonly own: number;
  /** Blocks that were there. */
  count: number;
  lookedAt: number;
  isNew: boolean;
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
  /** Each once. */
  private readonly kinds: AloneTerms[] = [];
  private looks = 0;

  constructor(
    private readonly limits: Capacities,
    private readonly exponent: number,
    private readonly schedulers: number,
    private readonly shares: DeviceShares,
  ) {}

  /** @param isFresh false: all that were resident at the last call have the rates that it gave them */
  rate(groups: readonly ResidentGroup[], isFresh: boolean): void {
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
    shares.share(kinds, length);
    for (let index = 0; index < length; index++) {
      const each = kinds[index];
      if (each.isNew || shares.feels(each.demand)) each.ratePerNs = this.rateOf(each);
    }
    for (let index = 0; index < groups.length; index++) groups[index].ratePerNs = terms[index].ratePerNs;
  }

  private rateOf({ work, demand, own }: AloneTerms): number {
    const ofDevice = this.shares.power(demand);
    const power = ofDevice + own;
    const deviceShare = power > 0 ? ofDevice / power : 0;
    return 1 / blockNs(rooted(power, this.exponent), demand.chainNs, work, this.limits, deviceShare);
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
    const made = { work, perSm, demand, own, count: 0, lookedAt: -1, isNew: true, ratePerNs: 0 };
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
