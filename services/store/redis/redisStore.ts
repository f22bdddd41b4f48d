import type { Json } from '../../../selection/index.js';
import { addressText, isAnswer } from '../../redis/index.js';
import { checkMarks } from '../markImage.js';
import type {
  ColdSlice,
  OnceOutcome,
  SharedStore,
  StoreChange,
  StoreFault,
  StoreOutcome,
  Versioned,
} from '../store.js';
import { StoreError } from '../storeError.js';
import { ChangeFollower } from './changeFollower.js';
import type { StoreConnections } from './storeConnections.js';
import type { NumberedChange } from './kept.js';
import { OptimisticImage } from './optimisticImage.js';
import { PendingWrite } from './pendingWrite.js';
import { behindFault, redisFault, unknownFault } from './redisFaults.js';
import { repairRedis } from './repairRedis.js';
import { EpochError, placeOf, readCold, readSlice, readSnapshot } from './snapshot.js';
import { storeKeys, type StoreKeys } from './storeKeys.js';
import { REDIS_SCHEMA_VERSION, WriterSession, type Seen, type WriteAnswer } from './writerSession.js';

/** How often a store that cannot be written is tried. */
const TRIAL_INTERVAL_MS = 1000;
/** After a lost connection sooner: the next one may be there at once. */
const RECONNECTION_INTERVAL_MS = 100;
/** So long a write waits to hear whether it was made, once its connection is lost. */
const LONGEST_DOUBT_MS = 10_000;
/** A refused write waits so long for the image to show why. */
const LONGEST_CATCH_UP_MS = 1000;
const LONGEST_FAREWELL_MS = 2000;

const CLOSED: StoreFault = { cause: 'other', message: 'the store is closed' };

/**
 * A store that several processes share, in a Redis. Each holds an image, fed by a stream of the changes in their order, and
 * over it shows its own writes at once. Compare-and-set is a script of Redis; what it refuses is taken back here. While
 * Redis cannot be reached or written, writes are refused at once, and the image stays.
 */
export class RedisStore implements SharedStore {
  private readonly image = new OptimisticImage();
  private readonly keys: StoreKeys;
  private readonly session: WriterSession;
  private readonly follower: ChangeFollower;
  /** Writes whose outcome is not known yet, by their number. */
  private readonly open = new Map<number, PendingWrite>();
  /** How often cold keys are held. */
  private readonly held = new Map<string, number>();
  /** Cold keys that are read, or are to be in this turn of the event loop, with who waits. */
  private readonly reading = new Map<string, ((fault: StoreFault | undefined) => void)[]>();
  private toRead: string[] = [];
  /** Writes whose callers do not know it yet. */
  private readonly unsettled = new Set<PendingWrite>();
  private nextNumber = 1;
  private isSending = false;
  private isLoaded = false;
  /** Changes are missing: everything is to be loaded. */
  private hasGap = false;
  private isClosed = false;
  private opening: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private doubtTimer: NodeJS.Timeout | undefined;
  /** Why there is no connection, where somebody has said so. */
  private connectionError: Error | undefined;
  /** Of the writer's connection, and of the follower's. */
  private writeFault: StoreFault | undefined;
  private followFault: StoreFault | undefined;
  private told: StoreFault | undefined;
  private readonly faultListeners = new Set<(fault: StoreFault | undefined) => void>();
  private flushing: { readonly left: Set<PendingWrite>; readonly done: () => void }[] = [];
  private catchingUp: { readonly seq: number; readonly act: () => void }[] = [];
  private currentAtMs = Date.now();
  /** The last change that we know of: a write of ours may be acknowledged before followers bring it. */
  private seen: Seen = { seq: 0, tip: '' };
  loads = 0;

