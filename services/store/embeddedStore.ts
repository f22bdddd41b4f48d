import type { Json } from '../../selection/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { lockDirectory } from './directoryLock.js';
import { MarkImage, checkMarks } from './markImage.js';
import type {
  ColdEntry,
  ColdSlice,
  OnceOutcome,
  Store,
  StoreChange,
  StoreFault,
  StoreOutcome,
  Versioned,
} from './store.js';
import { StoreError } from './storeError.js';
import { StoreImage } from './storeImage.js';
import { isCold } from './coldKeys.js';
import { SLICE, StoreThreadLine, type Put, type ReadingTask, type TaskDone } from './thread/index.js';

/** Waits for a transaction: told that it is durable, or why not. */
type Waiting = (fault: StoreFault | undefined) => void;

/** How often a store that cannot be written is tried. */
const TRIAL_INTERVAL_MS = 1000;

/** A trial is at least so large: room for a single page says little. */
const TRIAL_BYTES = 65_536;
const MOST_TRIAL_BYTES = 4 * 1024 * 1024;

const CLOSED: StoreFault = { cause: 'other', message: 'the store is closed' };

const READ_ONLY: StoreFault = {
  cause: 'readOnly',
  message: 'the data directory keeps nothing at present: its file system is read-only',
};

/**
 * A store in files of one directory (LMDB, in a thread). Writes show in the memory image at once and go to disk in groups:
 * while one transaction is being synced the next gathers, and a key that is written again meanwhile is written once. What
 * is on disk is therefore always the image of some moment. When a transaction fails, the image goes back to what is on
 * disk; from then on writes are refused at once, until a trial succeeds.
 */
export class EmbeddedStore implements Store {
  private readonly image = new StoreImage();
  private readonly thread: StoreThreadLine;
  private unlock: (() => void) | undefined;
  /** Keys whose image is not on disk yet, with what was there when they were first written. */
  private dirty = new Map<string, Versioned | undefined>();
  /** The same of the transaction under way. */
  private underWay = new Map<string, Versioned | undefined>();
  private readonly marks = new MarkImage();
  /** Marks that are not on disk yet, and those of the transaction under way. */
  private dirtyMarks = new Set<string>();
  private marksUnderWay = new Set<string>();
  /** How often cold keys are held. */
  private readonly held = new Map<string, number>();
  /** Cold keys that are read, or are to be in this turn of the event loop, with who waits. */
  private readonly reading = new Map<string, ((fault: StoreFault | undefined) => void)[]>();
  private toRead: string[] = [];
  private waiting: Waiting[] = [];
  private flushing: (() => void)[] = [];
  private isWriting = false;
  private isScheduled = false;
  private isClosed = false;
  private present: StoreFault | undefined;
  private readonly faultListeners = new Set<(fault: StoreFault | undefined) => void>();
  private trialTimer: NodeJS.Timeout | undefined;
  private isTrying = false;
  private trialBytes = TRIAL_BYTES;

  /** @throws StoreError `inUse`, `unusable`, `schemaTooNew` */
  constructor(private readonly directory: string) {
    this.unlock = lockDirectory(directory);
    this.thread = new StoreThreadLine(directory, this.unlock === undefined);
    try {
      const { entries, marks } = this.thread.content();
      for (const [key, entry] of entries) this.image.load(key, entry);
      for (const [generation, mark] of marks) this.marks.add([mark], generation);
    } catch (error) {
      this.unlock?.();
      throw error;
    }
    if (this.unlock === undefined) this.fail(READ_ONLY);
  }

  get(key: string): Versioned | undefined {
    return this.image.get(key);
  }

  list(prefix: string): readonly { readonly key: string; readonly entry: Versioned }[] {
    return this.image.list(prefix);
  }

  hold(key: string, done: (fault: StoreFault | undefined) => void): boolean {
    const times = this.held.get(key) ?? 0;
    this.held.set(key, times + 1);
    const waiting = this.reading.get(key);
    if (waiting !== undefined) {
      waiting.push(done);
      return false;
    }
    if (times > 0 || this.isUnwritten(key)) return true;
    this.reading.set(key, [done]);
    if (this.toRead.push(key) === 1) queueMicrotask(() => this.read());
    return false;
  }

