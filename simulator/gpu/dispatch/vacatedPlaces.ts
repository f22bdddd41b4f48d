import type { BlockFootprint } from '../occupancy/index.js';

/** Room for `perSm` blocks on each of some SMs. */
export interface Places {
  readonly sms: readonly number[];
  readonly perSm: number;
}

/**
 * Places of blocks that have just ended, on a device that is full otherwise: the next blocks of the same footprint take them
 * over as they are, and nothing is counted anew. Empty between two moments at which the device settles.
 */
export class VacatedPlaces {
  /** A footprint for which no SM has room beside these places; undefined when none is known of. */
  fullFor: BlockFootprint | undefined;
  /** How many blocks they take. */
  blocks = 0;
  /** Of the blocks that were there. */
  footprint: BlockFootprint | undefined;
  private readonly places: Places[] = [];
  private readonly smAt: Int32Array;

  /** @param rankOf where each SM stands in the order in which SMs are filled */
  constructor(private readonly rankOf: Int32Array) {
    this.smAt = new Int32Array(rankOf.length);
  }

  /** Whether all the room that there is for such blocks is here. */
  holdsAllRoom(block: BlockFootprint): boolean {
    return this.fullFor !== undefined && (this.fullFor === block || isEqual(this.fullFor, block));
  }

  add(sms: readonly number[], perSm: number, block: BlockFootprint): void {
    this.places.push({ sms, perSm });
    this.blocks += sms.length * perSm;
    this.footprint = block;
  }

  /** The first places for so many blocks, in the order in which SMs are filled; undefined where that is not so simple. */
  take(count: number): Places | undefined {
    const { places } = this;
    if (places.length === 0 || count > this.blocks) return undefined;
    const first = places.length === 1 ? places[0] : this.joined();
    if (first === undefined) return undefined;
    if (count === this.blocks) {
      this.empty();
      return first;
    }
    if (first.perSm > 1) return undefined;
    this.empty();
    this.places.push({ sms: first.sms.slice(count), perSm: 1 });
    this.blocks = first.sms.length - count;
    return { sms: first.sms.slice(0, count), perSm: 1 };
  }

  /** One of them, which is to be given back; undefined when there is none. */
  pop(): Places | undefined {
    const last = this.places.pop();
    if (last !== undefined) this.blocks -= last.sms.length * last.perSm;
    return last;
  }

  private empty(): void {
    while (this.places.length > 0) this.places.pop();
    this.blocks = 0;
  }

  /** All of them, in the order in which SMs are filled. */
  private joined(): Places | undefined {
    const { places } = this;
    if (places[0].perSm > 1) return undefined;
    let { sms } = places[0];
    for (let index = 1; index < places.length; index++) {
      if (places[index].perSm > 1) return undefined;
      const merged = this.merged(sms, places[index].sms);
      if (merged === undefined) return this.sorted();
      sms = merged;
    }
    return { sms, perSm: 1 };
  }

  /** Of two lists in that order, both; undefined where one is not, or where an SM is in both. */
  private merged(a: readonly number[], b: readonly number[]): number[] | undefined {
    const { rankOf } = this;
    const sms: number[] = [];
    let inA = 0;
    let inB = 0;
    let lastRank = -1;
    while (inA < a.length || inB < b.length) {
      const rankA = inA < a.length ? rankOf[a[inA]] : Infinity;
      const rankB = inB < b.length ? rankOf[b[inB]] : Infinity;
      const rank = rankA < rankB ? rankA : rankB;
      if (rank <= lastRank) return undefined;
      lastRank = rank;
      sms.push(rankA < rankB ? a[inA++] : b[inB++]);
    }
    return sms;
  }

  private sorted(): Places | undefined {
    const { places, smAt, rankOf } = this;
    smAt.fill(NO_SM);
    for (const { sms, perSm } of places) {
      if (perSm > 1) return undefined;
      for (const sm of sms) smAt[rankOf[sm]] = sm;
    }
    const sms: number[] = [];
    for (let rank = 0; rank < smAt.length; rank++) if (smAt[rank] !== NO_SM) sms.push(smAt[rank]);
    return { sms, perSm: 1 };
  }
}

const NO_SM = -1;

function isEqual(a: BlockFootprint, b: BlockFootprint): boolean {
  return (
    a.threads === b.threads &&
    a.warps === b.warps &&
    a.registers === b.registers &&
    a.sharedBytes === b.sharedBytes
  );
}
