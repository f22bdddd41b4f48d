import { inputForm, loadKernelModel, ModelError } from '../../containers/models/index.js';
import type { Content } from '../../containers/content/index.js';
import { sourceContent } from '../../containers/runtime/index.js';
import { findCard } from '../../simulator/gpu/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { ServiceError } from '../errors/index.js';
import { isHosted, type BatchingChoice, type HostedModel, type ModelRecord } from '../registry/index.js';
import { processKind, processSource, refuseProcessFields } from './processContainer.js';
import {
  CONSTANT_CONTAINER,
  CONTAINERS_WITH_FILES,
  HOSTED_CONTAINERS,
  KERNEL_MODEL_CONTAINER,
  type AddModelRequest,
} from './schemas.js';

/**
 * The record of a model that is to be registered. A kernel model's folder is loaded and checked here, so that a broken
 * one is refused before anything is stored. A module is looked for, and run only in its own process.
 * @param cards names of the GPUs of which one is to hold it; none: that is not asked.
 * @throws ServiceError `invalid_model`, `missing_field`, `conflicting_fields`; `unknown_bundle` where `content_hash` is of other files
 */
export function modelRecord(request: AddModelRequest, cards: readonly string[] = []): ModelRecord {
  const before = firstContent(request);
  requireContent(request, before);
  const record = describedModel(request, cards);
  if (!isHosted(record)) return record;
  const content = contentOf(record);
  if (content === undefined) return record;
  if (content.stamp === before?.stamp && content.hash === before.hash)
    return { ...record, contentHash: content.hash };
  const message = `${request.model_data_path}: the files change while they are read`;
  throw new ServiceError('invalid_model', message, 'model_data_path');
}

/** That a container is made of files, which have a hash. @throws ServiceError `conflicting_fields` */
export function requireFiles(containerName: string): void {
  if (CONTAINERS_WITH_FILES.has(containerName)) return;
  const message = `content_hash is for containers that have files: ${[...CONTAINERS_WITH_FILES].join(', ')}`;
  throw new ServiceError('conflicting_fields', message, 'content_hash');
}

/** @throws ServiceError `unknown_bundle`, `conflicting_fields` */
function requireContent(request: AddModelRequest, before: Content | undefined): void {
  const { content_hash: wanted, container_name: name, model_data_path: path } = request;
  if (wanted === undefined || wanted === before?.hash) return;
  requireFiles(name);
  const what = before === undefined ? 'there are no such files here' : 'the files here are others';
  throw new ServiceError('unknown_bundle', `${path}: ${what}`, 'content_hash');
}

/** Of what the record will be made of; what is wrong with it is told when it is made. */
function firstContent(request: AddModelRequest): Content | undefined {
  const { container_name: name, model_data_path: path } = request;
  try {
    if (name === KERNEL_MODEL_CONTAINER) return sourceContent({ kind: 'kernelModel', path });
    const kind = processKind(name);
    return kind === undefined ? undefined : sourceContent(processSource(kind, request));
  } catch {
    return undefined;
  }
}

function contentOf({ container }: HostedModel): Content | undefined {
  try {
    return sourceContent(container);
  } catch (error) {
    const message = reasonOf(error);
    throw new ServiceError('invalid_model', message, 'model_data_path', { cause: error });
  }
}

function describedModel(request: AddModelRequest, cards: readonly string[]): ModelRecord {
  const common = {
    name: request.model_name,
    version: request.model_version,
    inputType: request.input_type,
    labels: request.labels,
    batching: batchingOf(request),
    ...(request.warm_up === false ? { warmUp: false as const } : {}),
  };
  if (request.output !== undefined && request.container_name !== CONSTANT_CONTAINER) {
    throw new ServiceError(
      'conflicting_fields',
      `output is for container_name ${CONSTANT_CONTAINER} only`,
      'output',
    );
  }
  if (request.launch_class !== undefined && request.container_name !== KERNEL_MODEL_CONTAINER) {
    throw new ServiceError(
      'conflicting_fields',
      `launch_class is for container_name ${KERNEL_MODEL_CONTAINER} only: the others launch no kernels`,
      'launch_class',
    );
  }
  if (request.gpu !== undefined && request.container_name !== KERNEL_MODEL_CONTAINER) {
    throw new ServiceError(
      'conflicting_fields',
      `gpu is for container_name ${KERNEL_MODEL_CONTAINER} only: the others run on none`,
      'gpu',
    );
  }
  refuseProcessFields(request);
  const kind = processKind(request.container_name);
  if (kind !== undefined) return { ...common, container: processSource(kind, request) };
  switch (request.container_name) {
    case KERNEL_MODEL_CONTAINER:
      return { ...common, ...kernelModel(request, cards) };
    case CONSTANT_CONTAINER:
      if (request.output === undefined) {
        throw new ServiceError('missing_field', `output is required for ${CONSTANT_CONTAINER}`, 'output');
      }
      return { ...common, container: { kind: 'constant', output: request.output } };
    default:
      return {
        ...common,
        container: {
          kind: 'external',
          containerName: request.container_name,
          modelDataPath: request.model_data_path,
        },
      };
  }
}

