import { describe, expect, it } from 'vitest';
import type { CacheEntry } from './cacheEntry.js';
import { EntryTable } from './entryTable.js';

const INPUT = new Uint8Array(4);

function entry(hash: number): CacheEntry<never> {
  return { hash, model: 1, input: INPUT, nextInBucket: undefined } as unknown as CacheEntry<never>;
}

/** Hashes as a keyed hash makes them, negative ones too. */
const hashOf = (at: number) => Math.imul(at + 1, 0x9e3779b1);

describe('EntryTable', () => {
  it('finds all that it holds, and nothing else, while it grows and shrinks', () => {
    const table = new EntryTable<never>();
    const entries = Array.from({ length: 20_000 }, (_, at) => entry(hashOf(at)));
    const isHeld = entries.map(() => false);
    const check = (step: number) => {
      for (let at = 0; at < entries.length; at += step) {
        expect(table.find(1, INPUT, hashOf(at))).toBe(isHeld[at] ? entries[at] : undefined);
      }
    };
    entries.forEach((one, at) => {
      table.add(one);
      isHeld[at] = true;
      if (at % 3 === 0) {
        table.remove(entries[at >> 1]);
        isHeld[at >> 1] = false;
      }
      if (at % 1999 === 0) check(17);
    });
    check(1);
    expect(table.size).toBe(isHeld.filter(Boolean).length);
    entries.forEach((one, at) => {
      if (isHeld[at]) table.remove(one);
      isHeld[at] = false;
      if (at % 3999 === 0) check(17);
    });
    expect(table.size).toBe(0);
    check(1);
  });

  it('links few entries anew for one that is added or removed', () => {
    const table = new EntryTable<never>();
    let links = 0;
    const counted = (hash: number) => {
      let next: CacheEntry<never> | undefined;
      return Object.defineProperty(entry(hash), 'nextInBucket', {
        get: () => next,
        set: (value: CacheEntry<never> | undefined) => {
          links += 1;
          next = value;
        },
      });
    };
    const entries = Array.from({ length: 20_000 }, (_, at) => counted(hashOf(at)));
    let most = 0;
    const change = (one: () => void) => {
      links = 0;
      one();
      most = Math.max(most, links);
    };
    for (const one of entries) change(() => table.add(one));
    for (const one of entries) change(() => table.remove(one));
    expect(most).toBeLessThan(100);
  });
});
