import { describe, expect, it } from 'vitest';
import { policyNamed, type ArmPrediction, type Json, type SelectionPolicy } from '../../selection/index.js';
import { MemoryStore, type StoreOutcome } from '../store/index.js';
import {
  exportState,
  NoSuchVersionError,
  pinState,
  resetState,
  rollBackState,
  SelectionStates,
  type Learned,
  type Observation,
} from './index.js';

/** Counts its observations, and fails on a label. */
const counting: SelectionPolicy<number> = {
  ...(policyNamed('static') as unknown as SelectionPolicy<number>),
  parameters: [],
  name: 'counting',
  init: () => 0,
  restore: (value) => value as number,
  reconcile: (state) => state,
  observe: (state, _selection, _predictions, { label }) => {
    if (label === 'poison') throw new Error('this label is poison');
    return state + 1;
  },
};

class Frontend {
  readonly states: SelectionStates;
  readonly became: Learned[] = [];
  nowMs = 0;

  constructor(readonly store: MemoryStore) {
    this.states = new SelectionStates({
      application: 'app',
      policy: counting,
      parameters: null,
      arms: ['m'],
      store,
      onWriteFailed: () => undefined,
      nowMs: () => this.nowMs,
    });
  }

  observe(more: Partial<Observation> & { readonly label?: string } = {}, context = ''): void {
    const predictions: ArmPrediction[] = [];
    this.states.of(context).observe({
      selection: { arms: ['m'], propensity: 1 },
      predictions,
      feedback: { label: more.label ?? 'x' },
      done: (became) => this.became.push(became),
      ...more,
    });
  }

  get count(): Json {
    return this.states.own.state;
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function outcomeOf(edit: (done: (outcome: StoreOutcome) => void) => void): Promise<StoreOutcome> {
  return new Promise(edit);
}

describe('a learned state', () => {
  it('learns what has the same marks once, by whichever frontend and in whatever order', async () => {
    const store = new MemoryStore();
    const [a, b] = [new Frontend(store), new Frontend(store)];
    for (let at = 0; at < 100; at++) {
      a.observe({ marks: [`${at}`] });
      b.observe({ marks: [`${99 - at}`, `other ${at}`] });
      if (at % 7 === 0) await settled();
    }
    await settled();
    expect([a.count, b.count]).toEqual([100, 100]);
    const all = [...a.became, ...b.became];
    expect(all.filter((became) => became === 'learned')).toHaveLength(100);
    expect(all.filter((became) => became === 'repeated')).toHaveLength(100);
  });

  it('learns one of two with the same mark that wait together', async () => {
    const a = new Frontend(new MemoryStore());
    a.observe({ marks: ['q', 'first'] });
    a.observe({ marks: ['q', 'second'] });
    await settled();
    expect(a.count).toBe(1);
    expect(a.became).toEqual(['learned', 'repeated']);
  });

  it('leaves out what its policy fails on, and nothing else of the batch', async () => {
    const store = new MemoryStore();
    const [a, b] = [new Frontend(store), new Frontend(store)];
    for (const label of ['x', 'poison', 'y']) {
      a.observe({ label });
      b.observe({ label });
    }
    await settled();
    expect([a.count, b.count]).toEqual([4, 4]);
    expect(a.became.filter((became) => became === 'poisonous')).toHaveLength(1);
    expect(a.became.filter((became) => became === 'learned')).toHaveLength(2);
  });

  it('stops when it is pinned, also for what another frontend is about to write', async () => {
    const store = new MemoryStore();
    const [a, b] = [new Frontend(store), new Frontend(store)];
    a.observe();
    await settled();
    // The pin is written, and what b learned of the state before it is refused.
    b.observe();
    const pinned = outcomeOf((done) => pinState(a.states, '', true, done));
    b.observe();
    expect(await pinned).toMatchObject({ ok: true });
    await settled();
    const stopped = a.count;
    expect(b.count).toBe(stopped);
    b.observe();
    await settled();
    expect(b.became.at(-1)).toBe('pinned');
    expect(b.became.filter((became) => became === 'learned')).toHaveLength(Number(stopped) - 1);
    expect(new Frontend(store).count).toBe(stopped);
    await outcomeOf((done) => pinState(b.states, '', false, done));
    a.observe();
    await settled();
    expect(a.count).toBe(Number(stopped) + 1);
  });

  it('is reset and taken back, with what is learned meanwhile on top', async () => {
    const a = new Frontend(new MemoryStore());
    for (let at = 0; at < 3; at++) {
      a.observe();
      a.nowMs += 2000;
      await settled();
    }
    const reset = outcomeOf((done) => resetState(a.states, '', done));
    a.observe();
    expect(await reset).toMatchObject({ ok: true });
    await settled();
    expect(a.count).toBe(1);
    const { version, past } = exportState(a.states, '');
    expect(past.map(({ state }) => state)).toEqual([1, 2, 3]);
    expect(version).toBeGreaterThan(past[2].version);
    expect(rollBackState(a.states, '', past[1].version, () => undefined)).toBe(past[1].version);
    await settled();
    expect(a.count).toBe(2);
    rollBackState(a.states, '', undefined, () => undefined);
    await settled();
    expect(a.count).toBe(1);
    expect(() => rollBackState(a.states, '', 77, () => undefined)).toThrow(NoSuchVersionError);
    expect(() => rollBackState(a.states, 'nobody', undefined, () => undefined)).toThrow(NoSuchVersionError);
  });

  it('keeps few versions that reach far back', async () => {
    const a = new Frontend(new MemoryStore());
    for (let at = 0; at < 2000; at++) {
      a.observe({}, 'user');
      a.nowMs += 1500;
      await settled();
    }
    const { past } = exportState(a.states, 'user');
    expect(past).toHaveLength(8);
    expect(past.slice(-3).map(({ state }) => state)).toEqual([1997, 1998, 1999]);
    expect(past[0].state).toBeLessThan(1500);
  });
});
