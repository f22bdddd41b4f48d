import { fittingGroup } from '../../containers/protocol/index.js';

/** What is known of one source. */
interface SourceRecord {
  /** Inputs that were answered since it was last suspected. */
  good: number;
  /** So many must be before its inputs travel with others'. */
  needed: number;
  /** When that was last said. */
  suspectedNs: number;
  hasKilled: boolean;
}

/** Of a source that was there when a replica was lost, and of which little is known. */
const FIRST_PROOF = 2;
/** Newcomers are to show that much for so long after a replica was lost with some of them, whoever it was. */
const SUSPICION_NS = 10e9;
/** A source of which so many inputs were answered need not show more because of a loss that others may be to blame for. */
const WELL_PROVEN = 16;
/** No source is to show more, before or after its inputs have taken replicas down. */
const LONGEST_NEWCOMER_PROOF = 64;
const LONGEST_PROOF = 256;
/** After so long without another loss half as much is asked for. */
const NEWCOMER_HALF_LIFE_NS = 30e9;
const HALF_LIFE_NS = 60e9;
/**
 * While others are served, sources that have killed may have the replica that tries them start anew so many times less than it could: each
 * start costs everybody.
 */
const REST_A_START = 3;
/** Beyond so many inputs that were tried, older ones count half. */
const MOST_COUNTED = 128;

/**
 * Which sources' inputs may take a replica down: those are tried apart until enough of them were answered. Each source whose
 * inputs kill must show more than before, and so must those of which nothing is known yet while newcomers kill: who comes as another
 * one each time gains nothing. A source is forgotten with the object that stands for it.
 */
export class KillingSources {
  private readonly records = new WeakMap<object, SourceRecord>();
  /** What is asked of newcomers. */
  private newcomerProof = 0;
  private newcomerKilledNs = 0;
  private newcomersSuspectedNs = -Infinity;
  /** When a source that has killed may be tried again. */
  killersDueNs = -Infinity;
  private isByKiller = false;
  private lostNs = 0;
  private areOthersServed = false;
  private readonly tried = { bad: 1, all: 4 };

  /** Whether its inputs may travel with others'. */
  isTrusted(source: object, nowNs: number): boolean {
    const record = this.records.get(source);
    const own = record === undefined ? 0 : fade(record.needed, nowNs - record.suspectedNs, HALF_LIFE_NS);
    const needed = Math.max(own, this.asked(nowNs));
    return needed < 1 || (record?.good ?? 0) >= needed;
  }

  /** Whether one of its inputs has taken a replica down by itself, not long ago. */
  hasKilled(source: object, nowNs: number): boolean {
    const record = this.records.get(source);
    if (record === undefined || !record.hasKilled) return false;
    return fade(record.needed, nowNs - record.suspectedNs, HALF_LIFE_NS) >= 1;
  }

  /** How many inputs of it were answered since it was last suspected. */
  shown(source: object): number {
    return this.records.get(source)?.good ?? 0;
  }

  /** A batch was answered that nobody feared. */
  onOthersAnswered(): void {
    this.areOthersServed = true;
  }

  /** The replica that tries suspects is up again. */
  onTrialsResumed(nowNs: number): void {
    const restNs = this.isByKiller && this.areOthersServed ? REST_A_START * (nowNs - this.lostNs) : 0;
    this.killersDueNs = nowNs + restNs;
    this.isByKiller = false;
    this.areOthersServed = false;
  }

  /** How many inputs that may kill are best tried together. */
  get mostTogether(): number {
    return Math.max(1, fittingGroup(this.tried.bad, this.tried.all) >> 1);
  }

  /** @param wasTried it travelled apart. */
  onAnswered(source: object, wasTried: boolean): void {
    this.of(source).good += 1;
    if (wasTried) this.count(false);
  }

  /** A replica was lost with an input of it, which may have had nothing to do with that. */
  onLost(source: object, nowNs: number): void {
    const record = this.of(source);
    if (record.good >= WELL_PROVEN) {
      record.good >>= 1;
      return;
    }
    if (record.good < FIRST_PROOF) this.newcomersSuspectedNs = nowNs;
    record.good = 0;
    record.needed = Math.max(record.needed, FIRST_PROOF);
    record.suspectedNs = nowNs;
  }

  /** An input of it has taken a replica down all by itself. */
  onKilled(source: object, nowNs: number): void {
    this.count(true);
    this.lostNs = nowNs;
    const record = this.of(source);
    // What it had shown was not enough.
    if (!record.hasKilled && record.good < LONGEST_NEWCOMER_PROOF) {
      const shown = 2 * (record.good + 1);
      this.newcomerProof = Math.min(LONGEST_NEWCOMER_PROOF, Math.max(this.asked(nowNs), shown));
      this.newcomerKilledNs = nowNs;
    }
    this.isByKiller = record.hasKilled;
    record.needed = Math.min(LONGEST_PROOF, 2 * Math.max(FIRST_PROOF, record.needed, record.good));
    record.good = 0;
    record.suspectedNs = nowNs;
    record.hasKilled = true;
  }

  private asked(nowNs: number): number {
    const proof = fade(this.newcomerProof, nowNs - this.newcomerKilledNs, NEWCOMER_HALF_LIFE_NS);
    return nowNs - this.newcomersSuspectedNs < SUSPICION_NS ? Math.max(proof, FIRST_PROOF) : proof;
  }

  private of(source: object): SourceRecord {
    let record = this.records.get(source);
    if (record === undefined) {
      record = { good: 0, needed: 0, suspectedNs: 0, hasKilled: false };
      this.records.set(source, record);
    }
    return record;
  }

  private count(isBad: boolean): void {
    const { tried } = this;
    tried.all += 1;
    if (isBad) tried.bad += 1;
    if (tried.all <= MOST_COUNTED) return;
    tried.all /= 2;
    tried.bad = Math.max(1, tried.bad / 2);
  }
}

function fade(count: number, ageNs: number, halfLifeNs: number): number {
  return count === 0 ? 0 : count * 2 ** -Math.floor(ageNs / halfLifeNs);
}
