import type { Json } from '../../selection/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { Complaint } from '../errors/index.js';
import { storeKey, storeKeyParts, type Store } from '../store/index.js';
import { bounded } from './bounded.js';
import type { Author, Happening, ServerEvent } from './event.js';

const PREFIX = 'events/';
const SEQ_DIGITS = 12;

/** Kept of what people did, and as many again of what happened by itself, and of alerts: a replica that keeps dying drives out no change. */
export const MOST_EVENTS = 1000;
/** Of either, as JSON. */
const MOST_BYTES = 1024 * 1024;
/** What happens again within so long of the last time is counted there: restarts of what is broken wait no longer. */
const AGAIN_MS = 10 * 60_000;
/** Several servers may take the same number at once; each of them then takes a later one. */
const MOST_TRIES = 64;

export interface EventLogOptions {
  readonly store: Store;
  /** The server's name. */
  readonly server: string;
  /** Every event is a line of the log, also one that cannot be kept. */
  readonly announce: Complaint;
  readonly complain: Complaint;
  /** The calendar; the wall's unless given. */
  readonly nowMs?: () => number;
}

type Content = Omit<ServerEvent, 'seq' | 'time' | 'server'>;

interface Kept {
  readonly event: ServerEvent;
  readonly bytes: number;
}

/** Which events are asked for. */
export interface EventQuery {
  /** Later than this number: the first that come after it; otherwise the last ones. */
  readonly after?: number | undefined;
  /** Earlier than this number. */
  readonly before?: number | undefined;
  readonly sinceMs?: number | undefined;
  readonly application?: string | undefined;
  readonly model?: string | undefined;
  readonly limit: number;
}

/**
 * What was changed, by whom, and what happened by itself: the last events, kept in the store, so that all servers that share
 * it have the same. Nothing waits for an event: one that the store does not keep is in the log alone.
 */
export class EventLog {
  /** By number. */
  private readonly kept = new Map<number, Kept>();
  /**
   * Numbers that are asked for and may be somebody else's: they, and those behind them, are told once that is known. Whoever goes
   * on from the last one that was told misses none and gets none twice.
   */
  private readonly unsettled = new Set<number>();
  /** The numbers, ascending. */
  private numbers: number[] | undefined;
  private readonly listeners = new Set<() => void>();
  private readonly unwatch: () => void;

  constructor(private readonly options: EventLogOptions) {
    const { store } = options;
    for (const { key, entry } of store.list(PREFIX)) this.apply(key, entry.value);
    this.unwatch = store.watch(PREFIX, ({ key, value }) => {
      this.apply(key, value?.value);
      if (value !== undefined) this.tell();
    });
  }

  /** Somebody has made a change. */
  note(by: Author, happening: Happening): void {
    this.add({ by, ...shown(happening) });
  }

  /**
   * Something has happened without anybody asking for it. What has no state before it, and happens again and again, is one event,
   * with a count: it has a number of its own each time, so that those who follow hear of it.
   * @param part of the server that did it
   */
  noteAutomatic(part: string, happening: Happening): void {
    const content = { by: { name: part }, automatic: true, ...shown(happening) } as const;
    const former = this.formerOf(content);
    if (former === undefined) {
      this.add(content);
      return;
    }
    const { count = 1, since = former.time } = former;
    this.add({ ...content, count: count + 1, since }, former.seq);
  }

  /** The last ones, the oldest first. */
  recent(limit = 100): readonly ServerEvent[] {
    return this.find({ limit }).events;
  }

  /** Those that are asked for, the oldest first. `more`: there are others beyond the limit, on the side that it cuts. */
  find(query: EventQuery): { readonly events: readonly ServerEvent[]; readonly more: boolean } {
    const { after, before = Infinity, sinceMs, application, model, limit } = query;
    const events = this.told()
      .filter((seq) => seq > (after ?? 0) && seq < before)
      .flatMap((seq) => this.kept.get(seq)?.event ?? [])
      .filter((event) => sinceMs === undefined || Date.parse(event.time) >= sinceMs)
      .filter(({ about }) => application === undefined || about.application === application)
      .filter(({ about }) => model === undefined || about.model === model || about.models?.includes(model));
    const found = after === undefined ? events.slice(-limit) : events.slice(0, limit);
    return { events: found, more: found.length < events.length };
  }

  /** The number of the last event; 0: there was none yet. */
  get last(): number {
    return this.told().at(-1) ?? 0;
  }

