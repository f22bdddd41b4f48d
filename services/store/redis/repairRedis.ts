import { randomBytes } from 'node:crypto';
import { RedisScript, addressText } from '../../redis/index.js';
import { folderOf, isCold } from '../coldKeys.js';
import { StoreError } from '../storeError.js';
import type { Kept } from './kept.js';
import type { StoreConnections } from './storeConnections.js';
import type { StoreKeys } from './storeKeys.js';
import { REDIS_SCHEMA_VERSION } from './writerSession.js';

const REPAIR = new RedisScript('services/store/redis/scripts/repair.lua');
const SLICE = 1000;
/** What is gathered and not finished goes after so long. */
const GATHERED_S = 600;

export interface Truth {
  readonly epoch: string;
  readonly seq: number;
  readonly entries: ReadonlyMap<string, Kept>;
}

/**
 * Writes all of a state to a key beside the present one, and then puts it in its place under a new epoch.
 * @returns the epoch
 * @throws StoreError `unusable` where somebody else has repaired meanwhile
 */
export async function repairRedis(
  { commands, address }: Pick<StoreConnections, 'commands' | 'address'>,
  keys: StoreKeys,
  { epoch, seq, entries }: Truth,
): Promise<string> {
  const id = randomBytes(9).toString('base64url');
  const [epochThere, seqThere] = await commands.hmget(keys.meta, 'epoch', 'seq');
  const gathered = keys.repair(id);
  let slice: string[] = [];
  const put = async () => {
    if (slice.length === 0) return;
    await commands.hset(gathered, ...slice);
    await commands.expire(gathered, GATHERED_S);
    slice = [];
  };
  // What is cold has no other truth than what Redis still has, and what is known of it.
  const cold = [...entries].filter(([key]) => isCold(key));
  for (let from = 0; from < cold.length; from += SLICE) {
    const some = cold.slice(from, from + SLICE);
    await Promise.all(
      some.map(([key, { entry, text }]) =>
        commands.hset(keys.cold(folderOf(key)), key, `${entry.version} ${text}`),
      ),
    );
  }
  const warm = [...entries].filter(([key]) => !isCold(key));
  for (const [key, { entry, text }] of warm) {
    slice.push(key, `${entry.version} ${text}`);
    if (slice.length >= 2 * SLICE) await put();
  }
  await put();
  const next = `${Math.max(numberOf(epoch), numberOf(epochThere ?? '')) + 1}-${id}`;
  const first = Math.max(seq, Number(seqThere ?? 0)) + 1;
  const names = [keys.meta, keys.state, keys.changes(epochThere ?? ''), keys.boots, gathered];
  const answer = await REPAIR.run(commands, names, [
    epochThere ?? '',
    next,
    first,
    REDIS_SCHEMA_VERSION,
    warm.length,
  ]);
  if (Array.isArray(answer) && answer[0] === 'ok') return next;
  throw new StoreError(
    'unusable',
    `the store at ${addressText(address)} is not repaired: somebody else has changed it meanwhile (${String(answer)})`,
  );
}

/** Epochs are 'number-id', and a repair begins the next number. */
function numberOf(epoch: string): number {
  return Number(/^\d+/.exec(epoch)?.[0] ?? 0);
}
