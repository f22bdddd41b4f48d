import { slicePart } from './l2Slices.js';

/** What a block does in loops that compare and swap words of global memory until nobody was faster. */
export class SwapLoops {
  /** Swaps that succeed, by address: one for each lane that enters such a loop. */
  readonly wins = new Map<number, number>();
  wordBytes = 4;
  /** Whether a lane may find that it need not swap any more. */
  mayGiveUp = false;
  /** What passes between a success and its warp's next write to the word, over all successes: the word is a lock, held so long. */
  heldCycles = 0;
  /** When a warp got a word, by both. */
  private readonly owners = new Map<string, number>();
  /** Warps that are in such a loop. */
  private readonly inside = new Set<number>();
  private isEntry = false;
  private readonly lanes = new MostByWarp();
  private readonly turns = new MostByWarp();

  /** A warp executes something else. */
  leave(warp: number): void {
    this.inside.delete(warp);
  }

  /** A warp tries, for the first time or once more. */
  begin(warp: number, wordBytes: number, mayGiveUp = false): void {
    this.mayGiveUp ||= mayGiveUp;
    this.isEntry = !this.inside.has(warp);
    this.inside.add(warp);
    this.wordBytes = wordBytes;
    this.lanes.begin(warp);
    this.turns.begin(warp);
  }

  addLane(address: number): void {
    this.lanes.add(address, 1);
    if (this.isEntry) this.wins.set(address, (this.wins.get(address) ?? 0) + 1);
  }

  /** A warp has a word from now on. */
  take(warp: number, address: number, cycle: number): void {
    this.owners.set(`${warp} ${address}`, cycle);
  }

  /** A warp writes a word that it may have. */
  release(warp: number, address: number, cycle: number): void {
    if (this.owners.size === 0) return;
    const key = `${warp} ${address}`;
    const from = this.owners.get(key);
    if (from === undefined) return;
    this.owners.delete(key);
    this.heldCycles += cycle - from;
  }

  /** Turns of an address' slice that the try takes. */
  addTurns(address: number, turns: number): void {
    this.turns.add(slicePart(address), turns);
  }

  /** Lanes that want a word at the same time, over all words. */
  get lanesAtOnce(): number {
    return this.lanes.sum;
  }

  /** The same in turns of slices. */
  get turnsAtOnce(): number {
    return this.turns.sum;
  }

  get slices(): ReadonlySet<number> {
    return this.turns.places;
  }
}

/** The most that one instruction of each warp asked of each place. */
class MostByWarp {
  readonly places = new Set<number>();
  private readonly most: Map<number, number>[] = [];
  private readonly now = new Map<number, number>();
  private warp = 0;

  begin(warp: number): void {
    this.warp = warp;
    this.now.clear();
  }

  add(place: number, amount: number): void {
    const before = this.now.get(place) ?? 0;
    this.now.set(place, before + amount);
    this.places.add(place);
    const most = (this.most[this.warp] ??= new Map<number, number>());
    most.set(place, Math.max(most.get(place) ?? 0, before + amount));
  }

  get sum(): number {
    let sum = 0;
    for (const of of this.most) for (const amount of of?.values() ?? []) sum += amount;
    return sum;
  }
}
