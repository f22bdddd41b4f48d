import { ServiceError } from '../errors/index.js';
import type { StoreFault } from './store.js';

/** What a client is told of a change that could not be kept, and was undone, or of which nobody knows that. */
export function notKept({ cause, message }: StoreFault): ServiceError {
  if (cause === 'unknown') {
    return new ServiceError('change_unknown', `nobody knows whether the change is made: ${message}`);
  }
  const isSpace = cause === 'diskFull' || cause === 'quotaExceeded' || cause === 'fileTooLarge';
  return new ServiceError(isSpace ? 'storage_full' : 'store_failed', `the change is not made: ${message}`);
}
