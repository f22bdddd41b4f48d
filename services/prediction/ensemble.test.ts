import { describe, expect, it } from 'vitest';
import type { Json } from '../../selection/index.js';
import { inputOf, Serving } from './tests/serving.js';

const MS = 1e6;
const MODELS = ['a', 'b', 'c', 'd', 'e'];

/** Models that answer 'x', but for those named here. */
function ensemble(
  policy: string,
  parameters: Json,
  outputs: Readonly<Record<string, string>> = {},
  serviceMs: Readonly<Record<string, number>> = {},
): Serving {
  const serving = new Serving();
  serving.registry.addApplication('app', policy, parameters);
  for (const model of MODELS) serving.registry.addModel(model);
  serving.registry.link('app', ...MODELS);
  for (const model of MODELS) {
    serving.container({
      model,
      output: () => outputs[model] ?? 'x',
      serviceNs: () => (serviceMs[model] ?? 1) * MS,
    });
  }
  return serving;
}

describe.each(['majority', 'weighted', 'exp4'])('an application with policy %s', (policy) => {
  it('asks every model and says how many agree', () => {
    const serving = ensemble(policy, null, { b: 'y' });
    const answer = serving.answer(askAndWait(serving));
    expect(answer).toMatchObject({ output: 'x', isDefault: false });
    expect(answer.confidence).toBeCloseTo(0.8, 9);
    expect(answer.models.map(({ name }) => name)).toEqual(MODELS);
  });

  it('answers at the deadline with what is there; what is missing lowers confidence', () => {
    const serving = ensemble(policy, null, { b: 'y' }, { e: 50 });
    const answer = serving.answer(askAndWait(serving));
    expect(answer.output).toBe('x');
    expect(answer.confidence).toBeCloseTo(0.6, 9);
    expect(answer.latencyNs).toBe(20 * MS);
    expect(answer.models.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(serving.observer.late).toBe(1);
  });

  it('gives the default below its threshold, and says why', () => {
    const serving = ensemble(policy, { threshold: 0.9 }, { b: 'y' });
    const answer = serving.answer(askAndWait(serving));
    expect(answer).toMatchObject({ output: 'default', isDefault: true, defaultReason: 'low_confidence' });
    expect(answer.confidence).toBeCloseTo(0.8, 9);
  });
});

describe.each(['weighted', 'exp4'])('feedback to %s', (policy) => {
  it('reaches every model that answered, late ones too', () => {
    const serving = ensemble(policy, null, { a: 'y', e: 'y' }, { e: 30 });
    for (let at = 0; at < 200; at++) {
      const queryId = askAndWait(serving, at);
      serving.feedback({ queryId, label: 'x' });
    }
    const shares = serving.engine.selectionShares('app');
    expect(shares?.get('b')).toBeCloseTo(shares?.get('d') ?? NaN, 9);
    expect(shares?.get('a')).toBeLessThan(0.3 * (shares?.get('b') ?? 0));
    expect(shares?.get('e')).toBeCloseTo(shares?.get('a') ?? NaN, 9);
  });

  it('by input learns from the models that could be asked', () => {
    const serving = new Serving();
    serving.registry.addApplication('app', policy).addModel('a').addModel('b').link('app', 'a', 'b');
    serving.container({ model: 'a', output: () => 'y' });
    const box = serving.feedback({ input: inputOf(5), label: 'x' });
    serving.run();
    expect(serving.store.list('selection/app')).toHaveLength(1);
    expect(box.outcome?.accepted ?? true).toBe(true);
  });
});

function askAndWait(serving: Serving, value = 0): string {
  const id = serving.predict(value);
  serving.run();
  return id;
}
