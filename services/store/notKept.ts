import { ServiceError } from '../errors/index.js';
import type { StoreFault } from './store.js';

/** What a client is told of a change that could not be kept, and was undone. */
export function notKept({ cause, message }: StoreFault): ServiceError {
  const isSpace = cause === 'diskFull' || cause === 'quotaExceeded' || cause === 'fileTooLarge';
  return new ServiceError(isSpace ? 'storage_full' : 'store_failed', `the change is not made: ${message}`);
}
