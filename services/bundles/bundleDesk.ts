import { randomBytes } from 'node:crypto';
import { readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ContainerChannel } from '../../containers/protocol/index.js';
import type { ContainerStart } from '../../containers/runtime/index.js';
import { makeDirectory } from '../../simulator/files/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { ServiceError } from '../errors/index.js';
import type { ModelRecord } from '../registry/index.js';
import { bundleBytes, checkHash, type BundleStore } from './bundle.js';
import { BundleCache, type HeldBundle } from './bundleCache.js';
import { BundledStarter } from './bundledStarter.js';
import { BundleError } from './bundleError.js';
import { readUpload } from './bundleUpload.js';
import { collectBundles } from './collectBundles.js';
import { FolderBundles } from './folderBundles.js';
import { keepBundle, told } from './keepBundle.js';

type Start = (request: ContainerStart) => ContainerChannel;
type Complain = (message: string, details: Readonly<Record<string, unknown>>) => void;

/** Of a data directory, where uploaded files are kept. */
export const UPLOADS_FOLDER = 'uploads';
const UNPACKED = 'unpacked';

const COLLECT_EVERY_MS = 600_000;
/** Uploads under way. */
const MOST_UPLOADS = 16;
/** What an upload leaves free: the registry is on the same disk. */
const LEFT_FREE_BYTES = 64 * 1024 * 1024;

export interface BundleDeskOptions {
  /** The server's; undefined: what was uploaded goes with the server. */
  readonly dataDirectory: string | undefined;
  /** Where all servers that use the same registry find files; this server's own folder unless given. */
  readonly shared?: BundleStore | undefined;
  /** Whether somebody else removes there what no version names. */
  readonly isCollected?: boolean;
  readonly models: () => readonly ModelRecord[];
  readonly complain: Complain;
}

/** Takes files of models from clients that have them on other machines, and has them where models are registered and started. */
export class BundleDesk {
  readonly store: BundleStore;
  /** The same, where it is this server's own. */
  private readonly own: FolderBundles | undefined;
  private opened: BundleCache | undefined;
  private readonly folder: string;
  private collecting: NodeJS.Timeout | undefined;
  private uploads = 0;

  constructor(private readonly options: BundleDeskOptions) {
    const { dataDirectory, shared } = options;
    this.folder =
      dataDirectory === undefined
        ? join(tmpdir(), `windjammer-uploads-${randomBytes(9).toString('hex')}`)
        : resolve(dataDirectory, UPLOADS_FOLDER);
    this.own = shared === undefined ? new FolderBundles(this.folder, 'later') : undefined;
    this.store = shared ?? (this.own as BundleStore);
  }

  /** Removes what an earlier server has left that died over it. Before anything is taken. */
  async clean(): Promise<void> {
    if (this.own === undefined || this.options.dataDirectory === undefined) return;
    for (const folder of [this.folder, join(this.folder, UNPACKED)]) {
      const names = await readdir(folder).catch(() => []);
      for (const name of names.filter((one) => one.startsWith('.new-')))
        await rm(join(folder, name), { recursive: true, force: true });
    }
  }

  /** Removes what no version names, now and then. */
  start(): void {
    if (this.options.isCollected === true) return;
    void this.collect();
    this.collecting = setInterval(() => void this.collect(), COLLECT_EVERY_MS);
    this.collecting.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.collecting);
    if (this.options.dataDirectory === undefined) await rm(this.folder, { recursive: true, force: true });
  }

  /** @throws ServiceError (as a rejection) */
  has(hash: string): Promise<boolean> {
    return told(() => this.store.has(checkHash(hash)));
  }

  /**
   * Takes what a client sends, unless it is there.
   * @param announced bytes of the body, where the client says
   * @throws ServiceError (as a rejection) `invalid_bundle`, `body_too_large`, `storage_full`, `too_many_uploads`, `store_failed`, and
   * whatever the body throws
   */
  async receive(
    hash: string,
    body: AsyncIterable<Uint8Array>,
    announced?: number,
  ): Promise<{ readonly files: number; readonly bytes: number }> {
    if (this.uploads >= MOST_UPLOADS) {
      const message = `${MOST_UPLOADS} bundles are coming already, as many as the server takes at a time`;
      throw new ServiceError('too_many_uploads', message);
    }
    this.uploads += 1;
    try {
      return await told(async () => {
        checkHash(hash);
        await this.requireRoom(announced ?? 0);
        const { index, pieces } = await readUpload(hash, body).catch((error: unknown) => {
          if (!(error instanceof BundleError) || error.code !== 'tooLarge') throw error;
          throw new ServiceError('body_too_large', error.message, undefined, { cause: error });
        });
        await this.requireRoom(bundleBytes(index));
        await this.store.put(hash, index, pieces);
        return { files: index.files.length, bytes: bundleBytes(index) };
      });
    } finally {
      this.uploads -= 1;
    }
  }

  /** The files of a bundle, in a folder of this server. @throws ServiceError (as a rejection) `unknown_bundle`, `store_failed` */
  hold(hash: string): Promise<HeldBundle> {
    return told(() => this.cache().hold(hash));
  }

  /** Keeps the files of a version that is about to be registered from a bundle. @throws ServiceError (as a rejection) */
  keep(model: ModelRecord): Promise<void> {
    return keepBundle(this.store, model);
  }

  /** @param plain starts containers from their paths @returns the same, but from uploaded files where a version has them */
  starting(plain: Start): Start {
    let starter: BundledStarter | undefined;
    return (request) => {
      const { contentHash } = request;
      const mayBeKept = contentHash !== undefined && this.own?.isThere(contentHash) !== false;
      if (!mayBeKept) return plain(request);
      starter ??= new BundledStarter(this.cache(), plain, this.options.complain);
      return starter.start(request);
    };
  }

  private cache(): BundleCache {
    return (this.opened ??= new BundleCache({ store: this.store, folder: join(this.folder, UNPACKED) }));
  }

  private async requireRoom(bytes: number): Promise<void> {
    if (this.own === undefined) return;
    const { folder } = this;
    makeDirectory(folder);
    const { bavail, bsize } = await statfs(folder);
    // Twice: as it is kept, and unpacked.
    if (bavail * bsize >= 2 * bytes + LEFT_FREE_BYTES) return;
    const free = Math.floor((bavail * bsize) / 2 ** 20);
    const needed = Math.ceil((2 * bytes + LEFT_FREE_BYTES) / 2 ** 20);
    throw new BundleError('full', `${folder}: ${free} MiB are free, and the bundle needs ${needed} MiB`);
  }

  private async collect(): Promise<void> {
    const named = new Set(this.options.models().flatMap(({ contentHash }) => contentHash ?? []));
    try {
      await collectBundles(this.store, (hash) => named.has(hash));
    } catch (error) {
      this.options.complain('files that no version has could not be removed', { reason: reasonOf(error) });
    }
  }
}