  /** Called after each event, those of other servers among them; returns the unsubscriber. */
  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.unwatch();
  }

  /** The last time that the same has happened, if that was not long ago. */
  private formerOf({ verb, about, before }: Content): ServerEvent | undefined {
    if (before !== undefined) return undefined;
    const sinceMs = this.nowMs() - AGAIN_MS;
    const same = JSON.stringify(about);
    for (const seq of [...this.ascending()].reverse()) {
      const event = this.kept.get(seq)?.event;
      if (event === undefined || Date.parse(event.time) < sinceMs) return undefined;
      const isSame =
        kindOf(event) === 'automatic' && event.verb === verb && JSON.stringify(event.about) === same;
      if (isSame) return event;
    }
    return undefined;
  }

  private nowMs(): number {
    return (this.options.nowMs ?? Date.now)();
  }

  /** @param former the number of an event that this one takes the place of */
  private add(content: Content, former?: number): void {
    const { server, announce } = this.options;
    const { verb, ...rest } = content;
    announce(`change: ${verb}`, rest);
    this.append({ time: new Date(this.nowMs()).toISOString(), server, ...content }, MOST_TRIES, former);
  }

  private append(event: Omit<ServerEvent, 'seq'>, tries: number, former: number | undefined): void {
    const { store, complain } = this.options;
    const lost = (reason: string): void =>
      complain('an event is in the log alone: it could not be kept', { verb: event.verb, reason });
    const seq = (this.ascending().at(-1) ?? 0) + 1;
    this.unsettled.add(seq);
    try {
      store.set(keyOf(seq), event as unknown as Json, 0, (outcome) => {
        this.unsettled.delete(seq);
        this.tell();
        if (outcome.ok) {
          if (former !== undefined) store.set(keyOf(former), undefined, 'any');
          this.prune(kindOf(event));
        } else if (outcome.reason === 'failed') lost(outcome.message);
        else if (tries > 1) this.append(event, tries - 1, former);
        else lost('others take every number');
      });
    } catch (error) {
      // A server that stops has closed its store.
      this.unsettled.delete(seq);
      lost(reasonOf(error));
    }
  }

  /**
   * As far as there are too many of a kind, the oldest go; of those that happened by themselves the oldest of the subject that has
   * the most: what keeps happening drives out nothing else. The last of all stays: numbers go on from it.
   */
  private prune(kind: Kind): void {
    const ofKind = this.ascending().filter((seq) => {
      const kept = this.kept.get(seq);
      return kept !== undefined && kindOf(kept.event) === kind;
    });
    const bytesOf = (seq: number): number => this.kept.get(seq)?.bytes ?? 0;
    let bytes = ofKind.reduce((sum, seq) => sum + bytesOf(seq), 0);
    let count = ofKind.length;
    if (count <= MOST_EVENTS && bytes <= MOST_BYTES) return;
    const subjects = new Map<string, number[]>();
    for (const seq of ofKind.slice(0, -1)) {
      const subject = kind === 'change' ? '' : this.subjectOf(seq);
      const numbers = subjects.get(subject);
      if (numbers === undefined) subjects.set(subject, [seq]);
      else numbers.push(seq);
    }
    while (count > MOST_EVENTS || bytes > MOST_BYTES) {
      const most = [...subjects.values()].reduce(
        (one, other) => (other.length > one.length ? other : one),
        [],
      );
      const seq = most.shift();
      if (seq === undefined) return;
      count -= 1;
      bytes -= bytesOf(seq);
      this.options.store.set(keyOf(seq), undefined, 'any');
    }
  }

  /** What an event is about, whichever replica or version of it. */
  private subjectOf(seq: number): string {
    const { verb, about } = this.kept.get(seq)?.event ?? {};
    return JSON.stringify([verb, about?.application, about?.model, about?.node]);
  }

  private apply(key: string, value: Json | undefined): void {
    const seq = Number(storeKeyParts(key)[1]);
    this.numbers = undefined;
    if (value === undefined) this.kept.delete(seq);
    else {
      const event = { seq, ...(value as unknown as Omit<ServerEvent, 'seq'>) };
      this.kept.set(seq, { event, bytes: JSON.stringify(value).length });
    }
  }

  private told(): readonly number[] {
    const end = Math.min(...this.unsettled);
    return end === Infinity ? this.ascending() : this.ascending().filter((seq) => seq < end);
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }

  private ascending(): readonly number[] {
    return (this.numbers ??= [...this.kept.keys()].sort((a, b) => a - b));
  }
}

type Kind = 'change' | 'automatic' | 'alert';

/** None drives out those of another. */
function kindOf({ automatic, verb }: Pick<ServerEvent, 'automatic' | 'verb'>): Kind {
  if (automatic === undefined) return 'change';
  return verb.startsWith('alert_') ? 'alert' : 'automatic';
}

function keyOf(seq: number): string {
  return storeKey('events', String(seq).padStart(SEQ_DIGITS, '0'));
}

function shown({
  verb,
  about,
  before,
  after,
}: Happening): Pick<ServerEvent, 'verb' | 'about' | 'before' | 'after'> {
  const [then, now] = [bounded(before), bounded(after)];
  return {
    verb,
    about: (bounded(about) ?? {}) as ServerEvent['about'],
    ...(then === undefined ? {} : { before: then }),
    ...(now === undefined ? {} : { after: now }),
  };
}
