import type { LearnedDone, Observation } from './learnedState.js';

/**
 * Observations that wait to be written, in order, each mark among them once: of two with the same mark the later one hears
 * what became of the first.
 */
export class PendingObservations {
  private list: Observation[] = [];
  private marked: Map<string, Observation> | undefined;

  get length(): number {
    return this.list.length;
  }

  all(): readonly Observation[] {
    return this.list;
  }

  /** Whether feedback with one of these marks waits already; `done` is called with it. */
  join(marks: readonly string[], done: LearnedDone | undefined): boolean {
    for (const mark of marks) {
      const first = this.marked?.get(mark);
      if (first === undefined) continue;
      const own = first.done;
      first.done = (became, error) => {
        own?.(became, error);
        done?.(became === 'learned' ? 'repeated' : became, error);
      };
      return true;
    }
    return false;
  }

  push(observation: Observation): void {
    this.list.push(observation);
    for (const mark of observation.marks ?? []) (this.marked ??= new Map()).set(mark, observation);
  }

  /** The first so many; they no longer wait. */
  take(count: number): readonly Observation[] {
    const taken = this.list.splice(0, count);
    for (const observation of taken) this.forget(observation);
    return taken;
  }

  /** Those for which it holds no longer wait. */
  takeWhere(condition: (observation: Observation) => boolean): readonly Observation[] {
    const taken: Observation[] = [];
    this.list = this.list.filter((observation) => {
      if (!condition(observation)) return true;
      taken.push(observation);
      this.forget(observation);
      return false;
    });
    return taken;
  }

  private forget({ marks = [] }: Observation): void {
    for (const mark of marks) this.marked?.delete(mark);
  }
}
