import { join } from 'node:path';
import type { ContainerSource } from '../../containers/runtime/index.js';
import type { HeldBundle } from './bundleCache.js';

/** What the path of a container of this kind is in a bundle: its folder, or the file that names the others. */
export function bundlePath(
  kind: Exclude<ContainerSource['kind'], 'constant'>,
  { folder, entry }: Pick<HeldBundle, 'folder' | 'entry'>,
): string {
  return kind === 'kernelModel' || kind === 'exec' ? folder : join(folder, entry);
}
