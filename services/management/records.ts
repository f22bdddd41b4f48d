import type { ApplicationRecord, ModelRecord, Registry } from '../registry/index.js';
import type { AdminSources } from './adminSources.js';
import { oneInputMs, versionWarnings } from './objectiveWarnings.js';
import { processJson } from './processContainer.js';
import { CONSTANT_CONTAINER, KERNEL_MODEL_CONTAINER, type ModelAnswer } from './schemas.js';

/** Records under the field names of the interface. */
export function applicationJson(registry: Registry, record: ApplicationRecord): object {
  return {
    name: record.name,
    input_type: record.inputType,
    default_output: record.defaultOutput,
    latency_slo_micros: record.latencyObjectiveUs,
    max_in_flight: record.maxInFlight,
    context_ttl_days: record.contextTtlDays,
    launch_class: record.launchClass,
    loss: record.fileLoss === undefined ? record.loss : { name: record.fileLoss },
    loss_of_late: record.lossOfLate,
    strict: record.strict ?? false,
    policy: record.policy,
    policy_file: record.policyFile && {
      name: record.policyFile.name,
      content_hash: record.policyFile.hash,
      policy: record.policyFile.traits.name,
      losses: record.policyFile.traits.losses,
    },
    linked_models: registry.linkedNames(record.name),
  };
}

export function modelJson(
  { registry, servingVersion, replicas }: Pick<AdminSources, 'registry' | 'servingVersion' | 'replicas'>,
  record: ModelRecord,
): object {
  const { name, version } = record;
  const scale = registry.scale(name, version);
  const canary = registry.canary(name);
  const oneInput = oneInputMs(replicas(), name, version);
  const up = replicas().filter(
    (status) => status.model === name && status.version === version && status.state === 'up',
  );
  return {
    model_name: record.name,
    model_version: record.version,
    input_type: record.inputType,
    input_length: record.inputLength,
    input_columns: record.inputColumns,
    labels: record.labels,
    ...containerJson(record),
    content_hash: record.contentHash,
    ...batchingJson(record),
    warm_up: record.warmUp ?? true,
    num_replicas: record.container.kind === 'external' ? undefined : scale.replicas,
    min_replicas: scale.range?.minimum,
    max_replicas: scale.range?.maximum,
    replicas_up: up.length,
    one_input_micros: oneInput === undefined ? undefined : Math.round(oneInput * 1000),
    warnings: versionWarnings({ registry, replicas }, name, version),
    canary: canary?.candidate === version ? (canary.end?.kind ?? 'ramping') : undefined,
    is_current_version: registry.currentVersion(name) === version,
    is_serving_version: servingVersion(name) === version,
  };
}

function batchingJson({
  batching,
}: ModelRecord): Pick<ModelAnswer, 'batch_size' | 'batching' | 'batch_delay_micros'> {
  if (batching.strategy === 'none') return { batch_size: 1, batching: 'none' };
  return {
    batch_size: batching.strategy === 'fixed' ? batching.maxBatchSize : -1,
    batching: batching.strategy,
    batch_delay_micros: batching.delayUs,
  };
}

function containerJson({ container }: ModelRecord): object {
  switch (container.kind) {
    case 'kernelModel':
      return {
        container_name: KERNEL_MODEL_CONTAINER,
        model_data_path: container.path,
        launch_class: container.launchClass,
        gpu: container.gpu,
      };
    case 'constant':
      return { container_name: CONSTANT_CONTAINER, model_data_path: '', output: container.output };
    case 'process':
    case 'python':
    case 'exec':
      return processJson(container);
    case 'external':
      return { container_name: container.containerName, model_data_path: container.modelDataPath };
  }
}
