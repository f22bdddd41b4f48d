import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { policyNamed, type Json } from '../../selection/index.js';
import { EmbeddedStore, MemoryStore, storeKey, type Store, type StoreFault } from '../store/index.js';
import { sliced } from '../store/tests/conformance.js';
import { contextOf, stateFolder } from './contextFolder.js';
import {
  ContextMemory,
  exportState,
  pinState,
  SelectionStates,
  type ContextLimits,
  type Learned,
} from './index.js';

const DAY_MS = 86_400_000;
const ARMS = ['a', 'b'];

let folder = '';
let store: Store;
let dayMs: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-contexts-'));
  store = new EmbeddedStore(folder);
  dayMs = 20_000 * DAY_MS;
});
afterEach(async () => {
  await closed();
  rmSync(folder, { recursive: true });
});

const closed = () => new Promise<void>((resolve) => store.close(resolve));
const flushed = (states: SelectionStates) =>
  new Promise<void>((resolve) => states.flush(() => store.flush(resolve)));

interface Given {
  readonly prior?: number;
  readonly memoryBytes?: number;
  readonly limits?: ContextLimits;
  readonly memory?: ContextMemory;
  readonly application?: string;
  readonly store?: Store;
}

function open({ prior = 0, memoryBytes, limits, memory, application = 'app', ...given }: Given = {}) {
  return new SelectionStates({
    application,
    policy: policyNamed('ucb1'),
    parameters: { prior, memory: null },
    arms: ARMS,
    store: given.store ?? store,
    onWriteFailed: () => undefined,
    memory: memory ?? new ContextMemory(memoryBytes),
    limits,
    nowMs: () => dayMs,
  });
}

function judge(states: SelectionStates, context: string, arm = 'a', label = 'yes'): Promise<Learned> {
  return new Promise((done) =>
    states.of(context).observe({
      selection: { arms: [arm], propensity: 1 },
      predictions: [{ arm, output: 'yes' }],
      feedback: { label },
      done,
    }),
  );
}

const read = (states: SelectionStates, context: string) =>
  new Promise<void>((resolve) => states.whenRead(context, resolve));
const judgedOf = (state: Json) => (state as unknown as { readonly judged: readonly number[] }).judged;
const kept = async (application = 'app') =>
  Object.keys(await sliced(store, stateFolder(application))).map(contextOf);
/** Until something that goes on by itself has come so far. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise<void>((resolve) => store.flush(() => setImmediate(resolve)));
}

/** Neither reads nor keeps anything. */
class AbsentStore extends MemoryStore {
  override hold(): boolean {
    return false;
  }

  override fault(): StoreFault {
    return { cause: 'unreachable', message: 'it is away' };
  }
}

