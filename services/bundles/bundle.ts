import { z } from 'zod';
import type { NamedFile } from '../../containers/content/index.js';
import { BundleError } from './bundleError.js';

export const MOST_BUNDLE_BYTES = 512 * 1024 * 1024;
export const PIECE_BYTES = 1024 * 1024;
export const MOST_FILES = 10_001;

export interface BundleFile {
  /** Its path from the folder of the first file: may lead out of it by `..`, as a module's imports do. */
  readonly name: string;
  readonly size: number;
}

/** The files of a model version, in the order of their hash; the first names the others. */
export interface BundleIndex {
  readonly files: readonly BundleFile[];
}

export interface StoredBundle {
  readonly index: BundleIndex;
  /** The bytes of all files, one behind the other; a piece is overwritten by the next. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Where bundles are kept by the hashes of their contents. Every method rejects with a BundleError. */
export interface BundleStore {
  has(hash: string): Promise<boolean>;
  /** @param pieces the bytes of all files, one behind the other. Nothing is kept unless all of them came. */
  put(hash: string, index: BundleIndex, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  /** @returns undefined when it is not there */
  get(hash: string): Promise<StoredBundle | undefined>;
  /** What is kept, and how long ago it came. */
  list(): Promise<readonly { readonly hash: string; readonly ageMs: number }[]>;
  remove(hash: string): Promise<void>;
}

const HASH = /^[0-9a-f]{64}$/;

/** @throws BundleError: a hash becomes a name of a file or a key */
export function checkHash(hash: string): string {
  if (HASH.test(hash)) return hash;
  throw new BundleError('unusable', `'${hash.slice(0, 80)}' is no hash of a content: 64 hexadecimal digits`);
}

const INDEX = z.strictObject({
  files: z
    .array(z.strictObject({ name: z.string().min(1).max(4096), size: z.int().min(0).max(MOST_BUNDLE_BYTES) }))
    .min(1)
    .max(MOST_FILES),
});

/** @throws BundleError `damaged` */
export function bundleIndex(text: string): BundleIndex {
  try {
    return INDEX.parse(JSON.parse(text));
  } catch (cause) {
    throw new BundleError('damaged', 'its list of files is no such list', { cause });
  }
}

export function bundleBytes({ files }: BundleIndex): number {
  return files.reduce((total, { size }) => total + size, 0);
}

/** @throws BundleError `tooLarge` */
export function checkSize(what: string, index: BundleIndex): void {
  const bytes = bundleBytes(index);
  if (bytes <= MOST_BUNDLE_BYTES && index.files.length <= MOST_FILES) return;
  throw new BundleError(
    'tooLarge',
    `${what}: ${index.files.length} files of ${Math.ceil(bytes / 2 ** 20)} MiB; a bundle has at most ` +
      `${MOST_FILES} files and ${MOST_BUNDLE_BYTES / 2 ** 20} MiB`,
  );
}

export type BundledFile = NamedFile & BundleFile;
