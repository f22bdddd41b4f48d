import { bundlePath, type BundleDesk } from '../bundles/index.js';
import { ServiceError } from '../errors/index.js';
import { isHosted, type ModelRecord } from '../registry/index.js';
import { requireFiles } from './modelRegistration.js';
import { processKind } from './processContainer.js';
import type { AddModelRequest } from './schemas.js';

/**
 * Makes the record of a model from files that a client has sent, where the request names them by their hash alone; of any other
 * as it is.
 * @returns the record, and what is to be said of the files, for people
 * @throws ServiceError (as a rejection) `unknown_bundle`, `conflicting_fields`, and what `make` throws
 */
export async function withFiles(
  bundles: Pick<BundleDesk, 'hold' | 'keep'>,
  request: AddModelRequest,
  make: (request: AddModelRequest) => Promise<ModelRecord>,
): Promise<{ readonly record: ModelRecord; readonly note: string }> {
  const { content_hash: hash, ...rest } = request;
  if (hash === undefined || request.model_data_path !== '') return { record: await make(request), note: '' };
  requireFiles(request.container_name);
  const held = await bundles.hold(hash);
  const { folder } = held;
  try {
    const path = bundlePath(processKind(request.container_name) ?? 'kernelModel', held);
    const record = await make({ ...rest, model_data_path: path });
    await bundles.keep(record);
    const isWhole = isHosted(record) && record.contentHash === hash;
    const note = isWhole ? '' : ' Files of the bundle that the model does not name are not kept.';
    return { record, note };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // Where this server has unpacked it says nothing to whoever sent it.
    const message = error.message.replaceAll(`${folder}/`, '').replaceAll(folder, 'the bundle');
    throw new ServiceError(error.code, message, error.field, { cause: error });
  } finally {
    held.release();
  }
}
