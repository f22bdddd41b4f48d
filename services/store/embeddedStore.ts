import { join } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';
import type { Json } from '../../selection/index.js';
import { lockDirectory } from './directoryLock.js';
import type { LogEntry, Store, StoreChange, StoreOutcome, Versioned } from './store.js';
import { StoreError } from './storeError.js';
import { StoreImage } from './storeImage.js';

/** What the files hold; grows by one when an older program could no longer read them. */
export const SCHEMA_VERSION = 1;

type LogKey = [log: string, sequence: number];
type Waiting = readonly [done: (outcome: StoreOutcome) => void, outcome: StoreOutcome];

/** What one transaction writes, and who waits for it. */
interface Group {
  readonly keys: readonly string[];
  readonly tails: readonly (readonly [log: string, entries: readonly LogEntry[]])[];
  readonly waiting: readonly Waiting[];
  readonly flushing: readonly (() => void)[];
}

const NOTHING: Group = { keys: [], tails: [], waiting: [], flushing: [] };

/**
 * A store in files of one directory (LMDB). Writes show in the memory image at once and go to disk in groups: while
 * one transaction is being synced the next gathers, and a key that is written again meanwhile is written once. What is
 * on disk is therefore always the image of some moment.
 */
export class EmbeddedStore implements Store {
  private readonly image = new StoreImage();
  private readonly root: RootDatabase<unknown, string>;
  private readonly state: Database<Versioned, string>;
  private readonly logs: Database<Json, LogKey>;
  private readonly unlock: () => void;
  /** Keys whose image is not on disk yet. */
  private readonly dirty = new Set<string>();
  /** Entries of logs that are not on disk yet, oldest first. */
  private readonly tails = new Map<string, LogEntry[]>();
  private readonly lastSequences = new Map<string, number>();
  private waiting: Waiting[] = [];
  private flushing: (() => void)[] = [];
  private isWriting = false;
  private isScheduled = false;
  private isClosed = false;

  /** @throws StoreError `inUse`, `unusable`, `schemaTooNew` */
  constructor(directory: string) {
    this.unlock = lockDirectory(directory);
    try {
      this.root = open<unknown, string>({ path: join(directory, 'store'), maxDbs: 8, encoding: 'json' });
      const meta = this.root.openDB<number, string>({ name: 'meta', encoding: 'json' });
      checkSchema(meta, directory);
      this.state = this.root.openDB<Versioned, string>({ name: 'state', encoding: 'json' });
      this.logs = this.root.openDB<Json, LogKey>({ name: 'logs', encoding: 'json' });
      for (const { key, value } of this.state.getRange()) this.image.load(key, value);
    } catch (error) {
      this.unlock();
      if (error instanceof StoreError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      throw new StoreError('unusable', `the store in ${directory} cannot be opened: ${message}`, {
        cause: error,
      });
    }
  }

  get(key: string): Versioned | undefined {
    return this.image.get(key);
  }

  list(prefix: string): readonly { readonly key: string; readonly entry: Versioned }[] {
    return this.image.list(prefix);
  }

  set(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    done?: (outcome: StoreOutcome) => void,
  ): void {
    this.refuseWhenClosed();
    const outcome = this.image.set(key, value, expected);
    if (!outcome.ok) {
      if (done !== undefined) queueMicrotask(() => done(outcome));
      return;
    }
    this.dirty.add(key);
    if (done !== undefined) this.waiting.push([done, outcome]);
    this.scheduleWrite();
  }

  watch(prefix: string, listener: (change: StoreChange) => void): () => void {
    return this.image.watch(prefix, listener);
  }

  append(log: string, value: Json, done?: (outcome: StoreOutcome) => void): void {
    this.refuseWhenClosed();
    const sequence = this.lastSequence(log) + 1;
    this.lastSequences.set(log, sequence);
    const tail = this.tails.get(log);
    if (tail === undefined) this.tails.set(log, [{ sequence, value }]);
    else tail.push({ sequence, value });
    if (done !== undefined) this.waiting.push([done, { ok: true, version: sequence }]);
    this.scheduleWrite();
  }

  read(log: string, afterSequence: number, limit: number): readonly LogEntry[] {
    const entries: LogEntry[] = [];
    const range = this.logs.getRange({ start: [log, afterSequence + 1], end: [log, Infinity], limit });
    for (const { key, value } of range) entries.push({ sequence: key[1], value });
    const lastOnDisk = entries.at(-1)?.sequence ?? afterSequence;
    for (const entry of this.tails.get(log) ?? []) {
      if (entries.length >= limit) break;
      if (entry.sequence > lastOnDisk) entries.push(entry);
    }
    return entries;
  }

  flush(done: () => void): void {
    if (!this.isWriting && !this.hasWork()) {
      queueMicrotask(done);
      return;
    }
    this.flushing.push(done);
    this.scheduleWrite();
  }

  close(done: () => void): void {
    if (this.isClosed) {
      queueMicrotask(done);
      return;
    }
    this.isClosed = true;
    this.flush(() => {
      void this.root.close().finally(() => {
        this.unlock();
        done();
      });
    });
  }

  private hasWork(): boolean {
    return this.dirty.size > 0 || this.tails.size > 0;
  }

  private refuseWhenClosed(): void {
    if (this.isClosed) throw new StoreError('closed', 'the store is closed');
  }

  private lastSequence(log: string): number {
    const known = this.lastSequences.get(log);
    if (known !== undefined) return known;
    for (const [, sequence] of this.logs.getKeys({
      start: [log, Infinity],
      end: [log, 0],
      reverse: true,
      limit: 1,
    })) {
      return sequence;
    }
    return 0;
  }

  /** What one turn of the event loop writes goes into one transaction. */
  private scheduleWrite(): void {
    if (this.isWriting || this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      void this.write();
    });
  }

