import type { ExternalModel, HostedModel, ModelRecord } from './records.js';

export function isHosted(model: ModelRecord): model is HostedModel {
  return model.container.kind !== 'external';
}

export function isExternal(model: ModelRecord): model is ExternalModel {
  return model.container.kind === 'external';
}

/** Whether replicas of such a container have processes of their own: what takes one down leaves the others alone. */
export function hasOwnProcess<C extends { readonly kind: string }>(
  container: C,
): container is Extract<C, { readonly kind: 'process' | 'python' | 'exec' }> {
  return container.kind === 'process' || container.kind === 'python' || container.kind === 'exec';
}