  private constructor(private readonly to: StoreConnections) {
    this.keys = storeKeys(to.prefix);
    this.session = new WriterSession(to.commands, this.keys);
    this.follower = new ChangeFollower(to.follower, this.keys, {
      place: () =>
        this.isLoaded && !this.hasGap
          ? { epoch: this.session.epoch, seq: this.image.seq, tip: this.image.tip }
          : undefined,
      onChanges: (changes) => this.onChanges(changes),
      onCurrent: () => this.onCurrent(),
      onBreak: (kind) => (kind === 'gap' ? this.reload() : this.reopen()),
      onFailure: (error) => this.onFollowFailure(error),
    });
    to.commands.on('error', (error: Error) => (this.connectionError = error));
    to.commands.on('ready', () => {
      this.connectionError = undefined;
      if (this.isLoaded && !this.isSending) void this.reopen();
    });
    to.commands.on('close', () => this.onLost(new Error('the connection was closed')));
  }

  /**
   * @param to connected already
   * @throws StoreError `schemaTooNew`, `unusable`
   */
  static async open(to: StoreConnections): Promise<RedisStore> {
    const store = new RedisStore(to);
    try {
      await store.begin();
    } catch (error) {
      store.isClosed = true;
      store.disconnect();
      throw error;
    }
    store.follower.start();
    return store;
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
    if (times === 0) this.image.follow(key);
    const waiting = this.reading.get(key);
    if (waiting !== undefined) {
      waiting.push(done);
      return false;
    }
    if (times > 0) return true;
    this.reading.set(key, [done]);
    if (this.toRead.push(key) === 1) queueMicrotask(() => void this.readHeld());
    return false;
  }

  release(key: string): void {
    const times = this.held.get(key) ?? 0;
    if (times > 1) this.held.set(key, times - 1);
    else if (this.held.delete(key)) this.image.unfollow(key);
  }

  slice(folder: string, from: string | undefined, done: (slice: ColdSlice) => void): void {
    const fault = this.isClosed ? CLOSED : this.fault();
    if (fault !== undefined) {
      queueMicrotask(() => done({ ok: false, ...fault }));
      return;
    }
    readSlice(this.to.commands, this.keys, folder, from ?? '0').then(
      (slice) => done(this.isClosed ? { ok: false, ...CLOSED } : { ok: true, ...slice }),
      (error: unknown) => done({ ok: false, ...this.faultOf(error) }),
    );
  }

  set(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    done?: (outcome: StoreOutcome) => void,
  ): void {
    this.write(key, value, expected, [], done as ((outcome: OnceOutcome) => void) | undefined);
  }

  setOnce(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    marks: readonly string[],
    done?: (outcome: OnceOutcome) => void,
  ): void {
    checkMarks(marks);
    this.write(key, value, expected, marks, done);
  }

  watch(prefix: string, listener: (change: StoreChange) => void): () => void {
    return this.image.watch(prefix, listener);
  }

  fault(): StoreFault | undefined {
    return this.writeFault ?? this.followFault;
  }

  staleness(): StoreFault | undefined {
    return this.fault();
  }

  watchFault(listener: (fault: StoreFault | undefined) => void): () => void {
    this.faultListeners.add(listener);
    return () => this.faultListeners.delete(listener);
  }

  lagMs(): number {
    return this.fault() === undefined ? 0 : Date.now() - this.currentAtMs;
  }

  writesUnderWay(): number {
    return this.unsettled.size;
  }

  flush(done: () => void): void {
    if (this.unsettled.size === 0) queueMicrotask(done);
    else this.flushing.push({ left: new Set(this.unsettled), done });
  }

  close(done: () => void): void {
    if (this.isClosed) {
      queueMicrotask(done);
      return;
    }
    this.isClosed = true;
    const farewell = setTimeout(() => this.giveUp([...this.open.values()]), LONGEST_FAREWELL_MS);
    this.flush(() => {
      clearTimeout(farewell);
      clearTimeout(this.timer);
      clearTimeout(this.doubtTimer);
      this.catchUp(Infinity);
      this.disconnect();
      done();
    });
  }

