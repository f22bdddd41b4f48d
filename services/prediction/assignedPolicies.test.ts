import { describe, expect, it } from 'vitest';
import { Serving, type TestContainerOptions } from './tests/serving.js';

describe('ab', () => {
  it('keeps a context with its model, and all contexts in one state', () => {
    const serving = new Serving({ seed: 7 });
    serving.registry.addApplication('app', 'ab').addModel('old').addModel('new').link('app', 'old', 'new');
    for (const model of ['old', 'new']) serving.container({ model, output: () => model });
    const answers = new Map<string, Set<string>>();
    for (let at = 0; at < 400; at++) {
      const context = `user ${at % 40}`;
      const queryId = serving.predict(at, { context });
      serving.run();
      const { output } = serving.answer(queryId);
      answers.set(context, (answers.get(context) ?? new Set()).add(output));
      serving.feedback({ queryId, label: 'new' });
    }
    expect([...answers.values()].every((outputs) => outputs.size === 1)).toBe(true);
    expect(new Set([...answers.values()].flatMap((outputs) => [...outputs]))).toEqual(
      new Set(['old', 'new']),
    );
    const state = serving.engine.states('app')?.own.state as { judged: number[]; rewarded: number[] };
    expect(state.judged[0] + state.judged[1]).toBe(400);
    expect(state.rewarded).toEqual([0, state.judged[1]]);
    expect(serving.store.list('').map(({ key }) => key)).not.toContain('cold/selection/app/state/user%201');
  });
});

describe('shadow', () => {
  const MS = 1e6;

  function shadowed(shadow: Partial<TestContainerOptions> = {}): { serving: Serving; asked: () => number } {
    const serving = new Serving({ seed: 7 });
    serving.registry.addApplication('app', 'shadow', { model: 'old' }).addModel('old').addModel('new');
    serving.registry.link('app', 'new', 'old');
    serving.container({ model: 'old', output: () => 'old', serviceNs: () => MS });
    const container = serving.container({ model: 'new', output: () => 'new', ...shadow });
    return { serving, asked: () => container.items };
  }

  const state = (serving: Serving) => serving.engine.states('app')?.own.state;

  it('is asked and never answers; feedback judges both', () => {
    const { serving, asked } = shadowed();
    const queryId = serving.predict(1);
    serving.run();
    expect(asked()).toBe(1);
    expect(serving.answer(queryId)).toMatchObject({
      output: 'old',
      confidence: 1,
      models: [{ name: 'old' }],
    });
    serving.feedback({ queryId, label: 'new' });
    // 'new' was linked first.
    expect(state(serving)).toMatchObject({ judged: [1, 1], rewarded: [1, 0], compared: 1, agreed: 0 });
    expect(serving.engine.inFlight()).toBe(0);
  });

  it.each<[string, Partial<TestContainerOptions>]>([
    ['slow', { serviceNs: () => 1000 * MS }],
    ['silent', { manual: true }],
    [
      'failing',
      {
        answer: ({ items }) => items.map(({ id }) => ({ id, ok: false, code: 'modelError', message: 'no' })),
      },
    ],
    ['dying', { kills: () => true }],
    [
      'refusing',
      {
        answer: ({ items }) =>
          items.map(({ id }) => ({ id, ok: false, code: 'invalidInput', message: 'no' })),
      },
    ],
  ])('that is %s delays nothing and spoils nothing', (_what, options) => {
    const { serving } = shadowed(options);
    const { serving: alone } = shadowed();
    for (const one of [serving, alone]) {
      one.predict(1);
      one.run(5);
    }
    expect(serving.answers).toEqual(alone.answers);
    expect(serving.answers).toHaveLength(1);
    expect(serving.refusals).toEqual([]);
    const { queryId } = serving.answers[0];
    serving.feedback({ queryId, label: 'old' });
    expect(state(serving)).toMatchObject({ judged: [0, 1], rewarded: [0, 1], compared: 0 });
  });

  it('is withdrawn with its query', () => {
    const { serving, asked } = shadowed();
    const queryId = serving.predict(1);
    expect(serving.engine.cancel(queryId)).toBe(true);
    serving.run();
    expect(serving.answers).toEqual([]);
    expect(asked()).toBeLessThanOrEqual(1);
    expect(serving.engine.inFlight()).toBe(0);
  });
});

