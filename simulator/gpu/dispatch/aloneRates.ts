import type { DeviceShares } from '../timing/index.js';
import {
  blockNs,
  classRates,
  raised,
  rooted,
  type BlockWork,
  type Capacities,
  type DeviceDemand,
} from '../timing/index.js';
import type { ResidentGroup } from './residentGroup.js';

/** What does not change of groups that have their SMs to themselves, while clocks stay; and their rate at the last look. */
interface AloneTerms {
  readonly perSm: number;
  readonly demand: DeviceDemand;
  /** Power sum of what the SM limits. */
  readonly own: number;
  lookedAt: number;
  ratePerNs: number;
}

/**
 * Rates of groups each of which has its SMs to itself, as when one kernel runs after the other or each takes other SMs.
 * They come out as `blockRates` tells, but what an SM gives is worked out once a kind of work, and rates anew only where the
 * device's share of something has changed.
 */
export class AloneRates {
  private readonly known = new WeakMap<BlockWork, AloneTerms>();
  /** Of the groups at their positions, as at the last look: most are the same at the next. */
  private readonly works: BlockWork[] = [];
  private readonly terms: AloneTerms[] = [];
  private readonly users: { demand: DeviceDemand; count: number }[] = [];
  private looks = 0;

  constructor(
    private readonly limits: Capacities,
    private readonly exponent: number,
    private readonly schedulers: number,
    private readonly shares: DeviceShares,
  ) {}

  /** @param isFresh false: all that were resident at the last call have the rates that it gave them */
  rate(groups: readonly ResidentGroup[], isFresh: boolean): void {
    const { works, terms, users, shares } = this;
    for (let index = 0; index < groups.length; index++) {
      const { work, perSm, count } = groups[index];
      if (works[index] !== work || terms[index].perSm !== perSm) {
        works[index] = work;
        terms[index] = this.termsOf(work, perSm);
      }
      const { demand } = terms[index];
      if (index === users.length) users.push({ demand, count });
      else {
        users[index].demand = demand;
        users[index].count = count;
      }
    }
    shares.share(users, groups.length);
    const look = ++this.looks;
    for (let index = 0; index < groups.length; index++) {
      const each = terms[index];
      if (each.lookedAt !== look) {
        const isNew = isFresh || each.lookedAt !== look - 1;
        each.lookedAt = look;
        if (isNew || shares.feels(each.demand)) each.ratePerNs = this.rateOf(groups[index].work, each);
      }
      groups[index].ratePerNs = each.ratePerNs;
    }
  }

  private rateOf(work: BlockWork, { demand, own }: AloneTerms): number {
    const ofDevice = this.shares.power(demand);
    const power = ofDevice + own;
    return (
      1 /
      blockNs(
        rooted(power, this.exponent),
        demand.chainNs,
        work,
        this.limits,
        power > 0 ? ofDevice / power : 0,
      )
    );
  }

  private termsOf(work: BlockWork, perSm: number): AloneTerms {
    const known = this.known.get(work);
    if (known?.perSm === perSm) return known;
    const demand = this.shares.demandOf(work);
    const [rate] = classRates(
      [{ work, sms: 1, perSm }],
      [0],
      { soloNs: [demand.soloNs], chains: [0], powers: [0], schedulers: this.schedulers },
      this.limits,
      this.exponent,
    );
    const made = { perSm, demand, own: raised(1 / rate, this.exponent), lookedAt: 0, ratePerNs: 0 };
    this.known.set(work, made);
    return made;
  }
}
