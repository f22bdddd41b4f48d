import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../store/index.js';
import { inputOf, Serving } from './tests/serving.js';

/** Model 'low' is right below zero, 'high' above. */
function lowAndHigh(
  policy = 'linucb',
  parameters: object = { features: ['x'] },
  store = new MemoryStore(),
): Serving {
  const serving = new Serving({ seed: 7, store });
  serving.registry
    .addApplication('app', policy, { ...parameters })
    .addModel('low')
    .addModel('high')
    .link('app', 'low', 'high');
  for (const model of ['low', 'high']) serving.container({ model, output: () => model });
  return serving;
}

/** Asks and judges; the answer. */
function round(serving: Serving, at: number, x: number): string {
  const queryId = serving.predict(at, { features: { x } });
  serving.run();
  serving.feedback({ queryId, label: x < 0 ? 'low' : 'high' });
  return serving.answer(queryId).output;
}

describe('features', () => {
  it.each(['linucb', 'lints'])('%s learns by them who is right for which query', (policy) => {
    const serving = lowAndHigh(policy);
    for (let at = 0; at < 200; at++) round(serving, at, ((at * 37) % 200) / 100 - 1);
    const answers = [-0.9, 0.9, -0.5, 0.5].map((x, at) => round(serving, 1000 + at, x));
    expect(answers).toEqual(['low', 'high', 'low', 'high']);
  });

  it('are those of the query when its feedback comes late, and of the input when it comes by that', () => {
    const serving = lowAndHigh('linucb', { features: ['x'], forgetting: 1 });
    const first = serving.predict(1, { features: { x: 2 } });
    serving.predict(2, { features: { x: -5 } });
    serving.run();
    serving.feedback({ queryId: first, label: 'low' });
    serving.feedback({ input: inputOf(1), label: 'low', features: { x: 0.25 } });
    serving.run();
    const state = serving.engine.states('app')?.own.state as {
      targets: number[][];
      factors: number[][];
    };
    // Rewards times (1, x): 'low' was right at 2 and, asked again, at 0.25.
    expect(state.targets).toEqual([
      [2, 2.25],
      [0, 0],
    ]);
    const [, one, two] = state.factors[0];
    expect(one * one + two * two).toBeCloseTo(1 + 2 ** 2 + 0.25 ** 2, 9);
  });

  it('are refused by name where the policy looks at others, with feedback too', () => {
    const serving = lowAndHigh();
    serving.predict(1, { features: { x: 1, hour: 14 } });
    const { outcome } = serving.feedback({ input: inputOf(1), label: 'low', features: { x: 1e9 } });
    expect(serving.refusals[0].refusal).toMatchObject({
      code: 'invalid_input',
      field: 'features.hour',
      message: expect.stringContaining('it takes x') as string,
    });
    expect(outcome).toMatchObject({
      accepted: false,
      refusal: { code: 'invalid_input', field: 'features.x' },
    });
    expect(serving.answers).toHaveLength(0);
  });

  it('change nothing under a policy that does not look at them, and are not kept', () => {
    const lives = [true, false].map((isWith) => {
      const serving = lowAndHigh('exp3', {});
      const outputs: string[] = [];
      for (let at = 0; at < 100; at++) {
        const features = isWith ? { any: at, thing: 1e300 } : undefined;
        const queryId = serving.predict(at, { features });
        serving.run();
        outputs.push(serving.answer(queryId).output);
        serving.feedback({ queryId, label: 'low' });
      }
      const judged = serving.engine.desk.judge({
        application: 'app',
        context: '',
        queryId: 'q7',
        label: 'low',
      });
      expect(judged).toMatchObject({ kind: 'settled' });
      return { outputs, state: JSON.stringify(serving.store.get('selection/app/own')) };
    });
    expect(lives[0]).toEqual(lives[1]);
  });
});
