import type { Json } from '../../selection/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { lockDirectory } from './directoryLock.js';
import type { Store, StoreChange, StoreFault, StoreOutcome, Versioned } from './store.js';
import { StoreError } from './storeError.js';
import { StoreImage } from './storeImage.js';
import { StoreThreadLine, type Put } from './thread/index.js';

type Waiting = readonly [done: (outcome: StoreOutcome) => void, outcome: StoreOutcome];

/** How often a store that cannot be written is tried. */
const TRIAL_INTERVAL_MS = 1000;

/** A trial is at least so large: room for a single page says little. */
const TRIAL_BYTES = 65_536;
const MOST_TRIAL_BYTES = 4 * 1024 * 1024;

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
      for (const [key, entry] of this.thread.entries()) this.image.load(key, entry);
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

  set(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    done?: (outcome: StoreOutcome) => void,
  ): void {
    if (this.isClosed) throw new StoreError('closed', 'the store is closed');
    if (this.present !== undefined) {
      const outcome: StoreOutcome = { ok: false, reason: 'failed', ...this.present };
      if (done !== undefined) queueMicrotask(() => done(outcome));
      return;
    }
    const before = this.image.get(key);
    // Before watchers hear of it: they may write, too.
    const isNew = !this.dirty.has(key);
    if (isNew) this.dirty.set(key, before);
    const outcome = this.image.set(key, value, expected);
    if (!outcome.ok) {
      if (isNew) this.dirty.delete(key);
      if (done !== undefined) queueMicrotask(() => done(outcome));
      return;
    }
    if (done !== undefined) this.waiting.push([done, outcome]);
    this.scheduleWrite();
  }

  watch(prefix: string, listener: (change: StoreChange) => void): () => void {
    return this.image.watch(prefix, listener);
  }

  fault(): StoreFault | undefined {
    return this.present;
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
    this.waiting = [];
    this.flushing = [];
    this.thread.submit({ kind: 'commit', puts }, ({ fault, bytes = 0 }) => {
      this.isWriting = false;
      if (fault === undefined) {
        this.underWay.clear();
        for (const [done, outcome] of waiting) done(outcome);
      } else {
        // What gathered meanwhile was built on what failed, and goes with it.
        const failed = [...waiting, ...this.waiting];
        this.waiting = [];
        this.trialBytes = Math.min(Math.max(TRIAL_BYTES, bytes), MOST_TRIAL_BYTES);
        // Refused from here on: also what watchers would write when they hear of it.
        this.present = fault;
        this.takeBack();
        this.fail(fault);
        for (const [done] of failed) done({ ok: false, reason: 'failed', ...fault });
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
    this.image.restore(former);
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
