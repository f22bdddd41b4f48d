import { createHash } from 'node:crypto';
import { BUILT_IN_MODELS, builtInModelPath } from '../../containers/models/index.js';
import type { BundleStore } from '../bundles/index.js';
import { hasOwnProcess, type ModelRecord } from '../registry/index.js';
import { isCold, StoreError, type ColdSlice, type Store } from '../store/index.js';
import { FORMAT, FORMAT_VERSION, SCHEMA_VERSION, type BackupHeader } from './format.js';

/** Each installation has them. */
const SHIPPED: ReadonlySet<string> = new Set(BUILT_IN_MODELS.map(builtInModelPath));

export interface BackupSources {
  readonly store: Pick<Store, 'list' | 'slice'>;
  /** Folders of cold keys. */
  readonly folders?: (() => readonly string[]) | undefined;
  readonly models: () => readonly ModelRecord[];
  /** Where a cluster keeps files of models. */
  readonly bundles?: BundleStore | undefined;
  readonly nowMs: () => number;
  /** What there is besides, that is work under way and nothing to come back to; undefined: nobody can tell now. */
  readonly leftOut?: () => Promise<BackupHeader['left_out']>;
}

/**
 * All that a store holds at one moment, the one at which the first line is asked for, as lines of JSON; what is cold, as it is when
 * its line is written, and files of models come behind it. @throws BundleError, StoreError
 */
export async function* writeBackup({
  store,
  folders,
  models,
  bundles,
  nowMs,
  leftOut,
}: BackupSources): AsyncGenerator<string, void> {
  // The values are never changed, only replaced: the list is that of this moment for as long as it is written.
  const entries = store.list('').filter(({ key }) => !isCold(key));
  const paths = models().flatMap(({ container, contentHash }) =>
    (container.kind === 'kernelModel' && !SHIPPED.has(container.path)) || hasOwnProcess(container)
      ? [{ path: container.path, hash: contentHash }]
      : [],
  );
  const named = new Set(paths.flatMap(({ hash }) => hash ?? []));
  const kept = (await bundles?.list()) ?? [];
  const hashes = kept.map(({ hash }) => hash).filter((hash) => named.has(hash));
  const left = await leftOut?.();
  const header: BackupHeader = {
    format: FORMAT,
    version: FORMAT_VERSION,
    schema: SCHEMA_VERSION,
    made_at: new Date(nowMs()).toISOString(),
    entries: entries.length,
    bundles: hashes.length,
    not_included: [
      ...new Set(paths.filter(({ hash = '' }) => !hashes.includes(hash)).map(({ path }) => path)),
    ],
    ...(left === undefined ? {} : { left_out: left }),
  };
  const sum = createHash('sha256');
  const line = (value: object): string => {
    const text = `${JSON.stringify(value)}\n`;
    sum.update(text);
    return text;
  };
  yield line(header);
  for (const { key, entry } of entries) yield line({ key, version: entry.version, value: entry.value });
  for (const folder of folders?.() ?? []) {
    for (let from: string | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false) {
      const slice = await new Promise<ColdSlice>((resolve) => store.slice(folder, from, resolve));
      if (!slice.ok) throw new StoreError('unusable', slice.message);
      for (const { key, version, json } of slice.entries) {
        yield line({ cold: key, version, value: JSON.parse(json) as unknown });
      }
      from = slice.next;
    }
  }
  for (const hash of hashes) {
    const bundle = await bundles?.get(hash);
    if (bundle === undefined)
      throw new Error(`the files of a model (${hash}) were removed meanwhile; try again`);
    yield line({ bundle: hash, files: bundle.index.files });
    for await (const piece of bundle.pieces) yield line({ piece: Buffer.from(piece).toString('base64') });
  }
  yield `${JSON.stringify({ sha256: sum.digest('hex') })}\n`;
}
