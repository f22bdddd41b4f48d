import { describe, expect, it } from 'vitest';
import { Serving } from './tests/serving.js';

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
