import { ServiceError } from '../errors/index.js';
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
  try {
    await uploadBundle(store, model.container, model.contentHash);
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    if (error.code === 'unusable')
      throw new ServiceError('store_failed', error.message, undefined, { cause: error });
    throw new ServiceError('invalid_model', error.message, 'model_data_path', { cause: error });
  }
}
