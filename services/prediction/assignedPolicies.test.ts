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
    expect(serving.store.list('selection/app/').map(({ key }) => key)).not.toContain(
      'selection/app/context/user 1',
    );
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