  async repair(): Promise<void> {
    await this.reopen();
    if (this.writeFault?.cause !== 'behind') {
      const reason = this.writeFault === undefined ? 'it has lost no changes' : this.writeFault.message;
      throw new StoreError('notBehind', `the store needs no repair, or can have none: ${reason}`);
    }
    const { seq } = this.image;
    const entries = this.image.confirmedEntries();
    const epoch = await repairRedis(this.to, this.keys, { epoch: this.session.epoch, seq, entries });
    // One that was begun before knows the old epoch.
    await this.opening;
    this.session.adopt(epoch);
    await this.reload();
    await this.opening;
    await this.reopen();
    if (this.writeFault !== undefined) throw new StoreError('unusable', this.writeFault.message);
  }

  /** The place of the changes is read first: what is read then is at least as new. */
  private async readHeld(): Promise<void> {
    const keys = this.toRead;
    this.toRead = [];
    let fault = this.isClosed ? CLOSED : this.fault();
    if (fault === undefined) {
      try {
        const { seq } = await placeOf(this.to.commands, this.keys, this.session.epoch);
        for (const [key, kept] of await readCold(this.to.commands, this.keys, keys)) {
          this.image.read(key, kept, seq);
        }
      } catch (error) {
        fault =
          error instanceof EpochError ? behindFault(this.to.address, error.message) : this.faultOf(error);
      }
    }
    if (this.isClosed) fault = CLOSED;
    for (const key of keys) {
      const waiting = this.reading.get(key) ?? [];
      this.reading.delete(key);
      for (const done of waiting) {
        if (fault !== undefined) this.release(key);
        done(fault);
      }
    }
  }

  private write(
    key: string,
    value: Json | undefined,
    expected: number | 'any',
    marks: readonly string[],
    done: ((outcome: OnceOutcome) => void) | undefined,
  ): void {
    if (this.isClosed) throw new StoreError('closed', 'the store is closed');
    const fault = this.fault();
    if (fault !== undefined) {
      if (done !== undefined) queueMicrotask(() => done({ ok: false, reason: 'failed', ...fault }));
      return;
    }
    const isSeen = expected !== 'any' && expected === (this.get(key)?.version ?? 0);
    const base = isSeen ? this.image.baseOf(key) : undefined;
    const write = new PendingWrite(key, value, expected, marks, base, done);
    write.number = this.nextNumber++;
    this.open.set(write.number, write);
    this.unsettled.add(write);
    if (this.isSending) this.send(write);
    // Watchers hear of it last: they may write, too.
    this.image.add(write);
  }

  private send(write: PendingWrite): void {
    const [first] = this.open.keys();
    this.session.send(write, first - 1).then(
      (answer) => this.onAnswer(write, answer),
      (error: unknown) => this.onError(write, error),
    );
  }

  private onAnswer(write: PendingWrite, answer: WriteAnswer): void {
    // Followers may have brought it before, and who fails takes all that came behind with it.
    if (!this.open.has(write.number)) return;
    switch (answer.kind) {
      case 'ok':
        this.onMade(write, answer);
        break;
      case 'conflict':
        this.onRefused(write, answer.seq, () => {
          const current = this.image.confirmedOf(write.key);
          return { ok: false, reason: 'conflict', current };
        });
        break;
      case 'marked':
        this.onRefused(write, answer.seq, () => ({ ok: false, reason: 'marked', marks: answer.marks }));
        break;
      case 'epoch':
      case 'session':
      case 'order':
        this.isSending = false;
        void this.reopen();
    }
  }

  private onMade(
    write: PendingWrite,
    { version, seq }: { readonly version: number; readonly seq: number },
  ): void {
    this.open.delete(write.number);
    if (seq > this.seen.seq) this.seen = { seq, tip: `${this.session.id}:${write.number}` };
    this.image.made(write, version, seq);
    this.settle(write, { ok: true, version });
  }

  /** Its caller is told once it can see why: it may try again with what it sees then. */
  private onRefused(write: PendingWrite, seq: number, outcome: () => OnceOutcome): void {
    this.open.delete(write.number);
    this.whenAt(seq, () => {
      this.image.remove([write]);
      this.settle(write, outcome());
    });
  }

