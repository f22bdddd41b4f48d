import { storeKey, storeKeyParts, type Store } from '../store/index.js';
import { pastKey } from './stateHistory.js';

/** Contexts of one application whose states are kept; anybody may name new ones. */
export const MOST_KEPT_CONTEXTS = 10_000;

/** A context that was not learned from for so long is forgotten. */
export const CONTEXT_AGE_DAYS = 30;

/** Of those kept, what goes at once when there is no room: seldom enough to be cheap. */
const SHARE_TO_DROP = 0.1;

const DAY_MS = 86_400_000;

/** Values are days since 1970 and how often the context was learned from. */
interface Use {
  readonly day: number;
  readonly count: number;
}

/**
 * Which contexts of an application are kept in the store, how often each was learned from, and when last. Over the limit go
 * those that were learned from least, the longest ago among equals: a stranger who invents contexts drives out other
 * inventions, and none that clients come back to.
 */
export class KeptContexts {
  private readonly uses = new Map<string, Use>();
  /** The day on which the old ones were last dropped. */
  private agedOn = 0;

  constructor(
    private readonly store: Store,
    private readonly application: string,
    private readonly nowMs: () => number,
    private readonly most = MOST_KEPT_CONTEXTS,
  ) {
    const day = this.today();
    for (const { key } of store.list(`${storeKey('selection', application, 'context')}/`)) {
      const context = storeKeyParts(key)[3];
      const use = store.get(this.useKey(context))?.value as unknown as Use | undefined;
      // Those of an older program count from now on.
      this.uses.set(context, use ?? { day, count: 1 });
    }
    this.dropOld();
  }

  /** It was learned from. */
  note(context: string): void {
    const day = this.today();
    if (day !== this.agedOn) this.dropOld();
    const before = this.uses.get(context);
    if (before === undefined) this.makeRoom();
    const use = { day, count: (before?.count ?? 0) + 1 };
    this.uses.set(context, use);
    // Each power of two of a count is exact enough to tell the often used from the inventions of a stranger.
    const isWorthIt = before?.day !== day || (use.count & (use.count - 1)) === 0;
    if (isWorthIt) this.store.set(this.useKey(context), { ...use }, 'any');
  }

  /** Of the context and everything that is known of it. */
  private drop(context: string): void {
    this.uses.delete(context);
    this.store.set(this.useKey(context), undefined, 'any');
    this.store.set(storeKey('selection', this.application, 'context', context), undefined, 'any');
    const past = pastKey(this.application, context);
    if (this.store.get(past) !== undefined) this.store.set(past, undefined, 'any');
  }

  private makeRoom(): void {
    if (this.uses.size < this.most) return;
    this.dropOld();
    if (this.uses.size < this.most) return;
    const least = [...this.uses].sort(([, a], [, b]) => a.count - b.count || a.day - b.day);
    for (const [context] of least.slice(0, Math.max(1, this.most * SHARE_TO_DROP))) this.drop(context);
  }

  private dropOld(): void {
    this.agedOn = this.today();
    const oldest = this.agedOn - CONTEXT_AGE_DAYS;
    for (const [context, { day }] of [...this.uses]) if (day < oldest) this.drop(context);
  }

  private today(): number {
    return Math.floor(this.nowMs() / DAY_MS);
  }

  private useKey(context: string): string {
    return storeKey('selection', this.application, 'used', context);
  }
}
