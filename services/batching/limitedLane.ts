import { mayTravel, type Evaluation } from './evaluation.js';

/** Inputs of bad sources, at one replica: sources take turns, each first come first served. */
export class LimitedLane {
  /** The source whose turn it is stands first. */
  private readonly bySource = new Map<object, Evaluation[]>();
  private waiting = 0;

  get size(): number {
    return this.waiting;
  }

  sizeOf(source: object): number {
    return this.bySource.get(source)?.length ?? 0;
  }

  push(source: object, evaluation: Evaluation): void {
    const own = this.bySource.get(source);
    if (own === undefined) this.bySource.set(source, [evaluation]);
    else own.push(evaluation);
    this.waiting += 1;
  }

  /** The next that may travel together, of those that still wait. */
  take(most: number): Evaluation[] {
    const group: Evaluation[] = [];
    let room = most;
    for (const [source, own] of this.bySource) {
      if (group.length >= room) break;
      const [evaluation] = own;
      if (evaluation.state === 'queued') {
        room = Math.min(room, evaluation.mostTogether);
        // As many as the most suspected of them may be.
        if (group.length > 0 && (group.length >= room || !mayTravel(group[0], evaluation))) break;
        group.push(evaluation);
      }
      own.shift();
      this.waiting -= 1;
      this.bySource.delete(source);
      if (own.length > 0) this.bySource.set(source, own);
    }
    return group;
  }

  clear(): Evaluation[] {
    const all = [...this.bySource.values()].flat();
    this.bySource.clear();
    this.waiting = 0;
    return all.filter(({ state }) => state === 'queued');
  }
}
