import type { Json } from '../../selection/index.js';

/**
 * How a learned state is kept: as it is, and one that is pinned in an object around it. In one value, so that whoever
 * writes what was learned meanwhile finds by compare-and-set that learning has stopped.
 */
export function kept(state: Json, isPinned: boolean): Json {
  return isPinned ? { pinned: state } : state;
}

export function opened(value: Json): { readonly state: Json; readonly isPinned: boolean } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const [name, ...others] = Object.keys(value);
    if (name === 'pinned' && others.length === 0) {
      return { state: (value as { readonly pinned: Json }).pinned, isPinned: true };
    }
  }
  return { state: value, isPinned: false };
}