describe('cascade', () => {
  const MS = 1e6;

  /** 'small' is as sure as its input says: below zero not at all, and fails at 13. */
  function cascade(parameters: object, large: Partial<TestContainerOptions> = {}) {
    const serving = new Serving({ seed: 7 });
    serving.registry
      .addApplication('app', 'cascade', { ...parameters })
      .addModel('small')
      .addModel('large')
      .link('app', 'small', 'large');
    serving.container({
      model: 'small',
      answer: ({ items }) =>
        items.map(({ id, bytes }) => {
          const value = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
          if (value === 13) return { id, ok: false, code: 'modelError', message: 'unlucky' };
          const scores = new Float32Array(value < 0 ? [0.5, 0.5] : [0.99, 0.01]);
          return { id, ok: true, output: 'small', scores };
        }),
    });
    const dear = serving.container({ model: 'large', output: () => 'large', ...large });
    return { serving, dear };
  }

  const outputs = (serving: Serving) => serving.answers.map(({ output }) => output);

  it('asks the dear model only where the cheap one is not sure, or fails', () => {
    const { serving, dear } = cascade({ threshold: 0.9 });
    for (const value of [1, -1, 13, 2]) serving.predict(value);
    serving.run();
    expect(outputs(serving).sort()).toEqual(['large', 'large', 'small', 'small']);
    expect(dear.items).toBe(2);
    const sureOf = serving.answer('q0');
    expect(sureOf.confidence).toBeCloseTo(0.99, 6);
    expect(sureOf.models.map(({ name }) => name)).toEqual(['small']);
    expect(serving.answer('q1').models.map(({ name }) => name)).toEqual(['small', 'large']);
    // And again, from the cache.
    serving.predict(-1);
    serving.run();
    expect(serving.answers.at(-1)).toMatchObject({ output: 'large', cached: true });
    expect(dear.items).toBe(2);
    serving.feedback({ queryId: 'q1', label: 'large' });
    serving.feedback({ queryId: 'q0', label: 'small' });
    expect(serving.engine.states('app')?.own.state).toMatchObject({ judged: [2, 1], rewarded: [1, 1] });
    expect(serving.engine.inFlight()).toBe(0);
  });

  it('answers with the cheap model where the dear one is late, fails or is not there', () => {
    for (const large of [
      { serviceNs: () => 1000 * MS },
      { kills: () => true },
      { answer: () => [{ id: 0, ok: false, code: 'modelError', message: 'no' }] },
    ] satisfies Partial<TestContainerOptions>[]) {
      const { serving } = cascade({}, large);
      serving.predict(-1);
      serving.run(50);
      expect(outputs(serving)).toEqual(['small']);
      expect(serving.answers[0].latencyNs).toBeLessThanOrEqual(20 * MS);
    }
    const { serving } = cascade({});
    serving.registry.link('app', 'small');
    serving.predict(-1);
    serving.run();
    expect(outputs(serving)).toEqual(['small']);
  });

  it('can be cancelled while the dear model is asked', () => {
    const { serving } = cascade({}, { serviceNs: () => 5 * MS });
    const queryId = serving.predict(-1);
    serving.run(1);
    expect(serving.engine.cancel(queryId)).toBe(true);
    serving.run();
    expect(serving.answers).toEqual([]);
    expect(serving.engine.inFlight()).toBe(0);
  });

  it('learns from queries that nobody judges how sure is sure enough for its budget', () => {
    const { serving, dear } = cascade({ budget: 1.25, threshold: 0.999 });
    for (let at = 0; at < 2000; at++) {
      serving.predict(at + 100);
      serving.run();
    }
    const early = dear.items;
    expect(early).toBeGreaterThan(100);
    // All are as sure as one another: the threshold goes to and fro around them.
    expect(Math.abs(early / 2000 - 0.25)).toBeLessThan(0.1);
    const state = serving.engine.states('app')?.own.state as { spent: number };
    expect(Math.abs(state.spent - 1.25)).toBeLessThan(0.2);
  });
});
