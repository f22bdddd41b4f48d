import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OwnProcessSource } from '../../containers/runtime/index.js';
import { BundleCache } from './bundleCache.js';
import { bundlePath } from './bundlePath.js';
import { readUpload } from './bundleUpload.js';
import type { OutgoingBundle } from './sendBundle.js';

/**
 * Puts the files of a bundle alone down as a server does that they are sent to. Packages of JavaScript are found as from where the
 * module lies: those are the server's to have, as packages of other languages are.
 * @param folder an empty one, the caller's to remove
 * @returns the same model, with the path of the copy
 * @throws BundleError (as a rejection) where they cannot be sent, or there is no room
 */
export async function bundleCopy<S extends OwnProcessSource>(
  source: S,
  bundle: OutgoingBundle,
  folder: string,
): Promise<S> {
  const store = { get: () => readUpload(bundle.hash, bundle.body()) };
  const held = await new BundleCache({ store, folder: join(folder, COPIES) }).hold(bundle.hash);
  const kind = source.kind ?? 'process';
  if (kind === 'process') linkPackages(dirname(bundle.paths[0]), held.folder, folder);
  return { ...source, path: bundlePath(kind, held) };
}

const COPIES = 'files';
const PACKAGES = 'node_modules';

/** Folders of packages, as far above the copy as they are above what was copied. */
function linkPackages(from: string, copy: string, outermost: string): void {
  for (let [real, at] = [from, copy]; at !== outermost; [real, at] = [dirname(real), dirname(at)]) {
    const packages = join(real, PACKAGES);
    if (!existsSync(packages) || existsSync(join(at, PACKAGES))) continue;
    mkdirSync(at, { recursive: true });
    symlinkSync(packages, join(at, PACKAGES));
  }
}