  private onError(write: PendingWrite, error: unknown): void {
    if (!isAnswer(error)) {
      this.onLost(error);
      return;
    }
    if (!this.open.has(write.number)) return;
    this.isSending = false;
    if (/NOSCRIPT/.test(String(error))) {
      void this.reopen();
      return;
    }
    // Those behind it come out of order, and are not made either.
    const fault = redisFault(this.to.address, error);
    this.setWriteFault(
      fault,
      [...this.open.values()].filter(({ number }) => number >= write.number),
    );
    this.tryLater(TRIAL_INTERVAL_MS);
    if (fault.cause === 'readOnly' && this.to.address.kind !== 'single') this.to.commands.disconnect(true);
  }

  /** Nobody knows what became of the writes that are under way, until there is a connection again. */
  private onLost(error: unknown): void {
    if (this.isClosed && this.open.size === 0) return;
    this.isSending = false;
    if (this.isLoaded) this.setWriteFault(this.faultOf(error), []);
    this.tryLater(RECONNECTION_INTERVAL_MS);
    if (this.doubtTimer !== undefined || this.open.size === 0) return;
    this.doubtTimer = setTimeout(() => {
      this.doubtTimer = undefined;
      if (!this.isSending) this.giveUp([...this.open.values()]);
    }, LONGEST_DOUBT_MS);
  }

  /** The connection itself knows best why there is none. Connected and not ready for commands is it where it loads. */
  private faultOf(error: unknown): StoreFault {
    const { address, commands } = this.to;
    const reason = isAnswer(error) ? error : (this.connectionError ?? error);
    return redisFault(address, reason, commands.status === 'connect');
  }

  private giveUp(writes: readonly PendingWrite[]): void {
    this.fail(writes, unknownFault(this.to.address));
  }

  private fail(writes: readonly PendingWrite[], fault: StoreFault): void {
    const lost = writes.filter(({ number }) => this.open.delete(number));
    this.image.remove(lost);
    for (const write of lost) this.settle(write, { ok: false, reason: 'failed', ...fault });
  }

  private settle(write: PendingWrite, outcome: OnceOutcome): void {
    this.unsettled.delete(write);
    write.settle(outcome);
    for (const one of this.flushing) one.left.delete(write);
    const done = this.flushing.filter(({ left }) => left.size === 0);
    this.flushing = this.flushing.filter(({ left }) => left.size > 0);
    for (const one of done) one.done();
  }

  private tryLater(ms: number): void {
    clearTimeout(this.timer);
    if (this.isClosed && this.open.size === 0) return;
    this.timer = setTimeout(() => void this.reopen(), ms);
    this.timer.unref();
  }

  /** First of all: what a start needs, it must have. */
  private async begin(): Promise<void> {
    await this.openSession();
    if (this.isLoaded) return;
    throw new StoreError('unusable', this.writeFault?.message ?? 'the store cannot be opened');
  }

  /** Begins a session anew, once at a time. */
  private reopen(): Promise<void> {
    this.opening ??= this.openSession()
      .catch((error: unknown) => {
        this.setWriteFault(this.faultOf(error), []);
        this.tryLater(isAnswer(error) ? TRIAL_INTERVAL_MS : RECONNECTION_INTERVAL_MS);
      })
      .finally(() => (this.opening = undefined));
    return this.opening;
  }

