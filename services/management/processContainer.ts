import {
  environmentRefusal,
  sourceRefusal,
  type ContainerSource,
  type ProcessNeeds,
} from '../../containers/runtime/index.js';
import { ServiceError } from '../errors/index.js';
import {
  EXEC_CONTAINER,
  PROCESS_CONTAINER,
  PROCESS_CONTAINERS,
  processFields,
  PYTHON_CONTAINER,
  type AddModelRequest,
  type ModelAnswer,
} from './schemas.js';

const FIELDS = Object.keys(processFields) as readonly (keyof typeof processFields)[];

type OwnProcess = Extract<ContainerSource, { readonly kind: 'process' | 'python' | 'exec' }>;

const KINDS: Readonly<Record<string, OwnProcess['kind']>> = {
  [PROCESS_CONTAINER]: 'process',
  [PYTHON_CONTAINER]: 'python',
  [EXEC_CONTAINER]: 'exec',
};

const DATA_PATHS: Readonly<Record<OwnProcess['kind'], string>> = {
  process: `model_data_path is required for ${PROCESS_CONTAINER}: the module of the model`,
  python: `model_data_path is required for ${PYTHON_CONTAINER}: the module of the model`,
  exec: `model_data_path is required for ${EXEC_CONTAINER}: the folder that it runs in`,
};

/** The kind of a container that has a process of its own; undefined of others. */
export function processKind(containerName: string): OwnProcess['kind'] | undefined {
  return Object.hasOwn(KINDS, containerName) ? KINDS[containerName] : undefined;
}

/** @throws ServiceError `conflicting_fields` when a field says something of a process and there is none, or one of another kind. */
export function refuseProcessFields(request: AddModelRequest): void {
  const kind = processKind(request.container_name);
  const refuse = (field: string, of: string): never => {
    throw new ServiceError('conflicting_fields', `${field} is for container_name ${of} only`, field);
  };
  const field = FIELDS.find((one) => request[one] !== undefined);
  if (field !== undefined && kind === undefined) refuse(field, PROCESS_CONTAINERS);
  if (request.python !== undefined && kind !== 'python') refuse('python', PYTHON_CONTAINER);
  if (request.command !== undefined && kind !== 'exec') refuse('command', EXEC_CONTAINER);
}

/**
 * What is named is looked for, and run only in its own process.
 * @throws ServiceError `missing_field`, `invalid_model`
 */
export function processSource(kind: OwnProcess['kind'], request: AddModelRequest): OwnProcess {
  const { model_data_path: path, environment } = request;
  if (path === '') throw new ServiceError('missing_field', DATA_PATHS[kind], 'model_data_path');
  const source = sourceOf(kind, request);
  const refusal = sourceRefusal(source);
  if (refusal !== undefined) {
    const field = ['python', 'command'].find((name) => refusal.startsWith(`${name}: `)) ?? 'model_data_path';
    throw new ServiceError('invalid_model', refusal, field);
  }
  const missing = environmentRefusal(environment ?? []);
  if (missing !== undefined) throw new ServiceError('invalid_model', missing, 'environment');
  return source;
}

function sourceOf(kind: OwnProcess['kind'], request: AddModelRequest): OwnProcess {
  const common = { path: request.model_data_path, ...processNeeds(request) };
  const { python, command } = request;
  switch (kind) {
    case 'process':
      return { kind, ...common };
    case 'python':
      return { kind, ...common, ...(python === undefined ? {} : { python }) };
    case 'exec':
      if (command === undefined) {
        const message = `command is required for ${EXEC_CONTAINER}: what starts the program, such as ./model`;
        throw new ServiceError('missing_field', message, 'command');
      }
      return { kind, ...common, command };
  }
}

function processNeeds(request: AddModelRequest): ProcessNeeds {
  const { memory_mib: memoryMiB, environment } = request;
  const { start_timeout_ms: startMs, batch_timeout_ms: batchMs, close_timeout_ms: closeMs } = request;
  const limits = {
    ...(startMs === undefined ? {} : { startMs }),
    ...(batchMs === undefined ? {} : { batchMs }),
    ...(closeMs === undefined ? {} : { closeMs }),
  };
  return {
    ...(memoryMiB === undefined ? {} : { memoryMiB }),
    ...(environment === undefined ? {} : { environment }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** Fields that were not given are undefined, and left out of the answer. */
export function processJson(
  source: OwnProcess,
): Pick<ModelAnswer, 'container_name' | 'model_data_path' | 'python' | 'command' | (typeof FIELDS)[number]> {
  const { kind, path, memoryMiB, environment, limits } = source;
  const names = Object.entries(KINDS);
  return {
    container_name: names.find(([, one]) => one === kind)?.[0] ?? PROCESS_CONTAINER,
    model_data_path: path,
    python: kind === 'python' ? source.python : undefined,
    command: kind === 'exec' ? source.command : undefined,
    memory_mib: memoryMiB,
    environment: environment === undefined ? undefined : [...environment],
    start_timeout_ms: limits?.startMs,
    batch_timeout_ms: limits?.batchMs,
    close_timeout_ms: limits?.closeMs,
  };
}
