import { addressText, isRefused, type RedisAddress } from '../../redis/index.js';
import { reasonOf } from '../../../simulator/text/index.js';
import type { FaultCause, StoreFault } from '../store.js';

/** By what Redis says; of several that fit, the first. */
const KINDS: readonly (readonly [said: RegExp, cause: FaultCause, sentence: string])[] = [
  [/\bOOM\b/, 'memoryFull', 'its memory is full: raise its maxmemory, or make room'],
  [/\bREADONLY\b/, 'readOnly', 'it is a read-only replica: give the address of the primary'],
  [/\bMISCONF\b/, 'snapshotFailed', 'it cannot write to its disk, and refuses changes for that'],
  [/\bNOREPLICAS\b/, 'snapshotFailed', 'it has fewer replicas than it is told to have'],
  [/\bLOADING\b/, 'loading', 'it reads its data from disk, and answers when it has'],
  [/\bCLUSTERDOWN\b/, 'clusterDown', 'its cluster is down: some of its slots have no node'],
  [
    /\b(WRONGPASS|NOAUTH|NOPERM)\b|without any password|can't run this command|no permissions/i,
    'accessDenied',
    'it refuses the user, the password or what the user does',
  ],
  [/\bWRONGTYPE\b/, 'other', 'another program has replaced a key under the prefix'],
];

/** What a failure of a command means. */
export function redisFault(address: RedisAddress, error: unknown, isLoading = false): StoreFault {
  const said = reasonOf(error);
  const kind = KINDS.find(([pattern]) => pattern.test(said));
  if (kind !== undefined) return fault(address, kind[1], `${kind[2]} (${said})`);
  if (isLoading) return fault(address, 'loading', 'it reads its data from disk, and answers when it has');
  if (isRefused(error)) return fault(address, 'other', `it refuses what is asked (${said})`);
  return fault(address, 'unreachable', `it cannot be reached (${said})`);
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
