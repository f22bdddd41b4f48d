import type { Json } from '../../../selection/index.js';
import type { OnceOutcome } from '../store.js';
import type { Kept } from './kept.js';

/** A write from the call until followers have brought it, or it is refused. */
export class PendingWrite {
  /** Ascending in order of the calls. */
  number = 0;
  /** Where it was made: its version, and its place in the order of all changes. */
  made: { readonly version: number; readonly seq: number } | undefined;
  /** Refused or failed. */
  isGone = false;
  /** Its caller knows the outcome. */
  isSettled = false;
  /** JSON; undefined deletes. */
  readonly text: string | undefined;

  constructor(
    readonly key: string,
    private readonly value: Json | undefined,
    readonly expected: number | 'any',
    readonly marks: readonly string[],
    /** A write of the same key whose result its caller has seen: without it this one makes no sense. */
    readonly base: PendingWrite | undefined,
    private readonly done: ((outcome: OnceOutcome) => void) | undefined,
  ) {
    this.text = value === undefined ? undefined : JSON.stringify(value);
  }

  /** What it makes of what is there; undefined: nothing, since it will be refused. */
  over(present: Kept | undefined): { readonly kept: Kept | undefined } | undefined {
    if (this.made === undefined) {
      if (this.base?.isGone === true) return undefined;
      if (this.expected !== 'any' && this.expected !== (present?.entry.version ?? 0)) return undefined;
    }
    return { kept: this.keptAs(this.made?.version ?? (present?.entry.version ?? 0) + 1) };
  }

  /** What is there once it is made. */
  keptAs(version: number): Kept | undefined {
    const { value, text } = this;
    return value === undefined || text === undefined ? undefined : { entry: { value, version }, text };
  }

  settle(outcome: OnceOutcome): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.done?.(outcome);
  }
}