  release(key: string): void {
    const times = this.held.get(key) ?? 0;
    if (times > 1) this.held.set(key, times - 1);
    else if (this.held.delete(key) && !this.isUnwritten(key)) this.image.forget(key);
  }

  slice(folder: string, from: string | undefined, done: (slice: ColdSlice) => void): void {
    this.ask({ kind: 'slice', folder, from }, ({ fault, entries = [] }) => {
      if (fault !== undefined) {
        done({ ok: false, ...fault });
        return;
      }
      const next = entries.length < SLICE ? undefined : entries[entries.length - 1][0];
      done({ ok: true, entries: entries.map(([key, text]) => coldEntry(key, text)), next });
    });
  }

  set(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    done?: (outcome: StoreOutcome) => void,
  ): void {
    if (this.isRefused(done)) return;
    this.put(key, value, expected, done);
  }

  setOnce(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    marks: readonly string[],
    done?: (outcome: OnceOutcome) => void,
  ): void {
    checkMarks(marks);
    if (this.isRefused(done)) return;
    const there = this.marks.there(marks);
    if (there.length === 0) {
      // Before watchers hear of it: they may write, too.
      this.marks.add(marks);
      for (const mark of marks) this.dirtyMarks.add(mark);
      if (this.put(key, value, expected, done)) return;
      this.marks.remove(marks);
      for (const mark of marks) this.dirtyMarks.delete(mark);
      return;
    }
    if (done === undefined) return;
    const outcome: OnceOutcome = { ok: false, reason: 'marked', marks: there };
    // A mark that is not durable yet may still go: only what is done may be called so.
    if (there.some((mark) => this.dirtyMarks.has(mark) || this.marksUnderWay.has(mark))) {
      this.waiting.push((fault) => done(fault === undefined ? outcome : failed(fault)));
      this.scheduleWrite();
    } else queueMicrotask(() => done(outcome));
  }

  watch(prefix: string, listener: (change: StoreChange) => void): () => void {
    return this.image.watch(prefix, listener);
  }

  fault(): StoreFault | undefined {
    return this.present;
  }

  staleness(): undefined {
    return undefined;
  }

  watchFault(listener: (fault: StoreFault | undefined) => void): () => void {
    this.faultListeners.add(listener);
    return () => this.faultListeners.delete(listener);
  }

  flush(done: () => void): void {
    if (!this.isWriting && this.dirty.size === 0) {
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
    clearTimeout(this.trialTimer);
    this.flush(() => {
      this.thread.close(() => {
        this.unlock?.();
        done();
      });
    });
  }

  private isRefused(done: ((outcome: StoreOutcome) => void) | undefined): boolean {
    if (this.isClosed) throw new StoreError('closed', 'the store is closed');
    if (this.present === undefined) return false;
    const outcome = failed(this.present);
    if (done !== undefined) queueMicrotask(() => done(outcome));
    return true;
  }

  /** @returns whether it is written, which is not to say that it is durable */
  private put(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    done: ((outcome: StoreOutcome) => void) | undefined,
  ): boolean {
    const before = this.image.get(key);
    // What is not in the image is deleted as it was read, or written whatever it is: nobody else changes it.
    if (before === undefined && isCold(key) && !this.held.has(key) && value === undefined) expected = 'any';
    // Before watchers hear of it: they may write, too.
    const isNew = !this.dirty.has(key);
    if (isNew) this.dirty.set(key, before);
    const outcome = this.image.set(key, value, expected);
    if (!outcome.ok) {
      if (isNew) this.dirty.delete(key);
      if (done !== undefined) queueMicrotask(() => done(outcome));
      return false;
    }
    if (done !== undefined) this.waiting.push((fault) => done(fault === undefined ? outcome : failed(fault)));
    this.scheduleWrite();
    return true;
  }

  /** What one turn of the event loop writes goes into one transaction. */
  private scheduleWrite(): void {
    if (this.isWriting || this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.write();
    });
  }

