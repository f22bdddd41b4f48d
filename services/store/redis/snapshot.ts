import type { RedisConnection } from '../../redis/index.js';
import { changeOf, type Kept, type NumberedChange } from './kept.js';
import type { Snapshot } from './optimisticImage.js';
import type { StoreKeys } from './storeKeys.js';

const SLICE = 1000;

/** The epoch in Redis is not the one that was expected. */
export class EpochError extends Error {
  override readonly name = 'EpochError';
}

/**
 * Reads everything, in slices, while others write: what they change meanwhile is taken from the stream of changes.
 * @throws EpochError
 */
export async function readSnapshot(
  redis: RedisConnection,
  keys: StoreKeys,
  epoch: string,
): Promise<Snapshot> {
  for (;;) {
    const from = await placeOf(redis, keys, epoch);
    const entries = await readEntries(redis, keys.state);
    const to = await placeOf(redis, keys, epoch);
    const changes = await readChanges(redis, keys.changes(epoch), from.seq, to.seq);
    if (changes === undefined) continue;
    for (const { key, change } of changes) {
      if (change.kept === undefined) entries.delete(key);
      else entries.set(key, change.kept);
    }
    return { ...to, entries };
  }
}

async function placeOf(
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
