import { describe, expect, it } from 'vitest';
import type { Json, LossChoice } from '../../selection/index.js';
import { Serving } from './tests/serving.js';

interface Tally {
  readonly judged: readonly number[];
  readonly rewarded: readonly number[];
}

/** Models whose names are what they answer. */
function serving(policy: string, loss: LossChoice | undefined, models: readonly string[]): Serving {
  const one = new Serving({ seed: 7 });
  one.registry.putApplication({
    name: 'app',
    inputType: 'doubles',
    defaultOutput: 'default',
    latencyObjectiveUs: 20_000,
    policy: { name: policy, parameters: { memory: null } },
    ...(loss === undefined ? {} : { loss }),
  });
  for (const model of models) one.registry.addModel(model);
  one.registry.link('app', ...models);
  for (const model of models) one.container({ model, output: () => model });
  return one;
}

type Judged = Omit<Parameters<Serving['feedback']>[0], 'queryId'>;

function judge(one: Serving, feedback: Judged) {
  const queryId = one.predict(1);
  one.run();
  return one.feedback({ queryId, ...feedback });
}

const tally = (one: Serving) => one.engine.states('app')?.own.state as unknown as Tally;

describe('the loss of an application', () => {
  it('judges the model that served', () => {
    const one = serving('ucb1', { name: 'absolute', scale: 10 }, ['4']);
    judge(one, { label: '6' });
    judge(one, { label: '4' });
    expect(tally(one)).toMatchObject({ judged: [2], rewarded: [1.8] });
  });

  it('judges every voter by its own answer', () => {
    const one = serving('weighted', { name: 'squared', scale: 4 }, ['4', '6', '8']);
    judge(one, { label: '6' });
    expect(tally(one)).toMatchObject({ judged: [1, 1, 1], rewarded: [0.75, 1, 0.75] });
  });

  it('refuses labels that it cannot measure, and goes behind a loss that the application measured', () => {
    const one = serving('ucb1', { name: 'pinball', quantile: 0.9 }, ['4']);
    expect(judge(one, { label: 'cat' }).outcome).toMatchObject({
      accepted: false,
      refusal: {
        code: 'invalid_input',
        field: 'label',
        message: expect.stringContaining('number') as string,
      },
    });
    judge(one, { label: '4', loss: 0.25 });
    expect(tally(one)).toMatchObject({ judged: [1], rewarded: [0.75] });
  });

  it('is right or wrong unless it is said', () => {
    for (const loss of [undefined, { name: 'zeroOne' } as const]) {
      const one = serving('weighted', loss, ['4', '6']);
      judge(one, { label: '6' });
      expect(tally(one)).toMatchObject({ judged: [1, 1], rewarded: [0, 1] });
    }
  });
});

describe('partial feedback', () => {
  it('judges the models that it names, and of the others what the label says', () => {
    const one = serving('weighted', undefined, ['4', '6', '8']);
    judge(one, { losses: { 4: 0.25, 8: 1 } });
    expect(tally(one)).toMatchObject({ judged: [1, 0, 1], rewarded: [0.75, 0, 0] });
    judge(one, { losses: { 4: 1 }, label: '8' });
    expect(tally(one)).toMatchObject({ judged: [2, 1, 2], rewarded: [0.75, 0, 1] });
  });

  it('leaves the shares of those that nobody judges', () => {
    const one = serving('exp4', undefined, ['4', '6', '8']);
    const before = one.engine.selectionShares('app');
    judge(one, { losses: { 4: 1, 6: 0 } });
    const after = one.engine.selectionShares('app');
    expect(after?.get('8')).toBeCloseTo(before?.get('8') ?? NaN, 12);
    expect(after?.get('6')).toBeGreaterThan(after?.get('4') ?? NaN);
  });

  it('says nothing of a model that served and is not named', () => {
    const one = serving('ucb1', undefined, ['4', '6']);
    const queryId = one.predict(1);
    one.run();
    const other = one.answer(queryId).output === '4' ? '6' : '4';
    const { outcome } = one.feedback({ queryId, losses: { [other]: 0 } });
    expect(outcome).toMatchObject({ accepted: true, joined: 'query' });
    expect(tally(one).judged).toEqual([0, 0]);
  });

  it('needs no label: a loss is that of the model that served, and of several nobody is judged', () => {
    const single = serving('ucb1', undefined, ['4']);
    judge(single, { loss: 0.25 });
    expect(tally(single)).toMatchObject({ judged: [1], rewarded: [0.75] });
    const several = serving('weighted', undefined, ['4', '6']);
    expect(judge(several, { loss: 0.25 }).outcome).toMatchObject({ accepted: true });
    expect(tally(several).judged).toEqual([0, 0]);
  });

  it('is refused where it names a stranger, or says nothing', () => {
    const one = serving('ucb1', undefined, ['4']);
    expect(judge(one, { losses: { 5: 0 } }).outcome).toMatchObject({
      refusal: { field: 'losses.5', message: "no linked model has the name '5': linked are 4" },
    });
    expect(judge(one, {}).outcome).toMatchObject({ refusal: { field: 'label' } });
  });
});

