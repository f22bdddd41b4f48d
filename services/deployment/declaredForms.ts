import { inputForm, loadManifest } from '../../containers/models/index.js';
import type { DeclaredForm, ModelRecord, Registry } from '../registry/index.js';
import type { Complaint } from '../errors/index.js';

/**
 * Has the registry know what range of numbers kernel models take that were registered when registrations did not keep it:
 * their manifests say it. Where that would leave an application no input at all, everything stays as it was, and whoever
 * runs the server is told.
 */
export function declareManifestRanges(registry: Registry, complain: Complaint): void {
  for (const model of registry.models()) {
    const range = manifestRange(model);
    if (range === undefined) continue;
    try {
      registry.checkDeclared(model, { range });
      keepDeclared(registry, model, { range }, complain);
    } catch (cause) {
      const { name, version } = model;
      complain('linked models have no input that suits them all', { name, version, cause });
    }
  }
}

/** Keeps what a replica, or its files, have said; where that fails, they say it again at the next start. */
export function keepDeclared(
  registry: Registry,
  model: ModelRecord,
  form: DeclaredForm,
  complain: Complaint,
): void {
  registry.declare(model, form).catch((cause: unknown) => {
    const { name, version } = model;
    complain('what a model takes could not be kept', { name, version, cause });
  });
}

function manifestRange({ container, inputRange }: ModelRecord): DeclaredForm['range'] {
  if (container.kind !== 'kernelModel' || inputRange !== undefined) return undefined;
  try {
    return inputForm(loadManifest(container.path)).range;
  } catch {
    // Its replica will say what is wrong with its files.
    return undefined;
  }
}
