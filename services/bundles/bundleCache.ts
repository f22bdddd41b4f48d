import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { ContentSum } from '../../containers/content/index.js';
import { makeDirectory } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { bundleBytes, checkHash, checkSize, type BundleStore, type StoredBundle } from './bundle.js';
import { BundleError } from './bundleError.js';

/** The place of a bundle's first file below its folder: so deep that names with `..` stay inside. */
const DEPTH = 16;
const ROOT = join(...new Array<string>(DEPTH).fill('d'));

export interface BundleCacheOptions {
  readonly store: Pick<BundleStore, 'get'>;
  /** Of this process alone. */
  readonly folder: string;
  /** Bytes of bundles that nobody uses; the longest unused goes first. 8 GiB unless given. */
  readonly mostBytes?: number;
}

/** A bundle as files. */
export interface HeldBundle {
  /** The folder of its first file. */
  readonly folder: string;
  /** The name of its first file. */
  readonly entry: string;
  /** It may be removed. */
  release(): void;
}

const MOST_BYTES = 8 * 2 ** 30;
/** Of a file, enough to tell a program. */
const HEAD_BYTES = 4;

/** Bundles that were fetched, each in a folder under its hash, checked before it has that name. */
export class BundleCache {
  private readonly fetching = new Map<string, Promise<void>>();
  private readonly uses = new Map<string, number>();

  constructor(private readonly options: BundleCacheOptions) {
    makeDirectory(options.folder);
  }

  /**
   * Fetches a bundle unless it is there.
   * @throws BundleError (as a rejection) `missing`: no store has it; `damaged`: it is not what its hash says; `unusable`
   */
  async hold(hash: string): Promise<HeldBundle> {
    const folder = join(this.options.folder, checkHash(hash));
    this.uses.set(hash, (this.uses.get(hash) ?? 0) + 1);
    try {
      if (!existsSync(folder)) await this.fetchOnce(hash, folder);
      const now = new Date();
      await utimes(folder, now, now);
      const root = join(folder, ROOT);
      const [entry] = await readdir(join(folder, 'entry'));
      let isHeld = true;
      return {
        folder: root,
        entry: decodeURIComponent(entry),
        release: () => {
          if (isHeld) this.release(hash);
          isHeld = false;
        },
      };
    } catch (error) {
      this.release(hash);
      throw error instanceof BundleError ? error : this.unusable(error);
    }
  }

  private release(hash: string): void {
    const left = (this.uses.get(hash) ?? 1) - 1;
    if (left === 0) this.uses.delete(hash);
    else this.uses.set(hash, left);
  }

  private async fetchOnce(hash: string, folder: string): Promise<void> {
    let work = this.fetching.get(hash);
    if (work === undefined) {
      work = this.fetch(hash, folder).finally(() => this.fetching.delete(hash));
      this.fetching.set(hash, work);
    }
    await work;
  }

  private async fetch(hash: string, folder: string): Promise<void> {
    const bundle = await this.options.store.get(hash);
    if (bundle === undefined) {
      throw new BundleError(
        'missing',
        `no bundle has the content ${hash.slice(0, 12)}: register the version again where its files are`,
      );
    }
    checkSize(`bundle ${hash.slice(0, 12)}`, bundle.index);
    const unfinished = join(this.options.folder, `.new-${randomBytes(6).toString('hex')}`);
    try {
      await unpack(bundle, hash, unfinished);
      await this.makeRoom(bundleBytes(bundle.index));
      await rename(unfinished, folder);
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      // Another process may share the folder, and have been faster.
      if (!existsSync(folder)) throw error;
    }
  }

  private async makeRoom(bytes: number): Promise<void> {
    const { folder, mostBytes = MOST_BYTES } = this.options;
    const kept: { readonly hash: string; readonly bytes: number; readonly usedMs: number }[] = [];
    for (const hash of await readdir(folder)) {
      if (this.uses.has(hash) || hash.startsWith('.')) continue;
      const path = join(folder, hash);
      kept.push({ hash, bytes: await folderBytes(path), usedMs: (await stat(path)).mtimeMs });
    }
    let total = kept.reduce((sum, one) => sum + one.bytes, bytes);
    for (const one of kept.sort((a, b) => a.usedMs - b.usedMs)) {
      if (total <= mostBytes) return;
      if (this.uses.has(one.hash)) continue;
      await rm(join(folder, one.hash), { recursive: true, force: true });
      total -= one.bytes;
    }
  }

  private unusable(error: unknown): BundleError {
    const { folder } = this.options;
    return new BundleError('unusable', `the folder of fetched bundles ${folder}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

/** @throws BundleError `damaged` */
async function unpack({ index, pieces }: StoredBundle, hash: string, folder: string): Promise<void> {
  const root = join(folder, ROOT);
  const sum = new ContentSum();
  const source = pieces[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array();
  const damaged = (reason: string): BundleError =>
    new BundleError('damaged', `bundle ${hash.slice(0, 12)} is not what its hash says: ${reason}`);
  try {
    for (const { name, size } of index.files) {
      const path = normalize(join(root, name));
      if (!path.startsWith(folder + sep) || path === root)
        throw damaged(`a file is called '${name.slice(0, 80)}'`);
      makeDirectory(dirname(path));
      sum.file(name, size);
      const handle = await open(path, 'wx');
      let head = Buffer.alloc(0);
      try {
        for (let left = size; left > 0;) {
          if (rest.length === 0) {
            const next = await source.next();
            if (next.done === true) throw damaged('its bytes end too early');
            rest = next.value;
            continue;
          }
          const part = rest.subarray(0, left);
          sum.bytes(part);
          await handle.writeFile(part);
          if (head.length < HEAD_BYTES) head = Buffer.concat([head, part.subarray(0, HEAD_BYTES)]);
          rest = rest.subarray(part.length);
          left -= part.length;
        }
        if (isProgram(head)) await handle.chmod(0o755);
      } finally {
        await handle.close();
      }
    }
    if (rest.length > 0 || (await source.next()).done !== true)
      throw damaged('it has more bytes than its files');
  } finally {
    await source.return?.();
  }
  if (sum.hash() !== hash) throw damaged('its content has another');
  // As a name, so that nothing that belongs to the bundle can be taken for it.
  makeDirectory(join(folder, 'entry', encodeURIComponent(index.files[0].name)));
}

/** Whether a file is one that the system runs: what may be run is no part of a content, but its first bytes are. */
function isProgram(head: Buffer): boolean {
  return head.toString('latin1', 0, 2) === '#!' || head.toString('latin1', 0, HEAD_BYTES) === '\x7fELF';
}

async function folderBytes(folder: string): Promise<number> {
  let total = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) total += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return total;
}
