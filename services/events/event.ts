import type { AccessKey } from '../access/index.js';
import type { Json } from '../../selection/index.js';

/** Who made a change. */
export interface Author {
  /** The name of the key that was shown; `open` where nobody is asked for one; else the part of the server that acts by itself. */
  readonly name: string;
  /** The id of the key. */
  readonly key?: string;
}

/** What an event is about. */
export interface EventSubject {
  readonly application?: string;
  /** The selection context of a learned state. */
  readonly context?: string;
  readonly model?: string;
  readonly version?: string;
  readonly replica?: number;
  readonly node?: string;
  /** The id of an API key. */
  readonly key?: string;
  /** The id of queued feedback, or `all` that failed. */
  readonly feedback?: string;
  /** The name of an alert of Prometheus. */
  readonly alert?: string;
  /** More models than one. */
  readonly models?: readonly string[];
}

/** Something that was changed, or has changed. */
export interface Happening {
  /** The verb of management, or what happened by itself. */
  readonly verb: string;
  readonly about: EventSubject;
  /** What it was before and after, as management shows it; undefined: nothing. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A happening as it is kept. */
export interface ServerEvent {
  /** Grows by one with each event of an installation, whichever of its servers it was on. */
  readonly seq: number;
  /** ISO 8601, by the clock of that server. */
  readonly time: string;
  /** The server's name in `cluster status`. */
  readonly server: string;
  readonly by: Author;
  /** Nobody asked for it. */
  readonly automatic?: true;
  /** It has happened so often in a row, this being the last time; `since` is when it did first. */
  readonly count?: number;
  readonly since?: string;
  readonly verb: string;
  readonly about: EventSubject;
  readonly before?: Json;
  readonly after?: Json;
}

/** Who asks with this key. */
export function authorOf(key: AccessKey | undefined): Author {
  return key === undefined ? { name: 'open' } : { name: key.record.name, key: key.record.id };
}