/** Nobody else's containers have such names: one that is misspelt is not taken for an image. */
const OWN_PREFIX = 'windjammer/';

/** @throws ServiceError `invalid_model` */
export function refuseMisspelt({ container }: ModelRecord): void {
  if (container.kind !== 'external' || !container.containerName.startsWith(OWN_PREFIX)) return;
  const message = `there is no container '${container.containerName}': use ${HOSTED_CONTAINERS}`;
  throw new ServiceError('invalid_model', message, 'container_name');
}

/**
 * Where no container can dial in, a model that waits for one would never answer.
 * @param field that names the model or its container
 * @throws ServiceError `invalid_model`
 */
export function refuseExternal({ container }: ModelRecord, field: string): void {
  if (container.kind !== 'external') return;
  const message =
    `no container '${container.containerName}' can dial in: start the server with --clipper-port (docs/guides/clipper.md), ` +
    `or use ${HOSTED_CONTAINERS}`;
  throw new ServiceError('invalid_model', message, field);
}

/** The fields together say one thing: a strategy that finds its size takes none. */
function batchingOf({
  batch_size: size,
  batching,
  batch_delay_micros: delayUs = 0,
}: AddModelRequest): BatchingChoice {
  const strategy = batching ?? (size === -1 ? 'aimd' : 'fixed');
  const delay = delayUs === 0 ? {} : { delayUs };
  if (strategy === 'none' && delayUs > 0) {
    const message = 'batching none never waits for company: leave batch_delay_micros out';
    throw new ServiceError('conflicting_fields', message, 'batch_delay_micros');
  }
  if (strategy === 'fixed') {
    if (size !== -1) return { strategy, maxBatchSize: size, ...delay };
    throw new ServiceError(
      'missing_field',
      'batch_size is required for batching fixed: the largest batch',
      'batch_size',
    );
  }
  if (strategy === 'none' && (size === -1 || size === 1)) return { strategy };
  if (strategy !== 'none' && size === -1) return { strategy, ...delay };
  const message = `batching ${strategy} takes no batch_size: leave it out, or give batching fixed`;
  throw new ServiceError('conflicting_fields', message, 'batch_size');
}

function kernelModel(
  request: AddModelRequest,
  cards: readonly string[],
): Pick<ModelRecord, 'container' | 'inputLength' | 'inputRange' | 'inputColumns' | 'labels'> {
  const path = request.model_data_path;
  if (path === '') {
    const message = `model_data_path is required for ${KERNEL_MODEL_CONTAINER}: the folder of its manifest`;
    throw new ServiceError('missing_field', message, 'model_data_path');
  }
  try {
    const profiles = [...new Set(cards)].map((card) => findCard(card, '.').profile);
    const { manifest, memory, misfits } = loadKernelModel(path, profiles);
    refuseMisfit(
      manifest.name,
      profiles.map(({ name }) => misfits[name]),
    );
    const [input] = manifest.inputs;
    if (input.type !== request.input_type) {
      throw new ServiceError(
        'invalid_model',
        `the manifest takes ${input.type}, input_type says ${request.input_type}`,
        'input_type',
      );
    }
    const labels =
      request.labels.length > 0 || manifest.answer.kind !== 'argmax'
        ? request.labels
        : manifest.answer.labels;
    const { launch_class: launchClass, gpu } = request;
    const { length, range, columns } = inputForm(manifest);
    return {
      container: {
        kind: 'kernelModel',
        path,
        ...(launchClass === undefined ? {} : { launchClass }),
        ...(gpu === undefined ? {} : { gpu }),
        memory,
        ...(Object.keys(misfits).length === 0 ? {} : { misfits }),
      },
      inputLength: length,
      ...(range === undefined ? {} : { inputRange: range }),
      ...(columns === undefined ? {} : { inputColumns: columns }),
      labels,
    };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw new ServiceError('invalid_model', error.message, 'model_data_path', { cause: error });
  }
}

/**
 * @param reasons why each card cannot hold the model even alone; undefined of those that can
 * @throws ServiceError `invalid_model` where there are cards, and none of them can
 */
function refuseMisfit(model: string, reasons: readonly (string | undefined)[]): void {
  const reason = reasons.at(-1);
  if (reason === undefined || reasons.includes(undefined)) return;
  throw new ServiceError('invalid_model', `${model}: ${reason}`, 'model_data_path');
}