  /** @throws Error of Redis or the connection; StoreError for what will not mend by itself */
  private async openSession(): Promise<void> {
    this.isSending = false;
    clearTimeout(this.timer);
    const { session } = this;
    const opening = await session.open(this.seen);
    switch (opening.kind) {
      case 'ok':
        if (opening.isOther || this.hasGap || !this.isLoaded) await this.load();
        for (const [number, made] of opening.made) {
          const write = this.open.get(number);
          if (write !== undefined) this.onMade(write, made);
        }
        this.isSending = true;
        for (const write of this.open.values()) this.send(write);
        clearTimeout(this.doubtTimer);
        this.doubtTimer = undefined;
        this.setWriteFault(undefined, []);
        return;
      case 'newer':
        // Which of our writes the one who repaired had seen, nobody knows.
        this.giveUp([...this.open.values()]);
        session.adopt(opening.epoch);
        await this.load();
        return this.openSession();
      case 'behind':
        if (!this.isLoaded) {
          session.adopt(opening.epoch);
          if (opening.epoch !== '') await this.load();
          this.isLoaded = true;
        }
        this.giveUp([...this.open.values()]);
        this.setWriteFault(behindFault(this.to.address, opening.words), []);
        this.tryLater(TRIAL_INTERVAL_MS);
        return;
      case 'schema':
        throw new StoreError(
          'schemaTooNew',
          `the store at ${addressText(this.to.address)} has schema ${opening.schema}, this program knows up to ${REDIS_SCHEMA_VERSION}; ` +
            'use the program that wrote it or another --redis-prefix',
        );
      case 'foreign':
        throw new StoreError(
          'unusable',
          `the store at ${addressText(this.to.address)}: the key ${this.keys.state} is there without ${this.keys.meta}: another program's, or what is left of a store; choose another --redis-prefix`,
        );
    }
  }

  private async load(): Promise<void> {
    const snapshot = await readSnapshot(this.to.commands, this.keys, this.session.epoch, () =>
      this.image.followedKeys(),
    );
    this.image.load(snapshot);
    this.seen = { seq: snapshot.seq, tip: snapshot.tip };
    this.isLoaded = true;
    this.hasGap = false;
    this.loads += 1;
    this.catchUp(this.image.seq);
  }

  /** After a gap: first of all, whether this is the Redis that we know. */
  private async reload(): Promise<void> {
    this.hasGap = true;
    await this.opening;
    await this.reopen();
  }

  private onChanges(changes: readonly NumberedChange[]): void {
    const mine = `${this.session.id}:`;
    for (const change of changes) {
      const own = change.tip.startsWith(mine)
        ? this.open.get(Number(change.tip.slice(mine.length)))
        : undefined;
      if (own !== undefined) this.open.delete(own.number);
      this.image.apply(change, own);
      if (change.seq > this.seen.seq) this.seen = { seq: change.seq, tip: change.tip };
      if (own !== undefined) this.settle(own, { ok: true, version: change.change.version });
    }
    this.catchUp(this.image.seq);
  }

  private onCurrent(): void {
    this.currentAtMs = Date.now();
    if (this.followFault === undefined) return;
    this.followFault = undefined;
    this.tellFault();
  }

  private onFollowFailure(error: unknown): void {
    this.followFault = redisFault(this.to.address, error);
    this.catchUp(Infinity);
    this.tellFault();
  }

  private whenAt(seq: number, act: () => void): void {
    if (this.image.seq >= seq || this.followFault !== undefined) {
      act();
      return;
    }
    const waiting = { seq, act };
    this.catchingUp.push(waiting);
    setTimeout(() => {
      const index = this.catchingUp.indexOf(waiting);
      if (index === -1) return;
      this.catchingUp.splice(index, 1);
      act();
    }, LONGEST_CATCH_UP_MS).unref();
  }

  private catchUp(seq: number): void {
    const ready = this.catchingUp.filter((one) => one.seq <= seq);
    this.catchingUp = this.catchingUp.filter((one) => one.seq > seq);
    for (const { act } of ready) act();
  }

  /** Refused from here on: also what watchers would write when they hear what is taken back. */
  private setWriteFault(fault: StoreFault | undefined, failed: readonly PendingWrite[]): void {
    this.writeFault = fault;
    if (fault !== undefined) this.fail(failed, fault);
    this.tellFault();
  }

  private tellFault(): void {
    const fault = this.fault();
    if (fault?.cause === this.told?.cause) return;
    this.told = fault;
    for (const listener of [...this.faultListeners]) listener(fault);
  }

  private disconnect(): void {
    this.follower.stop();
    this.to.commands.disconnect();
  }
}