  private async write(): Promise<void> {
    if (this.isWriting) return;
    this.isWriting = true;
    let group = NOTHING;
    let failure: string | undefined;
    try {
      await this.root.transaction(() => {
        // Gathered here and not before: what is put is the image of this very moment, keys and logs alike.
        group = this.gather();
        this.put(group);
      });
      for (const [log, entries] of group.tails) this.dropWritten(log, entries.length);
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      // A transaction that did not even begin has gathered nothing; its waiters must hear of it all the same.
      if (group === NOTHING) group = this.gather();
      // The image keeps the writes; the next transaction takes them along.
      for (const key of group.keys) this.dirty.add(key);
    }
    this.isWriting = false;
    for (const [done, outcome] of group.waiting) {
      done(failure === undefined ? outcome : { ok: false, reason: 'failed', message: failure });
    }
    for (const done of group.flushing) done();
    // What came meanwhile is written next. After a failure only somebody new who waits makes it try again at once.
    const isWaitedFor = this.waiting.length > 0 || this.flushing.length > 0;
    if (isWaitedFor || (failure === undefined && this.hasWork())) this.scheduleWrite();
  }

  private gather(): Group {
    const group: Group = {
      keys: [...this.dirty],
      tails: [...this.tails].map(([log, tail]) => [log, [...tail]]),
      waiting: this.waiting,
      flushing: this.flushing,
    };
    this.dirty.clear();
    this.waiting = [];
    this.flushing = [];
    return group;
  }

  /** Inside a transaction. */
  private put({ keys, tails }: Group): void {
    for (const key of keys) {
      const entry = this.image.get(key);
      if (entry === undefined) this.state.removeSync(key);
      else this.state.putSync(key, entry);
    }
    for (const [log, entries] of tails) {
      for (const entry of entries) this.logs.putSync([log, entry.sequence], entry.value);
    }
  }

  private dropWritten(log: string, count: number): void {
    const tail = this.tails.get(log);
    if (tail === undefined) return;
    if (tail.length === count) this.tails.delete(log);
    else tail.splice(0, count);
  }
}

function checkSchema(meta: Database<number, string>, directory: string): void {
  const found = meta.get('schema');
  if (found === undefined) meta.putSync('schema', SCHEMA_VERSION);
  else if (found > SCHEMA_VERSION) {
    throw new StoreError(
      'schemaTooNew',
      `the store in ${directory} has schema ${found}, this program knows up to ${SCHEMA_VERSION}; ` +
        'use the program that wrote it or another data directory',
    );
  }
}
