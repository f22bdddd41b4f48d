import type { Evaluation } from './evaluation.js';

/** Evaluations that wait at one replica, by the source that each came from: first come first served of each. */
export abstract class SourceLane {
  /** Whose turn is sooner stands first. */
  protected readonly bySource = new Map<object, Evaluation[]>();
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

  /** Takes the first of a source out. */
  protected shift(own: Evaluation[]): void {
    own.shift();
    this.waiting -= 1;
  }

  /** Of equals each has its turn. @param own what is left of the source's */
  protected putLast(source: object, own: Evaluation[]): void {
    this.bySource.delete(source);
    if (own.length > 0) this.bySource.set(source, own);
  }

  clear(): Evaluation[] {
    const all = [...this.bySource.values()].flat();
    this.bySource.clear();
    this.waiting = 0;
    return all.filter(({ state }) => state === 'queued');
  }
}
