import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import {
  bundleIndex,
  checkHash,
  PIECE_BYTES,
  type BundleIndex,
  type BundleStore,
  type StoredBundle,
} from './bundle.js';
import { BundleError } from './bundleError.js';

const INDEX_ENDING = '.json';
const BYTES_ENDING = '.bytes';
/** What a process left that died while it wrote. */
const UNFINISHED = '.new-';
const UNFINISHED_AFTER_MS = 3_600_000;
/** What a system says where no room is left. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Bundles in a folder that every frontend and node sees: `HASH.bytes`, and `HASH.json` once they are whole. */
export class FolderBundles implements BundleStore {
  /**
   * @param when the folder is made: at once, or with the first bundle
   * @throws BundleError `unusable`
   */
  constructor(
    private readonly folder: string,
    when: 'now' | 'later' = 'now',
  ) {
    if (when === 'now') this.make();
  }

  /** Without waiting. */
  isThere(hash: string): boolean {
    return existsSync(this.file(hash, INDEX_ENDING));
  }

  has(hash: string): Promise<boolean> {
    return Promise.resolve(this.isThere(hash));
  }

  async put(hash: string, index: BundleIndex, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const own = (ending: string) =>
      join(this.folder, `${UNFINISHED}${randomBytes(6).toString('hex')}${ending}`);
    const [bytesFile, indexFile] = [own(BYTES_ENDING), own(INDEX_ENDING)];
    this.make();
    try {
      await written(bytesFile, pieces);
      await written(indexFile, [Buffer.from(JSON.stringify(index))]);
      // The list comes last: a bundle with a list is whole.
      await rename(bytesFile, this.file(hash, BYTES_ENDING));
      await rename(indexFile, this.file(hash, INDEX_ENDING));
    } catch (error) {
      await Promise.all([rm(bytesFile, { force: true }), rm(indexFile, { force: true })]);
      throw error instanceof BundleError ? error : this.unusable(error);
    }
  }

  async get(hash: string): Promise<StoredBundle | undefined> {
    const file = this.file(hash, INDEX_ENDING);
    let text: string;
    try {
      text = await readFile(file, 'utf8');
      const now = new Date();
      // Whoever collects looks when it was last asked for. A folder that is only read has no such date.
      await utimes(file, now, now).catch(() => undefined);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw this.unusable(error);
    }
    return { index: bundleIndex(text), pieces: this.pieces(this.file(hash, BYTES_ENDING)) };
  }

  async list(): Promise<readonly { readonly hash: string; readonly ageMs: number }[]> {
    try {
      const found: { hash: string; ageMs: number }[] = [];
      for (const name of await readdir(this.folder)) {
        const ageMs =
          Date.now() - ((await stat(join(this.folder, name)).catch(() => undefined))?.mtimeMs ?? Date.now());
        if (name.startsWith(UNFINISHED) && ageMs > UNFINISHED_AFTER_MS) {
          await rm(join(this.folder, name), { force: true });
        } else if (/^[0-9a-f]{64}\.json$/.test(name)) found.push({ hash: name.slice(0, 64), ageMs });
      }
      return found;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw this.unusable(error);
    }
  }

  async remove(hash: string): Promise<void> {
    try {
      await rm(this.file(hash, INDEX_ENDING), { force: true });
      await rm(this.file(hash, BYTES_ENDING), { force: true });
    } catch (error) {
      throw this.unusable(error);
    }
  }

  private async *pieces(file: string): AsyncGenerator<Uint8Array> {
    let handle;
    try {
      handle = await open(file, 'r');
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      for (;;) {
        const { bytesRead } = await handle.read(piece);
        if (bytesRead === 0) return;
        yield piece.subarray(0, bytesRead);
      }
    } catch (error) {
      throw error instanceof BundleError ? error : this.unusable(error);
    } finally {
      await handle?.close();
    }
  }

  private make(): void {
    try {
      makeDirectory(this.folder);
    } catch (error) {
      throw this.unusable(error);
    }
  }

  private file(hash: string, ending: string): string {
    return join(this.folder, checkHash(hash) + ending);
  }

  private unusable(error: unknown): BundleError {
    const { code = '' } = error as NodeJS.ErrnoException;
    return new BundleError(
      FULL.has(code) ? 'full' : 'unusable',
      `the folder of bundles ${this.folder} cannot be used: ${reasonOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

async function written(
  file: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    for await (const piece of pieces) await handle.writeFile(piece);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
