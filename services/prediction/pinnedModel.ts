import { inputProblem } from '../../containers/protocol/index.js';
import type { Directory } from './directory.js';
import type { ServedApplication } from './servedApplication.js';
import type { ServedModel } from './servedModel.js';
import type { QueryRefusal } from './types.js';

/** The linked model that a query asks for by its version, where it takes the input. */
export function pinnedModel(
  directory: Directory,
  application: ServedApplication,
  version: string,
  input: Uint8Array,
): ServedModel | QueryRefusal {
  const { name } = application.record;
  let found: ServedModel | undefined;
  for (const arm of application.models.keys()) {
    const model = directory.model(arm, version);
    if (model === undefined) continue;
    if (found !== undefined) {
      const message = `several models linked to application '${name}' have a version '${version}': leave it out`;
      return { code: 'unknown_version', field: 'version', message };
    }
    found = model;
  }
  if (found === undefined) {
    const message = `no model linked to application '${name}' has a version '${version}'`;
    return { code: 'unknown_version', field: 'version', message };
  }
  // What the frontend knows is what the current versions take.
  const message = inputProblem(found.form, input, `model '${found.record.name}'`);
  return message === undefined ? found : { code: 'invalid_input', field: 'input', message };
}
