import type { Json } from '../../../selection/index.js';
import type { Versioned } from '../store.js';

/** An entry with its value's text, which is what Redis holds. */
export interface Kept {
  readonly entry: Versioned;
  readonly text: string;
}

/** What a change leaves: `kept` undefined where it deletes. */
export interface Change {
  readonly version: number;
  readonly kept: Kept | undefined;
}

/** A change in the order of all. */
export interface NumberedChange {
  readonly seq: number;
  /** Who made it: 'writer:number of the write'. */
  readonly tip: string;
  /** Who made the one before; '' where it is the first of its epoch. */
  readonly before: string;
  readonly key: string;
  readonly change: Change;
}

/** Of 'version json', or 'version' alone of a deletion. */
export function changeOf(text: string): Change {
  const space = text.indexOf(' ');
  if (space === -1) return { version: Number(text), kept: undefined };
  const version = Number(text.slice(0, space));
  const json = text.slice(space + 1);
  return { version, kept: { entry: { value: JSON.parse(json) as Json, version }, text: json } };
}

export function isSameKept(a: Kept | undefined, b: Kept | undefined): boolean {
  return a?.entry.version === b?.entry.version && a?.text === b?.text;
}
