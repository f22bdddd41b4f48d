import { ServiceError, type ErrorCode } from '../errors/index.js';
import { isHosted, type ModelRecord } from '../registry/index.js';
import type { BundleStore } from './bundle.js';
import { BundleError } from './bundleError.js';
import { uploadBundle } from './uploadBundle.js';

/**
 * Puts the files of a version that is about to be registered where nodes find them.
 * @throws ServiceError (as a rejection) `invalid_model`, `store_failed`
 */
export async function keepBundle(store: BundleStore, model: ModelRecord): Promise<void> {
  if (!isHosted(model) || model.contentHash === undefined) return;
  const { container, contentHash } = model;
  await told(() => uploadBundle(store, container, contentHash));
}

/** What a bundle's failure is for a client. @throws ServiceError (as a rejection) */
export async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    const [code, field] = TOLD[error.code];
    throw new ServiceError(code, error.message, field, { cause: error });
  }
}

const TOLD: Readonly<Record<BundleError['code'], readonly [ErrorCode, string?]>> = {
  missing: ['unknown_bundle', 'content_hash'],
  damaged: ['store_failed'],
  tooLarge: ['invalid_model', 'model_data_path'],
  changed: ['invalid_model', 'model_data_path'],
  malformed: ['invalid_bundle'],
  full: ['storage_full'],
  unusable: ['store_failed'],
};
