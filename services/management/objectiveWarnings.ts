import { armsNamed } from '../../selection/index.js';
import type { ReplicaStatus } from '../deployment/index.js';
import { FILE_POLICY } from '../policyFiles/index.js';
import type { ApplicationRecord, Registry } from '../registry/index.js';

/** What is known of how long models take. */
export interface LatencySources {
  readonly registry: Registry;
  readonly replicas: () => readonly ReplicaStatus[];
}

/** The quickest replica's time for a single input, at the end of its warm-up, in milliseconds; undefined: none was measured. */
export function oneInputMs(
  replicas: readonly ReplicaStatus[],
  name: string,
  version: string,
): number | undefined {
  const measured = replicas.flatMap(({ model, version: of, oneInputMs: ms }) =>
    model === name && of === version && ms !== undefined ? [ms] : [],
  );
  return measured.length === 0 ? undefined : Math.min(...measured);
}

/** What is to be said of a version: applications whose objective is shorter than a single input takes it. */
export function versionWarnings(
  { registry, replicas }: LatencySources,
  name: string,
  version: string,
): string[] {
  return registry
    .applications()
    .filter((application) => registry.linkedNames(application.name).includes(name))
    .flatMap((application) => warning(application, replicas(), name, version));
}

/** The same of an application, with its linked models as they are now, and models that its policy names and that are none of those. */
export function applicationWarnings({ registry, replicas }: LatencySources, name: string): string[] {
  const application = registry.application(name);
  if (application === undefined) return [];
  const slow = registry
    .linkedModels(name)
    .flatMap(({ name: model, version }) => warning(application, replicas(), model, version));
  return [...unlinkedWarnings(application, registry.linkedNames(name)), ...slow];
}

function unlinkedWarnings({ policy }: ApplicationRecord, linked: readonly string[]): string[] {
  if (linked.length === 0 || policy.name === FILE_POLICY) return [];
  return armsNamed(policy.parameters)
    .filter((model) => !linked.includes(model))
    .map((model) => `policy '${policy.name}' names model '${model}', which is not linked`);
}

/** Behind the sentence that a change is answered with. */
export function warningText(warnings: readonly string[]): string {
  return warnings.map((text) => ` Warning: ${text}.`).join('');
}

function warning(
  { name: application, latencyObjectiveUs }: ApplicationRecord,
  replicas: readonly ReplicaStatus[],
  model: string,
  version: string,
): string[] {
  const ms = oneInputMs(replicas, model, version);
  if (ms === undefined || ms * 1000 <= latencyObjectiveUs) return [];
  return [
    `version '${version}' of model '${model}' took ${milliseconds(ms)} for a single input of its warm-up, and application '${application}' ` +
      `has an objective of ${milliseconds(latencyObjectiveUs / 1000)}: its queries would get the default output`,
  ];
}

function milliseconds(ms: number): string {
  return `${Number(ms.toPrecision(3))} ms`;
}
