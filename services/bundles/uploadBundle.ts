import { statSync } from 'node:fs';
import { ContentSum, filePieces } from '../../containers/content/index.js';
import { sourceFiles, type ContainerSource } from '../../containers/runtime/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { checkHash, checkSize, type BundledFile, type BundleStore } from './bundle.js';
import { BundleError } from './bundleError.js';

/**
 * Puts the files of a model version where every node finds them, unless they are there.
 * @param hash of its content, as it is registered
 * @throws BundleError (as a rejection) `tooLarge`; `changed`: the files are no longer what was registered; `unusable`
 */
export async function uploadBundle(store: BundleStore, source: ContainerSource, hash: string): Promise<void> {
  if (await store.has(checkHash(hash))) return;
  const files = filesOf(source);
  if (files === undefined) return;
  const [{ path }] = files;
  const index = { files: files.map(({ name, size }) => ({ name, size })) };
  checkSize(path, index);
  await store.put(hash, index, checkedPieces(files, hash));
}

function filesOf(source: ContainerSource): readonly BundledFile[] | undefined {
  try {
    return sourceFiles(source)?.map((file) => ({ ...file, size: statSync(file.path).size }));
  } catch (error) {
    throw new BundleError('changed', reasonOf(error), { cause: error });
  }
}

/** Refuses at the end what has another hash: then nothing is kept of it. */
async function* checkedPieces(files: readonly BundledFile[], hash: string): AsyncGenerator<Uint8Array> {
  const sum = new ContentSum();
  for (const { name, path, size } of files) {
    sum.file(name, size);
    try {
      for (const piece of filePieces(path, size)) {
        sum.bytes(piece);
        yield piece;
        // Whoever asks for small things meanwhile is not to wait for all of a large file.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      throw error instanceof BundleError
        ? error
        : new BundleError('changed', reasonOf(error), { cause: error });
    }
  }
  if (sum.hash() === hash) return;
  throw new BundleError('changed', `${files[0].path}: the files change while they are read`);
}
