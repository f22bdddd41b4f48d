import type { ContainerStart } from '../../containers/runtime/index.js';
import type { HostedModel } from '../registry/index.js';

/** What a replica of a registered version is started with. */
export function containerStart(model: HostedModel, replica: number): ContainerStart {
  const { name, version, inputType, inputLength, container, contentHash } = model;
  return {
    model: name,
    version,
    replica: String(replica),
    inputType,
    ...(inputLength === undefined ? {} : { inputLength }),
    container,
    ...(contentHash === undefined ? {} : { contentHash }),
  };
}
