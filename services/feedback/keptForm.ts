import type { Json } from '../../selection/index.js';

/** When a context was used last, in days since 1970, and how often it was learned from. */
export interface Use {
  readonly day: number;
  readonly count: number;
}

/**
 * How a learned state is kept: as it is, and one that is pinned in an object around it. In one value, so that whoever
 * writes what was learned meanwhile finds by compare-and-set that learning has stopped. That of a context is always in an object,
 * behind its use, which is so told from the first characters of millions.
 */
export function kept(state: Json, isPinned: boolean, use: Use | undefined): Json {
  if (use === undefined) return isPinned ? { pinned: state } : state;
  const used = [use.day, use.count];
  return isPinned ? { used, pinned: state } : { used, state };
}

export interface Opened {
  readonly state: Json;
  readonly isPinned: boolean;
  /** Of a context. */
  readonly use: Use | undefined;
}

export function opened(value: Json): Opened {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const record = value as { readonly [name: string]: Json };
    const names = Object.keys(record);
    const form = names.join();
    if (form === 'pinned') return { state: record.pinned, isPinned: true, use: undefined };
    if ((form === 'used,state' || form === 'used,pinned') && Array.isArray(record.used)) {
      const [day, count] = record.used as readonly number[];
      return { state: record[names[1]], isPinned: form === 'used,pinned', use: { day, count } };
    }
  }
  return { state: value, isPinned: false, use: undefined };
}

const USED = /^\{"used":\[(\d+),(\d+)\],"(state|pinned)":/;

/** The same of its JSON; undefined: it is no context's. */
export function useOf(json: string): (Use & { readonly isPinned: boolean }) | undefined {
  const found = USED.exec(json);
  if (found === null) return undefined;
  return { day: Number(found[1]), count: Number(found[2]), isPinned: found[3] === 'pinned' };
}
