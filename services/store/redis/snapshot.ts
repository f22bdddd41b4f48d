import type { RedisConnection } from '../../redis/index.js';
import { folderOf, isCold } from '../coldKeys.js';
import type { ColdEntry } from '../store.js';
import { changeOf, type Kept, type NumberedChange } from './kept.js';
import type { Snapshot } from './optimisticImage.js';
import type { StoreKeys } from './storeKeys.js';

const SLICE = 1000;

/** The epoch in Redis is not the one that was expected. */
export class EpochError extends Error {
  override readonly name = 'EpochError';
}

/**
 * Reads everything, and of what is cold those keys that are followed, in slices, while others write: what they change meanwhile is taken from the stream of changes.
 * @throws EpochError
 */
export async function readSnapshot(
  redis: RedisConnection,
  keys: StoreKeys,
  epoch: string,
  followed: () => readonly string[],
): Promise<Snapshot> {
  for (;;) {
    const from = await placeOf(redis, keys, epoch);
    const entries = await readEntries(redis, keys.state);
    const cold = new Set(followed());
    for (const [key, kept] of await readCold(redis, keys, [...cold]))
      if (kept !== undefined) entries.set(key, kept);
    const to = await placeOf(redis, keys, epoch);
    const changes = await readChanges(redis, keys.changes(epoch), from.seq, to.seq);
    if (changes === undefined) continue;
    for (const { key, change } of changes) {
      if (isCold(key) && !cold.has(key)) continue;
      if (change.kept === undefined) entries.delete(key);
      else entries.set(key, change.kept);
    }
    return { ...to, entries, followed: cold };
  }
}

/** Entries of cold keys. */
export async function readCold(
  redis: RedisConnection,
  keys: StoreKeys,
  cold: readonly string[],
): Promise<[key: string, kept: Kept | undefined][]> {
  const found: [key: string, kept: Kept | undefined][] = [];
  for (let from = 0; from < cold.length; from += SLICE) {
    const some = cold.slice(from, from + SLICE);
    const texts = await Promise.all(some.map((key) => redis.hget(keys.cold(folderOf(key)), key)));
    for (const [at, text] of texts.entries())
      found.push([some[at], text === null ? undefined : changeOf(text).kept]);
  }
  return found;
}

/** One slice of a folder of cold keys. */
export async function readSlice(
  redis: RedisConnection,
  keys: StoreKeys,
  folder: string,
  cursor: string,
): Promise<{ readonly entries: readonly ColdEntry[]; readonly next: string | undefined }> {
  const [next, found] = await redis.hscan(keys.cold(folder), cursor, 'COUNT', SLICE);
  const entries: ColdEntry[] = [];
  for (let at = 0; at < found.length; at += 2) {
    const [key, text] = [found[at], found[at + 1]];
    const space = text.indexOf(' ');
    entries.push({ key, version: Number(text.slice(0, space)), json: text.slice(space + 1) });
  }
  return { entries, next: next === '0' ? undefined : next };
}

export async function placeOf(
  redis: RedisConnection,
  { meta }: StoreKeys,
  expected: string,
): Promise<{ readonly seq: number; readonly tip: string }> {
  const [epoch, seq, tip] = await redis.hmget(meta, 'epoch', 'seq', 'tip');
  if (epoch !== expected) throw new EpochError(`epoch ${epoch} instead of ${expected}`);
  return { seq: Number(seq), tip: tip ?? '' };
}

async function readEntries(redis: RedisConnection, state: string): Promise<Map<string, Kept>> {
  const entries = new Map<string, Kept>();
  let cursor = '0';
  do {
    const [next, found] = await redis.hscan(state, cursor, 'COUNT', SLICE);
    for (let i = 0; i < found.length; i += 2) {
      const { kept } = changeOf(found[i + 1]);
      if (kept !== undefined) entries.set(found[i], kept);
    }
    cursor = next;
  } while (cursor !== '0');
  return entries;
}

/** Those after `from`, up to `to`; undefined: some are there no more. */
async function readChanges(
  redis: RedisConnection,
  stream: string,
  from: number,
  to: number,
): Promise<NumberedChange[] | undefined> {
  const changes: NumberedChange[] = [];
  for (let next = from + 1; next <= to;) {
    const found = (await redis.xrange(stream, `${next}-0`, `${to}-0`, 'COUNT', SLICE)).map(numberedChange);
    if (found.length === 0 || found[0].seq !== next) return undefined;
    changes.push(...found);
    next += found.length;
  }
  return changes;
}

export function numberedChange([id, fields]: readonly [
  id: string,
  fields: readonly string[],
]): NumberedChange {
  // In the order in which the script writes them.
  const [, tip, , before, , key, , value] = fields;
  return { seq: Number(id.slice(0, id.indexOf('-'))), tip, before, key, change: changeOf(value) };
}
