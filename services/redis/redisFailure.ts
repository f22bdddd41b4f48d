import { reasonOf } from '../../simulator/text/index.js';

/** What keeps a Redis from doing what it was asked. */
export type RedisFailureCause =
  | 'memoryFull'
  | 'readOnly'
  | 'snapshotFailed'
  | 'loading'
  | 'clusterDown'
  | 'accessDenied'
  | 'unreachable'
  | 'other';

export interface RedisFailure {
  readonly cause: RedisFailureCause;
  /** The rest of a sentence about the Redis, with what to do, and with what was said. */
  readonly words: string;
}

/** By what Redis says; of several that fit, the first. */
const KINDS: readonly (readonly [said: RegExp, cause: RedisFailureCause, words: string])[] = [
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

/** What a failure of a command means. @param isLoading the connection is waiting for its data to be read */
export function redisFailure(error: unknown, isLoading = false): RedisFailure {
  const said = reasonOf(error);
  const kind = KINDS.find(([pattern]) => pattern.test(said));
  if (kind !== undefined) return { cause: kind[1], words: `${kind[2]} (${said})` };
  if (isLoading) return { cause: 'loading', words: 'it reads its data from disk, and answers when it has' };
  if (isAnswer(error)) return { cause: 'other', words: `it refuses what is asked (${said})` };
  return { cause: 'unreachable', words: `it cannot be reached (${said})` };
}

/** Whether Redis itself has said so: what it refuses is not done. Otherwise nobody knows what became of a command. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
