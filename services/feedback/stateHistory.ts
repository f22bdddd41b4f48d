import type { Json } from '../../selection/index.js';
import { coldKey, storeKey, type Store, type StoreFault, type Versioned } from '../store/index.js';
import { pastFolder } from './contextFolder.js';

/** Earlier versions of one state that are kept. */
export const MOST_PAST_VERSIONS = 8;

/** Versions that followed one another faster than this are kept as one. */
const SPACING_MS = 1000;

/** An earlier version of a learned state. */
export interface PastVersion {
  readonly version: number;
  /** When a later one took its place; milliseconds since 1970. */
  readonly replacedMs: number;
  readonly state: Json;
}

/** '' is the application's own. */
function pastKey(application: string, context: string): string {
  return context === ''
    ? storeKey('selection', application, 'past')
    : coldKey(pastFolder(application), context);
}

/**
 * Earlier versions of an application's learned states, so that one can be taken back: the newest ones, and of older ones
 * fewer the older they are, so that eight reach back for hours of steady learning.
 */
export class StateHistory {
  /** When a version was last kept, by context. */
  private readonly lastMs = new Map<string, number>();

  constructor(
    private readonly store: Store,
    private readonly application: string,
    private readonly nowMs: () => number,
  ) {}

  /** This version was replaced. @param isWanted kept however soon it follows another */
  note(context: string, { version, value }: Versioned, isWanted: boolean): void {
    const nowMs = this.nowMs();
    const lastMs = this.lastMs.get(context) ?? -Infinity;
    if (!isWanted && nowMs - lastMs < SPACING_MS && nowMs >= lastMs) return;
    this.lastMs.delete(context);
    this.lastMs.set(context, nowMs);
    if (this.lastMs.size > MOST_REMEMBERED) this.lastMs.delete(this.lastMs.keys().next().value ?? '');
    this.whileHeld(context, (fault) => {
      const former = this.versions(context);
      if (fault !== undefined || former.some((past) => past.version === version)) return;
      const versions = thinned([...former, { version, replacedMs: nowMs, state: value }], nowMs);
      this.store.set(pastKey(this.application, context), versions as unknown as Json, 'any');
    });
  }

  /** Calls back while the versions of a context are in memory, at once where they are. */
  whileHeld(context: string, act: (fault: StoreFault | undefined) => void): void {
    if (context === '') {
      act(undefined);
      return;
    }
    const key = pastKey(this.application, context);
    const isThere = this.store.hold(key, (fault) => {
      act(fault);
      if (fault === undefined) this.store.release(key);
    });
    if (!isThere) return;
    act(undefined);
    this.store.release(key);
  }

  /** The oldest first; of a context while they are held. */
  versions(context: string): readonly PastVersion[] {
    return (
      (this.store.get(pastKey(this.application, context))?.value as readonly PastVersion[] | undefined) ?? []
    );
  }
}

/** Contexts of which it is remembered when a version was last kept. */
const MOST_REMEMBERED = 10_000;

/** The newest ones stay whatever their age: it is they that are taken back. */
const NEWEST = 3;
/** Of older ones, one is enough for ages that differ by less than this factor. */
const AGE_FACTOR = 8;

/** Without the version that is missed least: the younger of two of about the same age, or else the oldest. */
function thinned(versions: readonly PastVersion[], nowMs: number): readonly PastVersion[] {
  if (versions.length <= MOST_PAST_VERSIONS) return versions;
  const ageClass = ({ replacedMs }: PastVersion) =>
    Math.floor(Math.log(Math.max(1, nowMs - replacedMs)) / Math.log(AGE_FACTOR));
  for (let at = versions.length - NEWEST - 1; at > 0; at--) {
    if (ageClass(versions[at]) === ageClass(versions[at - 1]))
      return versions.filter((_, other) => other !== at);
  }
  return versions.slice(1);
}
