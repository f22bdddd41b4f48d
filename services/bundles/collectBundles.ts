import type { BundleStore } from './bundle.js';

/** A bundle comes before the version that names it is registered. */
const YOUNG_MS = 3_600_000;

/**
 * Removes bundles that no version names.
 * @param isNamed asked for each; answers from the registry
 * @returns how many were removed
 * @throws BundleError (as a rejection)
 */
export async function collectBundles(
  store: BundleStore,
  isNamed: (hash: string) => boolean,
): Promise<number> {
  const unnamed = (await store.list()).filter(({ hash, ageMs }) => ageMs > YOUNG_MS && !isNamed(hash));
  for (const { hash } of unnamed) await store.remove(hash);
  return unnamed.length;
}
