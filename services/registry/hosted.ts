import type { HostedModel, ModelRecord } from './records.js';

export function isHosted(model: ModelRecord): model is HostedModel {
  return model.container.kind !== 'external';
}