  private write(): void {
    if (this.isWriting) return;
    this.isWriting = true;
    const puts: Put[] = [...this.dirty.keys()].map((key) => [key, this.image.get(key)]);
    const { waiting, flushing } = this;
    this.underWay = this.dirty;
    this.dirty = new Map();
    this.marksUnderWay = this.dirtyMarks;
    this.dirtyMarks = new Set();
    this.waiting = [];
    this.flushing = [];
    const marks = {
      made: [...this.marksUnderWay],
      generation: this.marks.present,
      oldest: this.marks.oldest,
    };
    this.thread.submit({ kind: 'commit', puts, marks }, ({ fault, bytes = 0 }) => {
      this.isWriting = false;
      if (fault === undefined) {
        const written = this.underWay;
        this.underWay = new Map();
        this.marksUnderWay.clear();
        this.forgetCold(written.keys());
        for (const settle of waiting) settle(undefined);
      } else {
        // What gathered meanwhile was built on what failed, and goes with it.
        const lost = [...waiting, ...this.waiting];
        this.waiting = [];
        this.trialBytes = Math.min(Math.max(TRIAL_BYTES, bytes), MOST_TRIAL_BYTES);
        // Refused from here on: also what watchers would write when they hear of it.
        this.present = fault;
        this.takeBack();
        this.fail(fault);
        for (const settle of lost) settle(fault);
      }
      for (const done of flushing) done();
      if (this.dirty.size > 0 || this.flushing.length > 0) this.scheduleWrite();
    });
  }

  /** The image goes back to what is on disk. */
  private takeBack(): void {
    const former = new Map([...this.dirty, ...this.underWay]);
    this.dirty.clear();
    this.underWay.clear();
    for (const marks of [this.dirtyMarks, this.marksUnderWay]) {
      this.marks.remove(marks);
      marks.clear();
    }
    this.image.restore(former);
    this.forgetCold(former.keys());
  }

  private isUnwritten(key: string): boolean {
    return this.dirty.has(key) || this.underWay.has(key);
  }

  /** Those of them that nobody holds. */
  private forgetCold(keys: Iterable<string>): void {
    for (const key of keys) {
      if (isCold(key) && !this.held.has(key) && !this.isUnwritten(key)) this.image.forget(key);
    }
  }

  /** Of what the files hold. Whoever hears of it after the store was closed could write nothing. */
  private ask(task: ReadingTask, done: TaskDone): void {
    if (this.isClosed) queueMicrotask(() => done({ fault: CLOSED }));
    else this.thread.submit(task, (outcome) => done(this.isClosed ? { fault: CLOSED } : outcome));
  }

  private read(): void {
    const keys = this.toRead;
    this.toRead = [];
    this.ask({ kind: 'read', keys }, ({ fault, texts = [] }) => {
      for (const [at, key] of keys.entries()) {
        const waiting = this.reading.get(key) ?? [];
        this.reading.delete(key);
        const text = texts[at];
        // Whoever has written it meanwhile knew that it need not be known.
        if (text !== undefined && this.held.has(key) && !this.isUnwritten(key)) {
          const { version, json } = coldEntry(key, text);
          this.image.load(key, { value: JSON.parse(json) as Json, version });
        }
        for (const done of waiting) {
          if (fault !== undefined) this.release(key);
          done(fault);
        }
      }
    });
  }

  private fail(fault: StoreFault): void {
    this.present = fault;
    if (!this.isClosed && !this.isTrying) this.scheduleTrial();
    for (const listener of [...this.faultListeners]) listener(fault);
  }

  private scheduleTrial(): void {
    clearTimeout(this.trialTimer);
    this.trialTimer = setTimeout(() => this.tryAgain(), TRIAL_INTERVAL_MS);
    this.trialTimer.unref();
  }

  private tryAgain(): void {
    if (this.unlock === undefined) {
      try {
        this.unlock = lockDirectory(this.directory);
      } catch (error) {
        this.present = { cause: 'readOnly', message: reasonOf(error) };
      }
      if (this.unlock === undefined) {
        this.scheduleTrial();
        return;
      }
    }
    this.isTrying = true;
    this.thread.submit({ kind: 'trial', bytes: this.trialBytes }, ({ fault }) => {
      this.isTrying = false;
      if (this.isClosed) return;
      this.present = fault;
      if (fault === undefined) for (const listener of [...this.faultListeners]) listener(undefined);
      else this.scheduleTrial();
    });
  }
}

/** Of what the files hold. */
function coldEntry(key: string, text: string): ColdEntry {
  const space = text.indexOf(' ');
  return { key, version: Number(text.slice(0, space)), json: text.slice(space + 1) };
}

function failed(fault: StoreFault): StoreOutcome {
  return { ok: false, reason: 'failed', ...fault };
}
