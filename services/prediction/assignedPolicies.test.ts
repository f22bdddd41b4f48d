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

  describe('with a model that is up and does not answer', () => {
    const HANGS = { manual: true };

    /** Of three models, each by its name; those that are known have answered often enough that their times are known. */
    function chain(options: Readonly<Record<string, Partial<TestContainerOptions>>>, objectiveMs = 20) {
      const serving = new Serving({ seed: 7 });
      const models = Object.keys(options);
      serving.registry.addApplication('app', 'cascade', null, objectiveMs * 1000);
      for (const model of models) {
        serving.registry.addModel(model).addApplication(`of ${model}`, 'static').link(`of ${model}`, model);
        const answer: TestContainerOptions['answer'] = ({ items }) =>
          items.map(({ id }) => ({ id, ok: true, output: model, scores: new Float32Array([0.99, 0.01]) }));
        serving.container({ model, answer, ...options[model] });
      }
      serving.registry.link('app', ...models);
      const warm = (model: string): void => {
        for (let at = 0; at < 20; at++) {
          serving.predict(1000 + at, { application: `of ${model}` });
          serving.run();
        }
      };
      return { serving, warm, askedAtMs: () => serving.clock.nowNs() / MS };
    }

    const outcome = (serving: Serving, queryId: string) => {
      const { output, latencyNs, models } = serving.answer(queryId);
      return { output, ms: latencyNs / MS, models: models.map(({ name }) => name) };
    };

    it('asks the next one at half of the time, while nobody knows what that takes', () => {
      const { serving } = chain({ small: HANGS, large: { serviceNs: () => MS } });
      const queryId = serving.predict(1);
      serving.run(30);
      expect(outcome(serving, queryId)).toEqual({ output: 'large', ms: 11, models: ['large'] });
      expect(serving.engine.inFlight()).toBe(0);
    });

    it('sooner, where the next one usually takes more than the other half', () => {
      const { serving, warm } = chain({ small: HANGS, large: { serviceNs: () => 12 * MS } });
      warm('large');
      const queryId = serving.predict(1);
      serving.run(serving.clock.nowNs() / MS + 30);
      // 20 less 1.25 x 12 is 5: 12 from then on.
      expect(outcome(serving, queryId)).toEqual({ output: 'large', ms: 17, models: ['large'] });
    });

    it('not before a slow one has had what it usually takes', () => {
      const { serving, warm } = chain({
        small: { serviceNs: () => 13 * MS },
        large: { serviceNs: () => MS },
      });
      warm('small');
      const queryId = serving.predict(1);
      serving.run();
      expect(outcome(serving, queryId)).toEqual({ output: 'small', ms: 13, models: ['small'] });
    });

    it('passes over one after the other', () => {
      const { serving } = chain({ a: HANGS, b: HANGS, c: { serviceNs: () => MS } });
      const queryId = serving.predict(1);
      serving.run(30);
      expect(outcome(serving, queryId)).toEqual({ output: 'c', ms: 16, models: ['c'] });
      const state = serving.engine.states('app')?.own.state as { spent: number; answered: number[] };
      serving.engine.flush(() => undefined);
      expect(state.answered).toEqual([0, 0, 0]);
      expect((serving.engine.states('app')?.own.state as { answered: number[] }).answered).toEqual([0, 0, 1]);
    });

    it('counts an answer that comes in time after all, and waits for it again where the next one fails', () => {
      const late = chain({ small: { serviceNs: () => 12 * MS }, large: { serviceNs: () => 5 * MS } });
      let queryId = late.serving.predict(1);
      late.serving.run(30);
      expect(outcome(late.serving, queryId)).toEqual({ output: 'large', ms: 15, models: ['small', 'large'] });
      const fails: TestContainerOptions['answer'] = ({ items }) =>
        items.map(({ id }) => ({ id, ok: false, code: 'modelError', message: 'no' }));
      const alone = chain({ small: { serviceNs: () => 15 * MS }, large: { answer: fails } });
      queryId = alone.serving.predict(1);
      alone.serving.run(30);
      expect(outcome(alone.serving, queryId)).toEqual({ output: 'small', ms: 15, models: ['small'] });
    });

    it('answers with the default at the deadline where nobody answers, and leaves nothing behind', () => {
      const { serving } = chain({ small: HANGS, large: HANGS });
      const queryId = serving.predict(1);
      const cancelled = serving.predict(2);
      serving.run(12);
      expect(serving.engine.cancel(cancelled)).toBe(true);
      serving.run(30);
      expect(serving.answer(queryId)).toMatchObject({ isDefault: true, defaultReason: 'deadline' });
      expect(serving.answer(queryId).latencyNs).toBe(20 * MS);
      expect(serving.engine.inFlight()).toBe(0);
    });

    it('does not ask a next one that was unlinked meanwhile', () => {
      const { serving } = chain({ small: { serviceNs: () => 15 * MS }, large: {} });
      const queryId = serving.predict(1);
      serving.registry.link('app', 'small');
      serving.run(30);
      expect(outcome(serving, queryId)).toEqual({ output: 'small', ms: 15, models: ['small'] });
    });
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

describe('canary', () => {
  const MS = 1e6;

  function canary(candidate: Partial<TestContainerOptions> = {}, parameters: object = {}) {
    const serving = new Serving({ seed: 7 });
    serving.registry
      .addApplication('app', 'canary', { steps: [0.5], ...parameters })
      .addModel('old')
      .addModel('new')
      .link('app', 'old', 'new');
    serving.container({ model: 'old', output: () => 'old', serviceNs: () => MS });
    serving.container({ model: 'new', output: () => 'new', serviceNs: () => MS, ...candidate });
    const ask = (queries: number, label?: string): void => {
      for (let at = 0; at < queries; at++) {
        const queryId = serving.predict(serving.answers.length + 1);
        serving.run();
        if (label !== undefined) serving.feedback({ queryId, label });
      }
    };
    const trial = () => {
      serving.engine.flush(() => undefined);
      return (serving.engine.states('app')?.own.state as { trial: object | null }).trial;
    };
    return { serving, ask, trial };
  }

  const outputs = (serving: Serving) => new Set(serving.answers.map(({ output }) => output));

  it('is withdrawn by labels of queries that it did not answer, too', () => {
    const { serving, ask, trial } = canary();
    ask(60, 'old');
    expect(trial()).toMatchObject({ phase: 'withdrawn', reason: expect.stringMatching(/^loss: /) as string });
    const before = serving.answers.length;
    ask(20);
    expect(new Set(serving.answers.slice(before).map(({ output }) => output))).toEqual(new Set(['old']));
  });

  it('spoils no answer when it fails: the other one is asked', () => {
    const fails: TestContainerOptions['answer'] = ({ items }) =>
      items.map(({ id }) => ({ id, ok: false, code: 'modelError', message: 'no' }));
    const { serving, ask, trial } = canary({ answer: fails });
    ask(60);
    expect(outputs(serving)).toEqual(new Set(['old']));
    expect(serving.answers.every(({ isDefault }) => !isDefault)).toBe(true);
    expect(trial()).toMatchObject({
      phase: 'withdrawn',
      reason: expect.stringMatching(/^errors: /) as string,
    });
  });

  it('is withdrawn when it is slow, by the time that it takes and not by what the cache saves', () => {
    const { ask, trial } = canary({ serviceNs: () => 5 * MS });
    ask(300);
    expect(trial()).toMatchObject({
      phase: 'withdrawn',
      reason: expect.stringMatching(/^latency: .* slower than 1\.\d+ ms/) as string,
    });
  });

  it('is not blamed while no replica of it is up', () => {
    const serving = new Serving({ seed: 7 });
    serving.registry
      .addApplication('app', 'canary', { steps: [0.5] })
      .addModel('old')
      .addModel('new');
    serving.registry.link('app', 'old', 'new');
    serving.container({ model: 'old', output: () => 'old' });
    for (let at = 0; at < 100; at++) serving.predict(at);
    serving.run();
    expect(outputs(serving)).toEqual(new Set(['old']));
    serving.engine.flush(() => undefined);
    expect(serving.engine.states('app')?.own.state).toMatchObject({ trial: { phase: 'ramping', asked: 0 } });
  });
});