describe('the loss of being late', () => {
  const MS = 1e6;

  /** 'slow' takes longer than the objective of 20 ms; both are right. */
  function late(
    policy: string,
    lossOfLate: number | undefined,
    parameters: Json = { memory: null },
  ): Serving {
    const one = new Serving({ seed: 7 });
    one.registry.putApplication({
      name: 'app',
      inputType: 'doubles',
      defaultOutput: 'default',
      latencyObjectiveUs: 20_000,
      policy: { name: policy, parameters },
      ...(lossOfLate === undefined ? {} : { lossOfLate }),
    });
    one.registry.addModel('slow').addModel('quick').link('app', 'slow', 'quick');
    one.container({ model: 'slow', output: () => 'x', serviceNs: () => 150 * MS, credits: 64 });
    one.container({ model: 'quick', output: () => 'x', serviceNs: () => MS });
    return one;
  }

  it('takes the traffic from a model that answers nobody in time, though nobody judges a query', () => {
    const share = (lossOfLate: number | undefined): number => {
      const one = late('epsilonGreedy', lossOfLate);
      const ids = Array.from({ length: 300 }, (_, at) => {
        const queryId = one.predict(at);
        one.run();
        return queryId;
      });
      const answers = ids.slice(100).map((queryId) => one.answer(queryId));
      return answers.filter(({ isDefault }) => !isDefault).length / answers.length;
    };
    expect(share(1)).toBeGreaterThan(0.9);
    expect(share(undefined)).toBeLessThan(0.1);
  });

  it('is what such a model lost, whatever it says later, and whatever feedback says of the default', () => {
    const one = late('ucb1', 0.75);
    const queryId = one.predict(1);
    one.run();
    expect(one.answer(queryId)).toMatchObject({ isDefault: true, defaultReason: 'deadline' });
    expect(tally(one)).toMatchObject({ judged: [1, 0], rewarded: [0.25, 0] });
    for (const feedback of [{ label: 'x' }, { loss: 0 }]) {
      expect(one.feedback({ queryId, ...feedback }).outcome).toMatchObject({
        accepted: true,
        joined: 'repeated',
      });
    }
    expect(tally(one)).toMatchObject({ judged: [1, 0], rewarded: [0.25, 0] });
  });

  it('is nothing unless it is said: then a label judges what came after all', () => {
    const one = late('ucb1', undefined);
    const queryId = one.predict(1);
    one.run();
    one.feedback({ queryId, label: 'x' });
    expect(tally(one)).toMatchObject({ judged: [1, 0], rewarded: [1, 0] });
  });

  it('judges the late one of an ensemble when somebody judges the query', () => {
    const one = late('weighted', 0.5);
    const queryId = one.predict(1);
    one.run();
    expect(tally(one)).toMatchObject({ judged: [0, 0] });
    one.feedback({ queryId, label: 'x' });
    expect(tally(one)).toMatchObject({ judged: [1, 1], rewarded: [0.5, 1] });
  });

  it('is not that of models that fail, nor of one that was named', () => {
    const one = late('ucb1', 1);
    one.registry.link('app', 'slow');
    one.predict(1, { version: '1' });
    one.run();
    expect(tally(one)).toMatchObject({ judged: [0] });
    const failing = serving('ucb1', undefined, []);
    failing.registry.addModel('none').link('app', 'none');
    failing.predict(1);
    failing.run();
    expect(tally(failing)).toMatchObject({ judged: [0] });
  });

  it('leaves the pairs of a canary alone, of which only those who serve can be late', () => {
    const one = late('canary', 1, { steps: [0.5], latency: null, errors: null });
    for (let at = 0; at < 40; at++) {
      const queryId = one.predict(at);
      one.run();
      one.feedback({ queryId, label: 'x' });
    }
    const { rails } = (one.engine.states('app')?.own.state as { trial: { rails: { loss: object } } }).trial;
    expect(rails.loss).toMatchObject({ candidate: { sum: 0 }, incumbent: { sum: 0 } });
  });
});
