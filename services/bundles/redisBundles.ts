import { randomBytes } from 'node:crypto';
import { reasonOf } from '../../simulator/text/index.js';
import { RedisScript, type RedisConnection } from '../redis/index.js';
import {
  bundleBytes,
  bundleIndex,
  checkHash,
  PIECE_BYTES,
  type BundleIndex,
  type BundleStore,
  type StoredBundle,
} from './bundle.js';
import { BundleError } from './bundleError.js';

/** Pieces of a bundle that never became whole are gone after that. */
const UNFINISHED_SECONDS = 3600;
/** Keys of the script that come before the pieces. */
const OTHER_KEYS = 2;

/** Bundles in Redis: a list of files, and their bytes in pieces of 1 MiB. */
export class RedisBundles implements BundleStore {
  private readonly finish = new RedisScript('services/bundles/scripts/finishBundle.lua');
  private readonly find = new RedisScript('services/bundles/scripts/findBundle.lua');
  private readonly asked: string;

  /** @param prefix of every key: `keyPrefix` */
  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
  ) {
    this.asked = `${prefix}:bundles`;
  }

  async has(hash: string): Promise<boolean> {
    return (await this.told(this.redis.exists(this.listKey(hash)))) === 1;
  }

  async put(hash: string, index: BundleIndex, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    // Pieces of an upload of its own: one that came to nothing, or another at the same time, has nothing to do with them.
    const upload = randomBytes(9).toString('base64url');
    const keys = [this.listKey(hash), this.asked];
    for await (const piece of wholePieces(pieces)) {
      const key = this.pieceKey(hash, upload, keys.length - OTHER_KEYS);
      keys.push(key);
      await this.told(this.redis.set(key, piece, 'EX', UNFINISHED_SECONDS));
    }
    const answer = await this.told(
      this.finish.run(this.redis, keys, [hash, `${upload} ${JSON.stringify(index)}`]),
    );
    if (answer === 1) return;
    throw new BundleError('unusable', 'Redis lost a piece of the bundle while the others came: try again');
  }

  async get(hash: string): Promise<StoredBundle | undefined> {
    const list = await this.told(this.find.run(this.redis, [this.listKey(hash), this.asked], [hash]));
    if (typeof list !== 'string') return undefined;
    const { index, pieceKeys } = this.parts(hash, list);
    return { index, pieces: this.pieces(pieceKeys) };
  }

  async list(): Promise<readonly { readonly hash: string; readonly ageMs: number }[]> {
    const [seconds, micros] = await this.told(this.redis.time());
    const nowMs = Number(seconds) * 1000 + Number(micros) / 1000;
    const words = await this.told<string[]>(this.redis.zrange(this.asked, '0', '-1', 'WITHSCORES'));
    return Array.from({ length: words.length / 2 }, (_, at) => ({
      hash: words[2 * at],
      ageMs: nowMs - Number(words[2 * at + 1]),
    }));
  }

  async remove(hash: string): Promise<void> {
    const list = await this.told(this.redis.get(this.listKey(hash)));
    // The list first: what has one is whole.
    await this.told(this.redis.del(this.listKey(hash)));
    const keys = list === null ? [] : this.parts(hash, list).pieceKeys;
    for (const key of keys) await this.told(this.redis.del(key));
    await this.told(this.redis.zrem(this.asked, hash));
  }

  private async *pieces(keys: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const [at, key] of keys.entries()) {
      const piece = await this.told(this.redis.getBuffer(key));
      if (piece === null)
        throw new BundleError('damaged', `piece ${at} of ${keys.length} is missing in Redis`);
      yield piece;
    }
  }

  /** @param list as it is kept: the upload, and its files */
  private parts(
    hash: string,
    list: string,
  ): { readonly index: BundleIndex; readonly pieceKeys: readonly string[] } {
    const space = list.indexOf(' ');
    const index = bundleIndex(list.slice(space + 1));
    const count = Math.ceil(bundleBytes(index) / PIECE_BYTES);
    const upload = list.slice(0, space);
    return { index, pieceKeys: Array.from({ length: count }, (_, at) => this.pieceKey(hash, upload, at)) };
  }

  private listKey(hash: string): string {
    return `${this.prefix}:bundle:${checkHash(hash)}`;
  }

  private pieceKey(hash: string, upload: string, at: number): string {
    return `${this.listKey(hash)}:${upload}:${at}`;
  }

  private async told<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const reason = reasonOf(error);
      const fix = reason.startsWith('OOM')
        ? ': raise its maxmemory, or keep bundles in a shared folder (--bundle-dir)'
        : '';
      throw new BundleError('unusable', `bundles in Redis: ${reason}${fix}`, { cause: error });
    }
  }
}

/** The same bytes in pieces of 1 MiB, but for the last. */
async function* wholePieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held = Buffer.allocUnsafe(PIECE_BYTES);
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const taken = Math.min(piece.length - at, PIECE_BYTES - filled);
      held.set(piece.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
      if (filled < PIECE_BYTES) continue;
      yield held;
      held = Buffer.allocUnsafe(PIECE_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield held.subarray(0, filled);
}
