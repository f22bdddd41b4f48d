import { coldKey, type ColdEntry, type Store } from '../store/index.js';
import { contextOf, eachEntry, pastFolder, stateFolder } from './contextFolder.js';
import { useOf, type Use } from './keptForm.js';

export interface ContextLimits {
  /** Contexts of one application whose states are kept; anybody may name new ones. */
  readonly most: number;
  /** One that was not used for so many days is forgotten. */
  readonly ttlDays: number;
}

export const DEFAULT_CONTEXT_LIMITS: ContextLimits = { most: 1_000_000, ttlDays: 30 };

/** Of those kept, what goes at once when there is no room: seldom enough to be cheap. */
const SHARE_TO_DROP = 0.1;

/** Uses are told apart by powers of two, up to this one. */
const HIGHEST_CLASS = 7;
const DAYS = 1_000_000;

/**
 * How many contexts of an application are kept in the store, and which are to go: those that nobody has used for so long, and over
 * the limit those that were learned from least, the longest ago among equals: a stranger who invents contexts drives out other
 * inventions, and few that clients come back to. It goes through all of them once a day, and when there are too many.
 */
export class KeptContexts {
  private count = 0;
  /** That came while all were gone through. */
  private added = 0;
  private isSweeping = false;
  private sweptOn = 0;
  /** So many there must be before it is worth while to look again. */
  private enough = 0;
  /** Forgotten since the start: for their age, and for want of room. */
  expired = 0;
  crowdedOut = 0;

  constructor(
    private readonly store: Store,
    private readonly application: string,
    private readonly today: () => number,
    private limits: ContextLimits,
  ) {}

  /** Contexts that are kept, as far as they have been counted. */
  get size(): number {
    return this.count;
  }

  setLimits(limits: ContextLimits): void {
    const { most, ttlDays } = this.limits;
    this.limits = limits;
    if (limits.most < most || limits.ttlDays < ttlDays) this.sweep();
  }

  /** A context was learned from; `isNew`: for the first time. */
  note(isNew: boolean): void {
    if (isNew) {
      this.count += 1;
      this.added += 1;
    }
    if (this.count > Math.max(this.limits.most, this.enough) || this.today() !== this.sweptOn) this.sweep();
  }

  /** Somebody else removed one. */
  noteGone(): void {
    this.count = Math.max(0, this.count - 1);
  }

  /** Goes through all of them, in slices. */
  sweep(): void {
    if (this.isSweeping) return;
    this.isSweeping = true;
    const today = this.today();
    this.sweptOn = today;
    this.added = 0;
    const oldest = today - this.limits.ttlDays;
    const ranks = new Map<number, number>();
    let left = 0;
    const count = (entry: ColdEntry): void => {
      const use = useOf(entry.json);
      if (use !== undefined && use.day < oldest && !use.isPinned) {
        this.remove(entry);
        this.expired += 1;
        return;
      }
      left += 1;
      if (use === undefined || use.isPinned) return;
      const rank = rankOf(use);
      ranks.set(rank, (ranks.get(rank) ?? 0) + 1);
    };
    eachEntry(this.store, stateFolder(this.application), count, (fault) => {
      if (fault === undefined) this.count = left + this.added;
      if (fault !== undefined || this.count <= this.limits.most) {
        this.isSweeping = false;
        return;
      }
      this.makeRoom(ranks);
    });
  }

  /** @param ranks how many there are of each */
  private makeRoom(ranks: ReadonlyMap<number, number>): void {
    let need = this.count - Math.floor(this.limits.most * (1 - SHARE_TO_DROP));
    const quota = new Map<number, number>();
    for (const [rank, count] of [...ranks].sort(([one], [other]) => one - other)) {
      const share = Math.min(need, count);
      if (share <= 0) break;
      quota.set(rank, share);
      need -= share;
    }
    const drop = (entry: ColdEntry): void => {
      const use = useOf(entry.json);
      if (use === undefined || use.isPinned) return;
      const rank = rankOf(use);
      const open = quota.get(rank) ?? 0;
      if (open === 0) return;
      quota.set(rank, open - 1);
      this.remove(entry);
      this.count -= 1;
      this.crowdedOut += 1;
    };
    eachEntry(this.store, stateFolder(this.application), drop, () => {
      this.isSweeping = false;
      // Those that are left may all be pinned.
      this.enough = this.count + this.limits.most * SHARE_TO_DROP;
    });
  }

  /** With its earlier versions. One that was used meanwhile stays, since its version is another. */
  private remove({ key, version }: ColdEntry): void {
    this.store.set(key, undefined, version);
    if (version > 1) this.store.set(coldKey(pastFolder(this.application), contextOf(key)), undefined, 'any');
  }
}

/** Those that go first are lowest. */
function rankOf({ day, count }: Use): number {
  return Math.min(HIGHEST_CLASS, Math.floor(Math.log2(Math.max(1, count)))) * DAYS + day;
}
