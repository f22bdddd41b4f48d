import type { Features } from '../../selection/index.js';
import { readFeatures } from '../../services/frontend/index.js';
import type { LoadError } from './loadError.js';

/** Features of one arrival. @param problem of its line. @throws LoadError naming the feature and the fix */
export function traceFeatures(value: unknown, problem: (text: string) => LoadError): Features {
  try {
    return readFeatures(value) ?? {};
  } catch (error) {
    throw problem((error as Error).message);
  }
}
