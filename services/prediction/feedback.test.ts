import { describe, expect, it } from 'vitest';
import type { Json } from '../../selection/index.js';
import { MemoryStore, type StoreOutcome } from '../store/index.js';
import { inputOf, Serving } from './tests/serving.js';

const MS = 1e6;

/** 'good' answers the truth, 'bad' never does. */
function twoModels(store?: MemoryStore, seed = 7): Serving {
  const serving = new Serving({ seed, ...(store === undefined ? {} : { store }) });
  serving.registry
    .addApplication('app', 'exp3', { eta: 0.2 })
    .addModel('bad')
    .addModel('good')
    .link('app', 'bad', 'good');
  serving.container({ model: 'good', output: () => 'yes' });
  serving.container({ model: 'bad', output: () => 'no' });
  return serving;
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('feedback', () => {
  it('moves the weights to the arm that answers right, by query id', async () => {
    const serving = twoModels();
    expect(serving.engine.selectionShares('app')?.get('good')).toBeCloseTo(0.5, 12);
    const boxes = [];
    for (let at = 0; at < 300; at++) {
      const queryId = serving.predict(at);
      serving.run();
      boxes.push(serving.feedback({ queryId, label: 'yes' }));
    }
    await settled();
    expect(serving.engine.selectionShares('app')?.get('good')).toBeGreaterThan(0.95);
    for (const { outcome } of boxes)
      expect(outcome).toEqual({ accepted: true, joined: 'query', durable: true });
  });

  it('credits the arm that served, and nobody else', () => {
    const serving = twoModels();
    let queryId = serving.predict(0);
    serving.run();
    for (let at = 1; serving.answer(queryId).models[0]?.name !== 'bad'; at++) {
      queryId = serving.predict(at);
      serving.run();
    }
    serving.feedback({ queryId, label: 'yes' });
    const state = serving.store.get('selection/app/own')?.value as { arms: string[]; logWeights: number[] };
    expect(state.arms).toEqual(['bad', 'good']);
    expect(state.logWeights[0]).toBeCloseTo(-0.2 / 0.5, 9);
    expect(state.logWeights[1]).toBe(0);
  });

  it('learns from the first judgement of a query only, and says so', async () => {
    const serving = twoModels();
    let queryId = serving.predict(0);
    serving.run();
    const first = serving.feedback({ queryId, label: 'neither' });
    const share = serving.engine.selectionShares('app')?.get('good');
    const later = Array.from({ length: 50 }, (_, at) =>
      serving.feedback({ queryId, label: at % 2 === 0 ? 'neither' : 'yes' }),
    );
    await settled();
    expect(first.outcome).toEqual({ accepted: true, joined: 'query', durable: true });
    for (const { outcome } of later) expect(outcome).toMatchObject({ accepted: true, joined: 'repeated' });
    expect(serving.engine.selectionShares('app')?.get('good')).toBe(share);
    queryId = serving.predict(1);
    serving.run();
    expect(serving.feedback({ queryId, label: 'yes' }).outcome?.joined).not.toBe('repeated');
  });

  it('learns once under a key of its sender, also after a restart, and again where it was refused', async () => {
    const store = new MemoryStore();
    const serving = twoModels(store);
    const input = inputOf(1);
    const first = serving.feedback({ input, label: 'neither', idempotencyKey: 'k' });
    // Before anybody knows what becomes of the first.
    const beside = serving.feedback({ input, label: 'neither', idempotencyKey: 'k' });
    serving.run();
    const after = serving.feedback({ input, label: 'other', idempotencyKey: 'k' });
    await settled();
    expect(first.outcome).toEqual({ accepted: true, joined: 'evaluated', durable: true });
    for (const { outcome } of [beside, after]) {
      expect(outcome).toEqual({ accepted: true, joined: 'repeated', durable: true });
    }
    const state = store.get('selection/app/own');
    expect(state?.version).toBe(1);
    const restarted = twoModels(store);
    const again = restarted.feedback({ input, label: 'neither', idempotencyKey: 'k' });
    restarted.run();
    await settled();
    expect(again.outcome).toEqual({ accepted: true, joined: 'repeated', durable: true });
    expect(store.get('selection/app/own')).toEqual(state);
    const refused = { queryId: 'unknown', label: 'x', idempotencyKey: 'second' };
    expect(serving.feedback(refused).outcome).toMatchObject({ accepted: false });
    const taken = serving.feedback({ ...refused, queryId: serving.predict(1) });
    await settled();
    expect(taken.outcome).toMatchObject({ accepted: true, joined: 'query' });
  });

  it('joins by input with the cache, or evaluates afresh', async () => {
    const serving = new Serving();
    serving.registry.addApplication('app', 'exp3').addModel('m').link('app', 'm');
    const container = serving.container();
    const fresh = serving.feedback({ input: inputOf(5), label: '5' });
    serving.run();
    const cached = serving.feedback({ input: inputOf(5), label: '6' });
    await settled();
    expect(fresh.outcome).toEqual({ accepted: true, joined: 'evaluated', durable: true });
    expect(cached.outcome).toEqual({ accepted: true, joined: 'cache', durable: true });
    expect(container.items).toBe(1);
    expect(serving.engine.inFlight()).toBe(0);
  });

  it('is not learned from when the model could not be asked', () => {
    const serving = new Serving();
    serving.registry.addApplication('app', 'exp3').addModel('m').link('app', 'm');
    const box = serving.feedback({ input: inputOf(5), label: '5' });
    expect(box.outcome).toEqual({ accepted: false, joined: 'none', durable: false });
  });

  it('refuses what is no feedback, by name', () => {
    const serving = twoModels();
    const refusal = (more: object) => serving.feedback(more).outcome?.refusal;
    expect(refusal({ label: 3, queryId: 'q' })).toMatchObject({ code: 'invalid_input', field: 'label' });
    expect(refusal({ label: 'x', loss: '0.5', queryId: 'q' })).toMatchObject({ field: 'loss' });
    expect(refusal({ label: 'x', loss: NaN, queryId: 'q' })).toMatchObject({ field: 'loss' });
    expect(refusal({ label: 'x', queryId: 'never' })).toMatchObject({ code: 'unknown_query' });
    expect(refusal({ label: 'x' })).toMatchObject({ code: 'unknown_query' });
    expect(refusal({ label: 'x', input: new Uint8Array(0) })).toMatchObject({ field: 'input' });
    expect(refusal({ label: 'x', application: 'z' })).toMatchObject({ code: 'unknown_application' });
    expect(serving.store.list('selection/')).toEqual([]);
  });

  it('judges a prediction that came late', () => {
    const serving = new Serving();
    serving.registry
      .addApplication('app', 'exp3', { eta: 1 })
      .addModel('m')
      .addModel('n')
      .link('app', 'm', 'n');
    for (const model of ['m', 'n'])
      serving.container({ model, serviceNs: () => 30 * MS, output: () => 'yes' });
    const queryId = serving.predict(1);
    serving.run();
    expect(serving.answer(queryId).defaultReason).toBe('deadline');
    serving.feedback({ queryId, label: 'yes' });
    expect(serving.engine.selectionShares('app')?.get('m')).toBeCloseTo(0.5, 12);
  });

  it('learns for each context apart', () => {
    const serving = twoModels();
    const live = (context: string, label: string) => {
      for (let at = 0; at < 100; at++) {
        const queryId = serving.predict(at, { context });
        serving.run();
        serving.feedback({ queryId, label });
      }
    };
    const good = (context: string) => serving.engine.selectionShares('app', context)?.get('good') ?? 0;
    live('ann', 'yes');
    expect(good('ann')).toBeGreaterThan(0.9);
    // Others begin with what the application has learned of her, and soon go their own way.
    expect(good('')).toBeGreaterThan(0.9);
    expect(good('bob')).toBeGreaterThan(0.9);
    live('bob', 'no');
    expect(good('bob')).toBeLessThan(0.1);
    expect(good('ann')).toBeGreaterThan(0.9);
    serving.registry.addApplication('app', 'exp3', { eta: 0.2, prior: 0 });
    expect(good('cid')).toBeCloseTo(0.5, 12);
  });
});

describe('learned state', () => {
  it('is there again after a restart, arms kept through link and unlink', async () => {
    const store = new MemoryStore();
    const first = twoModels(store);
    for (let at = 0; at < 100; at++) {
      const queryId = first.predict(at);
      first.run();
      first.feedback({ queryId, label: 'yes' });
    }
    await settled();
    const learned = first.engine.selectionShares('app');
    const second = twoModels(store);
    expect(second.engine.selectionShares('app')).toEqual(learned);
    second.registry.addModel('third').link('app', 'bad', 'good', 'third');
    const shares = second.engine.selectionShares('app');
    expect([...(shares?.keys() ?? [])]).toEqual(['bad', 'good', 'third']);
    expect(shares?.get('third')).toBeCloseTo(1 / 3, 6);
    second.registry.removeApplication('app');
    await settled();
    expect(store.list('selection/')).toEqual([]);
  });

  it('is agreed on by two frontends that learn at once, and nobody’s feedback is lost', async () => {
    const store = new MemoryStore();
    const frontends = [twoModels(store, 1), twoModels(store, 2)];
    // Far from the floor, losses add up whatever their order: each wrong answer of 'bad' counts eta / propensity.
    let expected = 0;
    for (let at = 0; at < 40; at++) {
      for (const serving of frontends) {
        const propensity = serving.engine.selectionShares('app')?.get('bad') ?? 0;
        const queryId = serving.predict(at);
        serving.run();
        serving.feedback({ queryId, label: 'yes', loss: 0.05 });
        if (serving.answer(queryId).models[0].name === 'bad') expected -= (0.2 * 0.05) / propensity;
        else expected += (0.2 * 0.05) / (1 - propensity);
      }
      if (at % 7 === 0) await settled();
    }
    await settled();
    await settled();
    const [one, two] = frontends.map((serving) => serving.engine.selectionShares('app'));
    expect(one).toEqual(two);
    const { logWeights } = store.get('selection/app/own')?.value as { logWeights: number[] };
    expect(logWeights[0] - logWeights[1]).toBeCloseTo(expected, 9);
  });

  it('is kept in memory when the store fails, and written with the next feedback', async () => {
    class FailingStore extends MemoryStore {
      failing = true;
      override set(
        key: string,
        value: Json | undefined,
        expected: number | 'any',
        done?: (outcome: StoreOutcome) => void,
      ): void {
        if (!this.failing) super.set(key, value, expected, done);
        else
          queueMicrotask(() => done?.({ ok: false, reason: 'failed', cause: 'other', message: 'disk full' }));
      }
    }
    const store = new FailingStore();
    const serving = twoModels(store);
    const judge = () => {
      const queryId = serving.predict(serving.answers.length);
      serving.run();
      return serving.feedback({ queryId, label: 'maybe' });
    };
    const first = judge();
    await settled();
    expect(first.outcome).toEqual({ accepted: true, joined: 'query', durable: false });
    expect(serving.observer.events).toEqual(['write selection/app/own: disk full']);
    store.failing = false;
    const second = judge();
    await settled();
    expect(second.outcome?.durable).toBe(true);
    let flushed = false;
    serving.engine.flush(() => (flushed = true));
    expect(flushed).toBe(true);
    const other = twoModels(store);
    expect(other.engine.selectionShares('app')).toEqual(serving.engine.selectionShares('app'));
  });

  it('starts anew from a state that is not the policy’s', () => {
    const store = new MemoryStore();
    store.set('selection/app/own', { schema: 1, policy: 'exp9' }, 'any');
    const serving = twoModels(store);
    expect(serving.engine.selectionShares('app')?.get('good')).toBeCloseTo(0.5, 12);
  });
});
