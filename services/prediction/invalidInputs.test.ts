import { describe, expect, it } from 'vitest';
import type { ItemResult, PredictFrame } from '../../containers/protocol/index.js';
import { elementOf, Serving } from './tests/serving.js';
import type { ModelVote, QueryRefusal } from './types.js';

/** Takes nothing below 0, and says so as containers do. */
const choosy = (frame: PredictFrame): ItemResult[] =>
  frame.items.map(({ id, bytes }) =>
    elementOf(bytes) < 0
      ? { id, ok: false, code: 'invalidInput', message: 'the model takes 2 values, the input has 1' }
      : { id, ok: true, output: `${elementOf(bytes)}` },
  );

const REFUSAL: QueryRefusal = {
  code: 'invalid_input',
  field: 'input',
  message: "model 'm': the model takes 2 values, the input has 1",
};

describe('an input that only a container knows to be wrong', () => {
  it('is refused, and not answered by default', () => {
    const serving = new Serving().simple();
    serving.container({ answer: choosy });
    const good = serving.predict(1);
    serving.predict(-1);
    serving.run();
    expect(serving.answer(good).output).toBe('1');
    expect(serving.answers).toHaveLength(1);
    expect(serving.refusals.map(({ refusal }) => refusal)).toEqual([REFUSAL]);
    expect(serving.engine.inFlight()).toBe(0);
  });

  it('is refused by an application of which another model answers it', () => {
    const serving = new Serving();
    serving.registry.addApplication('app', 'majority').addModel('m').addModel('n').link('app', 'm', 'n');
    serving.container({ answer: choosy });
    serving.container({ model: 'n' });
    serving.predict(-1);
    serving.run();
    expect([serving.answers, serving.refusals]).toMatchObject([[], [{ refusal: REFUSAL }]]);
  });

  it('is refused by a model that is asked by name, and no judge of it', () => {
    const serving = new Serving().simple();
    serving.container({ answer: choosy });
    const refusals: QueryRefusal[] = [];
    const votes: ModelVote[] = [];
    const input = new Uint8Array(Float64Array.of(-1).buffer);
    serving.engine.evaluate(
      { model: 'm', version: '1', input, budgetNs: 1e9 },
      {
        onVote: (_request, vote) => votes.push(vote),
        onModelRefusal: (_request, refusal) => refusals.push(refusal),
      },
    );
    const judged = serving.feedback({ label: '1', input });
    serving.run();
    expect([votes, refusals]).toEqual([[], [REFUSAL]]);
    expect(judged.outcome).toEqual({ accepted: false, joined: 'none', durable: false, refusal: REFUSAL });
    expect(serving.engine.inFlight()).toBe(0);
  });
});

describe('inputs for a module that has never run', () => {
  const serve = (): Serving => {
    const serving = new Serving();
    serving.registry.addApplication('app').putModel({
      name: 'm',
      version: '1',
      inputType: 'doubles',
      labels: [],
      container: { kind: 'process', path: '/m.mjs' },
      batching: { strategy: 'aimd' },
    });
    serving.registry.setVersion('m', '1').link('app', 'm');
    return serving;
  };
  const input = (...values: number[]) => new Uint8Array(Float64Array.from(values).buffer);

  it('wait for it: what it takes is answered, the rest refused as soon as it says so', () => {
    const serving = serve();
    const good = serving.predict(input(1, 2));
    serving.predict(input(1, 2, 3));
    serving.run(5);
    expect([serving.answers, serving.refusals]).toEqual([[], []]);
    serving.registry.declare('m', { length: 2 });
    expect(serving.refusals).toMatchObject([{ refusal: { code: 'invalid_input', field: 'input' } }]);
    serving.container();
    serving.run();
    expect(serving.answer(good)).toMatchObject({ output: '1', isDefault: false });
    expect(serving.refusals).toHaveLength(1);
  });

  it('are answered by default at their deadline where it does not come', () => {
    const serving = serve();
    const id = serving.predict(1);
    serving.run();
    expect(serving.answer(id)).toMatchObject({ isDefault: true, defaultReason: 'no_replica' });
  });

  it('wait no more once it is known what it takes', () => {
    const serving = serve();
    serving.registry.declare('m', {});
    const id = serving.predict(1);
    expect(serving.answer(id)).toMatchObject({ isDefault: true, defaultReason: 'no_replica', latencyNs: 0 });
  });
});
