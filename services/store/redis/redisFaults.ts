import { addressText, redisFailure, type RedisAddress } from '../../redis/index.js';
import type { FaultCause, StoreFault } from '../store.js';

/** What a failure of a command means. */
export function redisFault(address: RedisAddress, error: unknown, isLoading = false): StoreFault {
  const { cause, words } = redisFailure(error, isLoading);
  return fault(address, cause, words);
}

export function behindFault(address: RedisAddress, words: string): StoreFault {
  return fault(
    address,
    'behind',
    `it has lost changes (${words}). Stop it and bring its data back, or choose the frontend whose state is right: windjammer cluster repair --from FRONTEND`,
  );
}

/** A write whose answer was lost, and that nobody could be asked about. */
export function unknownFault(address: RedisAddress): StoreFault {
  const message = `the connection to ${addressText(address)} was lost while it was being made: read what is there once it is back`;
  return { cause: 'unknown', message };
}

function fault(address: RedisAddress, cause: FaultCause, sentence: string): StoreFault {
  return { cause, message: `the store at ${addressText(address)} keeps nothing at present: ${sentence}` };
}