describe('contexts', () => {
  it('that make room while the store is away leave nobody waiting', async () => {
    const states = open({ store: new AbsentStore(), memoryBytes: 5_000 });
    const waiting = [
      judge(states, 'early'),
      new Promise<string>((done) => states.of('early').whenRead(() => done('let go'))),
      new Promise<string>((done) =>
        states.of('early').edit({
          change: (state, isPinned) => ({ state, isPinned }),
          done: (outcome) => done(outcome.ok ? 'edited' : outcome.reason),
        }),
      ),
      new Promise<string>((done) => states.of('early').flush(() => done('flushed'))),
    ];
    for (let at = 0; at < 50; at++) states.of(`other ${at}`);
    expect(states.counts().evictions).toBeGreaterThan(0);
    expect(await Promise.all(waiting)).toEqual(['unwritten', 'let go', 'failed', 'flushed']);
  });

  it('are read from the store when they come back to memory, with all that was learned', async () => {
    const states = open({ memoryBytes: 20_000 });
    for (let round = 1; round <= 3; round++) {
      await Promise.all(Array.from({ length: 200 }, (_, at) => judge(states, `user ${at}`)));
      await flushed(states);
    }
    expect(states.counts().held).toBeLessThan(40);
    expect(states.counts().evictions).toBeGreaterThan(300);
    const cold = states.of('user 0');
    expect(cold.isKnown).toBe(false);
    // What comes meanwhile is learned on top.
    const learned = judge(states, 'user 0');
    await read(states, 'user 0');
    expect(await learned).toBe('learned');
    expect(judgedOf(states.of('user 0').state)).toEqual([4, 0]);
    for (const at of [1, 57, 199]) {
      await read(states, `user ${at}`);
      expect(judgedOf(states.of(`user ${at}`).state)).toEqual([3, 0]);
    }
    expect(await kept()).toHaveLength(200);
  });

  it('learn what is brought to one that was let go', async () => {
    const states = open({ memoryBytes: 5_000 });
    await judge(states, 'early');
    const early = states.of('early');
    for (let at = 0; at < 50; at++) await judge(states, `other ${at}`);
    expect(states.of('early')).not.toBe(early);
    const became = new Promise<Learned>((done) =>
      early.observe({
        selection: { arms: ['b'], propensity: 1 },
        predictions: [],
        feedback: { label: 'yes' },
        done,
      }),
    );
    expect(await became).toBe('learned');
    expect(judgedOf(early.state)).toEqual([1, 1]);
  });

  it('cost nothing in the store before they are learned from', async () => {
    const states = open({ memoryBytes: 50_000 });
    for (let at = 0; at < 1000; at++) await read(states, `asked ${at}`);
    await flushed(states);
    expect(await kept()).toEqual([]);
    expect(states.counts().heldBytes).toBeLessThanOrEqual(50_000);
    expect(states.counts().kept).toBe(0);
  });

  it('make room in memory among themselves, and not among those of another application', async () => {
    const memory = new ContextMemory(60_000);
    const [good, attacked] = [open({ memory, application: 'good' }), open({ memory, application: 'bad' })];
    const regulars = Array.from({ length: 10 }, (_, at) => `regular ${at}`);
    for (const name of regulars) await judge(good, name);
    for (let at = 0; at < 500; at++) await judge(attacked, `invented ${at}`);
    expect(regulars.filter((name) => !good.of(name).isKnown)).toEqual([]);
    expect(memory.bytes).toBeLessThanOrEqual(60_000);
    attacked.close();
    good.close();
    expect(memory.bytes).toBe(0);
  });

  it('are forgotten when nobody has used them for so many days, also where the process was away', async () => {
    const limits = { most: 100, ttlDays: 10 };
    let states = open({ limits });
    for (const name of ['old', 'asked', 'learned', 'pinned']) await judge(states, name);
    await new Promise((resolve) => pinState(states, 'pinned', true, resolve));
    dayMs += 6 * DAY_MS;
    states.of('asked');
    await judge(states, 'learned');
    await flushed(states);
    expect(await kept()).toHaveLength(4);
    states.close();
    await closed();
    dayMs += 5 * DAY_MS;
    store = new EmbeddedStore(folder);
    states = open({ limits });
    await until(async () => (await kept()).length === 3);
    expect(await kept()).toEqual(['asked', 'learned', 'pinned']);
    expect(states.counts()).toMatchObject({ kept: 3, expired: 1, crowdedOut: 0 });
    // Neither does one that is in memory stay for ever.
    states.of('asked');
    await read(states, 'learned');
    dayMs += 11 * DAY_MS;
    await judge(states, 'new');
    await until(async () => (await kept()).length === 2);
    expect(judgedOf(states.of('learned').state)).toEqual([0, 0]);
  });

  it('have an end to what strangers invent, and those that clients come back to stay', async () => {
    const states = open({ limits: { most: 100, ttlDays: 30 }, memoryBytes: 20_000 });
    for (let at = 0; at < 20; at++)
      for (let times = 0; times < 4; times++) await judge(states, `client ${at}`);
    for (let at = 0; at < 1000; at += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, more) => judge(states, `invented ${at + more}`)));
      await flushed(states);
    }
    await until(async () => (await kept()).length <= 120);
    const names = await kept();
    expect(names.filter((name) => name.startsWith('client'))).toHaveLength(20);
    expect(states.counts().crowdedOut).toBeGreaterThan(800);
  });

  it('teach the application, and begin with what it has learned', async () => {
    const states = open({ prior: 5 });
    for (let at = 0; at < 40; at++) {
      await judge(states, `user ${at}`, 'a', 'no');
      await judge(states, `user ${at}`, 'b');
    }
    expect(states.own.state).toMatchObject({ judged: [40, 40], rewarded: [0, 40] });
    await read(states, 'newcomer');
    expect(states.of('newcomer').state).toMatchObject({ judged: [5, 5], rewarded: [0, 5] });
    expect(await judge(states, 'newcomer', 'a', 'yes')).toBe('learned');
    expect(states.of('newcomer').state).toMatchObject({ judged: [6, 5], rewarded: [1, 5] });
    expect(states.own.state).toMatchObject({ judged: [41, 40] });
    expect(await kept()).toHaveLength(41);
  });

  it('learn once what has marks, and so does the application', async () => {
    const shared = new MemoryStore();
    const [one, other] = [open({ prior: 5, store: shared }), open({ prior: 5, store: shared })];
    const outcomes = await Promise.all(
      [one, other, one].map(
        (states) =>
          new Promise<Learned>((done) =>
            states.of('user').observe({
              selection: { arms: ['a'], propensity: 1 },
              predictions: [{ arm: 'a', output: 'yes' }],
              feedback: { label: 'yes' },
              marks: ['q1'],
              done,
            }),
          ),
      ),
    );
    expect(outcomes.filter((became) => became === 'learned')).toHaveLength(1);
    expect(outcomes.filter((became) => became === 'repeated')).toHaveLength(2);
    expect(judgedOf(one.own.state)).toEqual([1, 0]);
    expect(judgedOf(other.own.state)).toEqual([1, 0]);
  });

  it('go with their application, and one of the same name begins with none', async () => {
    const before = open();
    for (let at = 0; at < 1200; at++) void judge(before, `user ${at}`);
    await flushed(before);
    before.erase();
    const after = open();
    expect(after.of('user 7').isKnown).toBe(false);
    expect(await judge(after, 'user 7', 'b')).toBe('learned');
    expect(judgedOf(after.of('user 7').state)).toEqual([0, 1]);
    expect(await kept()).toEqual(['user 7']);
    expect(store.list('selection/').map(({ key }) => key)).toEqual([]);
  });

  it('are moved from where earlier programs kept them', async () => {
    const state = policyNamed('ucb1').observe(
      policyNamed('ucb1').init(ARMS, { memory: null, prior: 0 }),
      { arms: ['b'], propensity: 1 },
      [],
      { label: 'yes' },
    );
    store.set(storeKey('selection', 'app', 'context', 'user/1'), state, 'any');
    store.set(storeKey('selection', 'app', 'used', 'user/1'), { day: 19_990, count: 12 }, 'any');
    const states = open();
    await read(states, 'user/1');
    expect(judgedOf(states.of('user/1').state)).toEqual([0, 1]);
    await flushed(states);
    expect(store.list('selection/')).toEqual([]);
    expect(Object.values(await sliced(store, stateFolder('app')))).toEqual([
      // A query has just come with it.
      [2, { used: [20_000, 12], state }],
    ]);
  });

  it('keep earlier versions, which are in memory while somebody looks', async () => {
    const states = open();
    for (let times = 0; times < 3; times++) {
      await judge(states, 'user');
      dayMs += 2000;
      await flushed(states);
    }
    await read(states, 'user');
    const versions = await new Promise<number>((resolve) =>
      states.whenRead('user', () => resolve(exportState(states, 'user').past.length)),
    );
    expect(versions).toBe(2);
  });
});
