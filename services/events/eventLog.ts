import type { Json } from '../../selection/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { Complaint } from '../errors/index.js';
import { storeKey, storeKeyParts, type Store } from '../store/index.js';
import { bounded } from './bounded.js';
import type { Author, Happening, ServerEvent } from './event.js';

const PREFIX = 'events/';
const SEQ_DIGITS = 12;

/** Kept of what people did, and as many again of what happened by itself: a replica that keeps dying drives out no change. */
export const MOST_EVENTS = 1000;
/** Of either, as JSON. */
const MOST_BYTES = 1024 * 1024;
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

  /** Something has happened without anybody asking for it. @param part of the server that did it */
  noteAutomatic(part: string, happening: Happening): void {
    this.add({ by: { name: part }, automatic: true, ...shown(happening) });
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

  private add(content: Omit<ServerEvent, 'seq' | 'time' | 'server'>): void {
    const { nowMs = Date.now, server, announce } = this.options;
    const { verb, ...rest } = content;
    announce(`change: ${verb}`, rest);
    this.append({ time: new Date(nowMs()).toISOString(), server, ...content }, MOST_TRIES);
  }

  private append(event: Omit<ServerEvent, 'seq'>, tries: number): void {
    const { store, complain } = this.options;
    const lost = (reason: string): void =>
      complain('an event is in the log alone: it could not be kept', { verb: event.verb, reason });
    const seq = (this.ascending().at(-1) ?? 0) + 1;
    this.unsettled.add(seq);
    try {
      store.set(keyOf(seq), event as unknown as Json, 0, (outcome) => {
        this.unsettled.delete(seq);
        this.tell();
        if (outcome.ok) this.prune(event.automatic);
        else if (outcome.reason === 'failed') lost(outcome.message);
        else if (tries > 1) this.append(event, tries - 1);
        else lost('others take every number');
      });
    } catch (error) {
      // A server that stops has closed its store.
      this.unsettled.delete(seq);
      lost(reasonOf(error));
    }
  }

  /** The oldest of a kind go, as far as there are too many. The last of all stays: numbers go on from it. */
  private prune(automatic: true | undefined): void {
    const ofKind = this.ascending().filter((seq) => this.kept.get(seq)?.event.automatic === automatic);
    let bytes = ofKind.reduce((sum, seq) => sum + (this.kept.get(seq)?.bytes ?? 0), 0);
    let count = ofKind.length;
    for (const seq of ofKind.slice(0, -1)) {
      if (count <= MOST_EVENTS && bytes <= MOST_BYTES) return;
      count -= 1;
      bytes -= this.kept.get(seq)?.bytes ?? 0;
      this.options.store.set(keyOf(seq), undefined, 'any');
    }
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
