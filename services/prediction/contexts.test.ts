import { describe, expect, it } from 'vitest';
import { coldFolder, coldKey, MemoryStore, type StoreFault } from '../store/index.js';
import { Serving } from './tests/serving.js';

/** Reads what is cold when it is told to. */
class SlowStore extends MemoryStore {
  readonly reading: ((fault: StoreFault | undefined) => void)[] = [];

  override hold(_key: string, done: (fault: StoreFault | undefined) => void): boolean {
    this.reading.push(done);
    return false;
  }

  read(fault?: StoreFault): void {
    for (const done of this.reading.splice(0)) done(fault);
  }
}

const OBJECTIVE_MS = 40;

/** 'user' has learned that 'n' is right, and the application that 'm' is. */
function slow() {
  const store = new SlowStore();
  const counts = { arms: ['m', 'n'], memory: null, prior: 20, schema: 1, policy: 'ucb1', exploration: 2 };
  const state = { ...counts, judged: [500, 500], rewarded: [0, 500] };
  const key = coldKey(coldFolder('selection', 'app', 'state'), 'user');
  store.set(key, { used: [Math.floor(Date.now() / 86_400_000), 9], state }, 'any');
  store.set('selection/app/own', { ...counts, judged: [500, 500], rewarded: [500, 0] }, 'any');
  const serving = new Serving({ store });
  serving.registry.addApplication('app', 'ucb1', { memory: null }, OBJECTIVE_MS * 1000);
  serving.registry.addModel('m').addModel('n').link('app', 'm', 'n');
  for (const model of ['m', 'n']) serving.container({ model, output: () => model });
  const answer = (id: string) => {
    const { output, latencyNs } = serving.answer(id);
    return { output, ms: latencyNs / 1e6 };
  };
  return { store, serving, answer };
}

describe('a context that is not in memory', () => {
  it('is read before its query is served', () => {
    const { store, serving, answer } = slow();
    const cold = serving.predict(1, { context: 'user' });
    const other = serving.predict(2);
    serving.run(5);
    // Nobody else waits.
    expect(answer(other).output).toBe('m');
    expect(serving.answers).toHaveLength(1);
    expect(serving.engine.inFlight()).toBe(1);
    store.read();
    serving.run();
    expect(answer(cold).output).toBe('n');
    // From now on it is there.
    const hot = serving.predict(3, { context: 'user' });
    serving.run();
    expect(answer(hot).output).toBe('n');
    expect(store.reading).toEqual([]);
  });

  it('is served as a new one, in time, when that takes too long, and comes when it comes', () => {
    const { store, serving, answer } = slow();
    const early = serving.predict(1, { context: 'user' });
    serving.run();
    expect(answer(early).output).toBe('m');
    expect(answer(early).ms).toBeGreaterThanOrEqual(OBJECTIVE_MS / 4);
    expect(answer(early).ms).toBeLessThan(OBJECTIVE_MS / 2);
    const feedback = serving.feedback({ queryId: early, label: 'n' });
    expect(feedback.outcome).toBeUndefined();
    store.read();
    const late = serving.predict(2, { context: 'user' });
    serving.run();
    expect(answer(late).output).toBe('n');
  });

  it('is served as a new one when it cannot be read, and read again with the next query', () => {
    const { store, serving, answer } = slow();
    const failed = serving.predict(1, { context: 'user' });
    const feedback = serving.feedback({ input: new Uint8Array(8), context: 'user', label: 'm' });
    store.read({ cause: 'ioError', message: 'the disk fails' });
    serving.run();
    expect(answer(failed).output).toBe('m');
    expect(serving.observer.events).toContain('write cold/selection/app/state/user: the disk fails');
    expect(feedback.outcome).toBeUndefined();
    const next = serving.predict(2, { context: 'user' });
    store.read();
    serving.run();
    expect(answer(next).output).toBe('n');
  });

  it('is withdrawn while it is read', () => {
    const { store, serving } = slow();
    const withdrawn = serving.predict(1, { context: 'user' });
    const other = serving.predict(2, { context: 'user' });
    let isDrained = false;
    expect(serving.engine.cancel(withdrawn)).toBe(true);
    expect(serving.engine.cancel(withdrawn)).toBe(false);
    expect(serving.engine.load('app')?.inFlight).toBe(1);
    store.read();
    serving.run();
    expect(serving.answers.map(({ queryId }) => queryId)).toEqual([other]);
    // Nothing is left of it: neither to wait for nor to learn from.
    expect(serving.feedback({ queryId: withdrawn, label: 'm' }).outcome).toMatchObject({ accepted: false });
    serving.engine.drain(() => (isDrained = true));
    expect(isDrained).toBe(true);
  });

  it('counts as in flight while it is read, and is answered when the server ends', () => {
    const { serving } = slow();
    const cold = serving.predict(1, { context: 'user' });
    expect(serving.engine.load('app')?.inFlight).toBe(1);
    let isDrained = false;
    serving.engine.drain(() => (isDrained = true));
    expect(isDrained).toBe(false);
    serving.engine.close();
    expect(serving.answers.map(({ queryId }) => queryId)).toEqual([cold]);
    expect(isDrained).toBe(true);
  });
});
