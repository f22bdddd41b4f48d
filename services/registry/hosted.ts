import type { ExternalModel, HostedModel, ModelRecord } from './records.js';

export function isHosted(model: ModelRecord): model is HostedModel {
  return model.container.kind !== 'external';
}

export function isExternal(model: ModelRecord): model is ExternalModel {
  return model.container.kind === 'external';
}
