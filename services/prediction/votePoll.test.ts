import { describe, expect, it } from 'vitest';
import type { ModelVote } from './types.js';
import { inputOf, Serving } from './tests/serving.js';

const MS = 1e6;

/** Three models linked to 'app', which asks the first: one answers with scores, one fails, one is slow. */
function panel(): Serving {
  const serving = new Serving();
  serving.registry.addApplication('app');
  for (const model of ['good', 'bad', 'slow', 'away']) serving.registry.addModel(model);
  serving.registry.link('app', 'good', 'bad', 'slow', 'away');
  serving.container({
    model: 'good',
    answer: ({ items }) =>
      items.map(({ id }) => ({ id, ok: true, output: '7', scores: Float32Array.of(0.25, 0.75) })),
  });
  serving.container({
    model: 'bad',
    answer: ({ items }) => items.map(({ id }) => ({ id, ok: false, code: 'invalidInput', message: 'no' })),
  });
  serving.container({ model: 'slow', serviceNs: () => 30 * MS });
  return serving;
}

function poll(serving: Serving, value: number, budgetNs?: number): { votes?: readonly ModelVote[] } {
  const box: { votes?: readonly ModelVote[] } = {};
  const request = {
    application: 'app',
    input: inputOf(value),
    ...(budgetNs === undefined ? {} : { budgetNs }),
  };
  serving.engine.poll(request, (votes) => {
    if (box.votes !== undefined) throw new Error('called back twice');
    box.votes = votes;
  });
  return box;
}

describe('a poll of the linked models', () => {
  it('has one vote a model, in order of linking, by the deadline', () => {
    const serving = panel();
    const box = poll(serving, 1);
    serving.run(19.9);
    expect(box.votes).toBeUndefined();
    expect(serving.engine.inFlight()).toBe(1);
    serving.run(20);
    const part = { version: '1', cached: false };
    expect(box.votes).toEqual([
      { name: 'good', ...part, output: '7', scores: Float32Array.of(0.25, 0.75) },
      { name: 'bad', ...part, missing: 'model_error' },
      { name: 'slow', ...part, missing: 'deadline' },
      { name: 'away', ...part, missing: 'no_replica' },
    ]);
    expect(serving.engine.inFlight()).toBe(0);
    serving.run();
  });

  it('keeps a shorter budget, and finds late predictions in the cache the next time', () => {
    const serving = panel();
    const impatient = poll(serving, 1, 2 * MS);
    serving.run(2);
    expect(impatient.votes?.[2].missing).toBe('deadline');
    serving.run();
    const again = poll(serving, 1);
    serving.run();
    expect(again.votes?.map(({ output, cached }) => [output, cached])).toEqual([
      ['7', true],
      [undefined, false],
      ['1', true],
      [undefined, false],
    ]);
  });

  it('shares the evaluation of a query for the same input, and is nobody’s choice', () => {
    const serving = new Serving().simple();
    const container = serving.container();
    const id = serving.predict(4);
    const before = serving.engine.selectionShares('app');
    const box = poll(serving, 4);
    serving.run();
    expect(serving.answer(id).output).toBe('4');
    expect(box.votes).toMatchObject([{ output: '4' }]);
    expect(container.items).toBe(1);
    expect(serving.engine.selectionShares('app')).toEqual(before);
    expect(serving.feedback({ queryId: 'poll 0', label: '4' }).outcome?.refusal?.code).toBe('unknown_query');
  });

  it('that nobody waits for any more never reaches a model, and calls nobody back', () => {
    const serving = new Serving();
    serving.registry.addApplication('app');
    const models = ['a', 'b', 'c'];
    for (const model of models) serving.registry.addModel(model, '1', { strategy: 'fixed', maxBatchSize: 1 });
    serving.registry.link('app', ...models);
    const containers = models.map((model) => serving.container({ model, serviceNs: () => 5 * MS }));
    const first = poll(serving, 0);
    serving.run(1);
    let told = 0;
    const calls = Array.from({ length: 40 }, (_, at) =>
      serving.engine.poll({ application: 'app', input: inputOf(1 + at) }, () => told++),
    );
    const shared = poll(serving, 7);
    serving.run(2);
    for (const call of calls) expect(call?.cancel()).toBe(true);
    serving.run();
    expect(first.votes).toHaveLength(3);
    expect(shared.votes?.map(({ output }) => output)).toEqual(['7', '7', '7']);
    expect(told).toBe(0);
    // The first one and the one that somebody else waits for.
    expect(containers.map(({ items }) => items)).toEqual([2, 2, 2]);
    expect(calls[0]?.cancel()).toBe(false);
    expect(serving.engine.inFlight()).toBe(0);
  });

  it('is empty for unknown applications and bad inputs, and while draining', () => {
    const serving = new Serving().simple();
    serving.container();
    const votes: number[] = [];
    const input = inputOf(1);
    serving.engine.poll({ application: 'other', input }, ({ length }) => votes.push(length));
    serving.engine.poll({ application: 'app', input: new Uint8Array(3) }, ({ length }) => votes.push(length));
    serving.engine.drain(() => undefined);
    serving.engine.poll({ application: 'app', input }, ({ length }) => votes.push(length));
    expect(votes).toEqual([0, 0, 0]);
  });
});
