import { describe, expect, it } from 'vitest';
import { inputOf, Serving } from './tests/serving.js';

const MS = 1e6;

describe('the way of a prediction', () => {
  it('answers from the model, then from the cache', () => {
    const serving = new Serving().simple();
    const container = serving.container();
    const first = serving.predict(3);
    serving.run();
    const second = serving.predict(3);
    expect(serving.answer(first)).toMatchObject({
      output: '3',
      isDefault: false,
      cached: false,
      confidence: 1,
      models: [{ name: 'm', version: '1', cached: false }],
      latencyNs: 1000,
    });
    expect(serving.answer(second)).toMatchObject({ output: '3', cached: true, latencyNs: 0 });
    expect(container.items).toBe(1);
    expect(serving.engine.inFlight()).toBe(0);
  });

  it('answers with the default and the reason', () => {
    const serving = new Serving();
    serving.registry.addApplication('app');
    const unlinked = serving.predict(1);
    serving.registry.addModel('m').link('app', 'm');
    const noReplica = serving.predict(1);
    expect(serving.answer(unlinked)).toMatchObject({
      isDefault: true,
      output: 'default',
      defaultReason: 'no_linked_model',
      models: [],
      confidence: 0,
    });
    expect(serving.answer(noReplica).defaultReason).toBe('no_replica');
  });

  it('answers at the deadline, and a late prediction still fills the cache', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 });
    const container = serving.container({ serviceNs: () => 50 * MS });
    const late = serving.predict(5);
    const impatient = serving.predict(6, { budgetNs: 2 * MS });
    serving.run();
    expect(serving.answer(late)).toMatchObject({ defaultReason: 'deadline', latencyNs: 20 * MS });
    expect(serving.answer(impatient)).toMatchObject({ defaultReason: 'deadline', latencyNs: 2 * MS });
    expect(serving.observer.late).toBe(2);
    const again = serving.predict(5);
    expect(serving.answer(again)).toMatchObject({ output: '5', cached: true });
    expect(container.items).toBe(2);
  });

  it('refuses what cannot be a query, and stays in service (empty input)', () => {
    const serving = new Serving();
    serving.registry.addApplication('app').addModel('m', '1', { strategy: 'aimd' }, 1).link('app', 'm');
    const container = serving.container();
    serving.predict(new Uint8Array(0));
    serving.predict(new Uint8Array(7));
    serving.predict(inputOf(1, 2));
    serving.predict(1, { application: 'nobody' });
    serving.predict(1, { version: '9' });
    serving.predict(1, { context: '\ud800' });
    expect(serving.refusals.map(({ refusal }) => [refusal.code, refusal.field])).toEqual([
      ['invalid_input', 'input'],
      ['invalid_input', 'input'],
      ['invalid_input', 'input'],
      ['unknown_application', 'application'],
      ['unknown_version', 'version'],
      ['invalid_input', 'context'],
    ]);
    const ids = Array.from({ length: 100 }, (_, at) => serving.predict(at));
    serving.run();
    for (const [at, id] of ids.entries()) expect(serving.answer(id).output).toBe(`${at}`);
    expect(container.items).toBe(100);
  });

  it('gives every one of 32 concurrent queries its own output, in batches', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 });
    const container = serving.container();
    const ids = Array.from({ length: 32 }, (_, at) => serving.predict(at * 17));
    serving.run();
    for (const [at, id] of ids.entries()) expect(serving.answer(id).output).toBe(`${at * 17}`);
    expect(container.sizes).toEqual([8, 8, 8, 8]);
  });

  it('lets one bad item fail alone in its batch', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 16 });
    serving.container({
      answer: (frame) =>
        frame.items.map((item) =>
          item.id === 3
            ? { id: 3, ok: false, code: 'modelError', message: 'boom' }
            : { id: item.id, ok: true, output: `${item.id}` },
        ),
    });
    const ids = Array.from({ length: 16 }, (_, at) => serving.predict(at));
    serving.run();
    expect(serving.answers.filter((answer) => answer.isDefault)).toHaveLength(1);
    expect(serving.answer(ids[3]).defaultReason).toBe('model_error');
  });

  it('keeps a throwing sink from the other queries of the batch', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 4 });
    serving.container();
    const thrower = {
      onAnswer: () => {
        throw new Error('of the caller');
      },
      onRefusal: () => undefined,
    };
    serving.engine.predict({ id: 'x', application: 'app', context: '', input: inputOf(1) }, thrower);
    const id = serving.predict(2);
    serving.run();
    expect(serving.answer(id).output).toBe('2');
    expect(serving.observer.events).toEqual(['sink: Error: of the caller']);
  });

  it('drains: refuses new queries, completes the rest', () => {
    const serving = new Serving().simple();
    serving.container();
    const id = serving.predict(1);
    let drained = 0;
    serving.engine.drain(() => (drained += 1));
    serving.predict(2);
    expect(serving.refusals[0].refusal.code).toBe('shutting_down');
    expect(drained).toBe(0);
    serving.run();
    expect(serving.answer(id).output).toBe('1');
    expect(drained).toBe(1);
    serving.engine.drain(() => (drained += 1));
    expect(drained).toBe(2);
  });

  it('closes with an answer for everybody', () => {
    const serving = new Serving().simple();
    const container = serving.container({ manual: true });
    const id = serving.predict(1);
    serving.run(1);
    serving.engine.close();
    expect(serving.answer(id).isDefault).toBe(true);
    expect(container.closed).toBe(true);
    expect(serving.clock.nextEventNs()).toBeUndefined();
  });
});
