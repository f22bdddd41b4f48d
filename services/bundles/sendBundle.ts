import { realpathSync, statSync } from 'node:fs';
import { dirname, posix, sep } from 'node:path';
import { filePieces } from '../../containers/content/index.js';
import { sourceContent, sourceFiles, type ContainerSource } from '../../containers/runtime/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { bundleBytes, checkSize, type BundledFile } from './bundle.js';
import { BundleError } from './bundleError.js';
import { uploadLine } from './bundleUpload.js';

/** A model's files, to be sent to a server on another machine. */
export interface OutgoingBundle {
  /** Of its content. */
  readonly hash: string;
  readonly bytes: number;
  /** The files, where they are. */
  readonly paths: readonly string[];
  /** What is sent. @throws BundleError `tooLarge`; `changed`, while it is read, where the files are no longer what was hashed */
  body(): AsyncIterable<Uint8Array>;
}

/**
 * The files of a model, as they are now.
 * @returns undefined for what has no files
 * @throws BundleError `changed`: they cannot be read
 */
export function outgoingBundle(source: ContainerSource): OutgoingBundle | undefined {
  const [files, hash] = readable(() => {
    const found = sourceFiles(source)?.map((file) => ({ ...file, size: statSync(file.path).size }));
    return [found, sourceContent(source)?.hash] as const;
  });
  if (files === undefined || hash === undefined) return undefined;
  const [{ path }] = files;
  return {
    hash,
    bytes: bundleBytes({ files }),
    paths: files.map((file) => file.path),
    body: () => {
      checkSize(path, { files });
      return bodyOf(files, source.kind === 'exec' ? 'folder' : 'first');
    },
  };
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new BundleError('changed', reasonOf(error), { cause: error });
  }
}

async function* bodyOf(files: readonly BundledFile[], from: 'first' | 'folder'): AsyncGenerator<Uint8Array> {
  yield Buffer.from(uploadLine(from === 'folder' ? files : belowOne(files), from));
  for (const { path, size } of files) {
    const pieces = filePieces(path, size);
    for (;;) {
      const next = readable(() => pieces.next());
      if (next.done === true) break;
      // A copy: whoever sends may hold it when the next is read.
      yield Uint8Array.prototype.slice.call(next.value);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Named from the folder that has all of them: a module imports from folders above its own. */
function belowOne(files: readonly BundledFile[]): readonly BundledFile[] {
  const above = Math.max(...files.map(({ name }) => name.split('/').filter((part) => part === '..').length));
  if (above === 0) return files;
  // As they are called: no name leads out of a folder and comes back to it.
  const folders = dirname(realpathSync(files[0].path)).split(sep);
  const home = folders.slice(-above).join('/');
  return files.map((file) => ({ ...file, name: posix.join(home, file.name) }));
}
