import { ServiceError } from '../errors/index.js';
import type { ModelRecord, ModelScale, Registry } from '../registry/index.js';

/** As they came. */
export interface ScaleFields {
  readonly num_replicas?: number | undefined;
  readonly min_replicas?: number | undefined;
  readonly max_replicas?: number | undefined;
}

/**
 * What the fields say together: a number alone fixes it, a minimum and a larger maximum leave it to the load.
 * @param present what holds now: where autoscaling begins, unless a number is given.
 * @returns undefined when they say nothing.
 * @throws ServiceError `missing_field`, `invalid_value`, `conflicting_fields`
 */
export function scaleOf(
  { num_replicas: count, min_replicas: minimum, max_replicas: maximum }: ScaleFields,
  container: ModelRecord['container'],
  present?: ModelScale,
): ModelScale | undefined {
  if (count === undefined && minimum === undefined && maximum === undefined) return undefined;
  if (container.kind === 'external') {
    const message = `container '${container.containerName}' is not started by this server: it cannot be scaled here`;
    throw new ServiceError('conflicting_fields', message, 'num_replicas');
  }
  if (minimum === undefined && maximum === undefined) return { replicas: count ?? 1 };
  if (minimum === undefined || maximum === undefined) {
    const missing = minimum === undefined ? 'min_replicas' : 'max_replicas';
    throw new ServiceError('missing_field', `${missing} is required with the other limit`, missing);
  }
  if (maximum < minimum) {
    const message = `max_replicas must be min_replicas (${minimum}) or more, ${maximum} came`;
    throw new ServiceError('invalid_value', message, 'max_replicas');
  }
  if (count !== undefined && (count < minimum || count > maximum)) {
    const message = `num_replicas must be from min_replicas (${minimum}) to max_replicas (${maximum}), ${count} came`;
    throw new ServiceError('invalid_value', message, 'num_replicas');
  }
  if (maximum === minimum) return { replicas: minimum };
  const begin = count ?? present?.replicas ?? minimum;
  return { replicas: Math.min(Math.max(begin, minimum), maximum), range: { minimum, maximum } };
}

/** As many replicas as the version that it follows: the same load comes to it. */
export function inheritedScale(
  registry: Pick<Registry, 'currentVersion' | 'scale'>,
  { name, container }: ModelRecord,
): ModelScale | undefined {
  const current = registry.currentVersion(name);
  if (current === undefined || container.kind === 'external') return undefined;
  const scale = registry.scale(name, current);
  return scale.replicas === 0 ? undefined : scale;
}

/** For a sentence: `3 replicas`, `1 to 4 replicas, by load`. */
export function scaleText({ replicas, range }: ModelScale): string {
  if (range !== undefined) return `${range.minimum} to ${range.maximum} replicas, by load`;
  return replicas === 1 ? '1 replica' : `${replicas} replicas`;
}
