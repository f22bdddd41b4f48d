import { environmentRefusal, moduleRefusal, type ProcessSource } from '../../containers/runtime/index.js';
import { ServiceError } from '../errors/index.js';
import { PROCESS_CONTAINER, processFields, type AddModelRequest, type ModelAnswer } from './schemas.js';

const FIELDS = Object.keys(processFields) as readonly (keyof typeof processFields)[];

/** @throws ServiceError `conflicting_fields` when a field says something of a process and there is none. */
export function refuseProcessFields(request: AddModelRequest): void {
  const field = FIELDS.find((one) => request[one] !== undefined);
  if (field === undefined || request.container_name === PROCESS_CONTAINER) return;
  const message = `${field} is for container_name ${PROCESS_CONTAINER} only`;
  throw new ServiceError('conflicting_fields', message, field);
}

/** The module is looked for, and run only in its own process. @throws ServiceError `missing_field`, `invalid_model` */
export function processSource(request: AddModelRequest): ProcessSource {
  const { model_data_path: path, memory_mib: memoryMiB, environment } = request;
  const { start_timeout_ms: startMs, batch_timeout_ms: batchMs, close_timeout_ms: closeMs } = request;
  if (path === '') {
    const message = `model_data_path is required for ${PROCESS_CONTAINER}: the module of the model`;
    throw new ServiceError('missing_field', message, 'model_data_path');
  }
  const refusal = moduleRefusal(path);
  if (refusal !== undefined) throw new ServiceError('invalid_model', refusal, 'model_data_path');
  const missing = environmentRefusal(environment ?? []);
  if (missing !== undefined) throw new ServiceError('invalid_model', missing, 'environment');
  const limits = {
    ...(startMs === undefined ? {} : { startMs }),
    ...(batchMs === undefined ? {} : { batchMs }),
    ...(closeMs === undefined ? {} : { closeMs }),
  };
  return {
    path,
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(environment === undefined ? {} : { environment }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** Fields that were not given are undefined, and left out of the answer. */
export function processJson({
  path,
  memoryMiB,
  environment,
  limits,
}: ProcessSource): Pick<ModelAnswer, 'container_name' | 'model_data_path' | (typeof FIELDS)[number]> {
  return {
    container_name: PROCESS_CONTAINER,
    model_data_path: path,
    memory_mib: memoryMiB,
    environment: environment === undefined ? undefined : [...environment],
    start_timeout_ms: limits?.startMs,
    batch_timeout_ms: limits?.batchMs,
    close_timeout_ms: limits?.closeMs,
  };
}
