import { describe, expect, it } from 'vitest';
import type { ModelCall, ModelCallSink, ModelRequest, ModelVote, QueryRefusal } from './types.js';
import { inputOf, Serving } from './tests/serving.js';

const MS = 1e6;

class Outcome implements ModelCallSink {
  vote: ModelVote | undefined;
  refusal: QueryRefusal | undefined;
  call: ModelCall | undefined;

  onVote(_request: ModelRequest, vote: ModelVote): void {
    if (this.vote !== undefined) throw new Error('called back twice');
    this.vote = vote;
  }

  onModelRefusal(_request: ModelRequest, refusal: QueryRefusal): void {
    this.refusal = refusal;
  }
}

function ask(serving: Serving, value: number, more: Partial<ModelRequest> = {}): Outcome {
  const outcome = new Outcome();
  const request = { model: 'm', version: '1', input: inputOf(value), budgetNs: 10 * MS, ...more };
  outcome.call = serving.engine.evaluate(request, outcome);
  return outcome;
}

/** 'm' has two versions and is linked to nothing. */
function unlinked(): Serving {
  const serving = new Serving();
  serving.registry.addModel('m', '1').addModel('m', '2');
  return serving;
}

describe('a model asked by name', () => {
  it('answers without any application, at the version that is named, with its scores', () => {
    const serving = unlinked();
    serving.container();
    serving.container({
      version: '2',
      answer: ({ items }) =>
        items.map(({ id }) => ({ id, ok: true, output: 'b', scores: Float32Array.of(1) })),
    });
    const first = ask(serving, 3);
    const second = ask(serving, 3, { version: '2' });
    serving.run();
    expect(first.vote).toEqual({ name: 'm', version: '1', cached: false, output: '3' });
    expect(second.vote).toEqual({
      name: 'm',
      version: '2',
      cached: false,
      output: 'b',
      scores: Float32Array.of(1),
    });
  });

  it('shares the cache and evaluations in flight with queries', () => {
    const serving = new Serving().simple();
    const container = serving.container();
    const query = serving.predict(5);
    const joined = ask(serving, 5);
    serving.run();
    const hit = ask(serving, 5);
    expect([serving.answer(query).output, joined.vote?.output, hit.vote?.output]).toEqual(['5', '5', '5']);
    expect(hit.vote?.cached).toBe(true);
    expect(container.items).toBe(1);
  });

  it('is told of its deadline, once, and what comes late fills the cache', () => {
    const serving = unlinked();
    serving.container({ serviceNs: () => 30 * MS });
    const late = ask(serving, 1);
    serving.run(9.9);
    expect(late.vote).toBeUndefined();
    expect(serving.engine.inFlight()).toBe(1);
    serving.run(10);
    expect(late.vote).toMatchObject({ missing: 'deadline' });
    expect(serving.engine.inFlight()).toBe(0);
    serving.run();
    expect(ask(serving, 1).vote).toMatchObject({ output: '1', cached: true });
  });

  it('tells why there is no answer: no replica, a failing model', () => {
    const serving = unlinked();
    expect(ask(serving, 1).vote).toMatchObject({ missing: 'no_replica' });
    serving.container({
      answer: ({ items }) => items.map(({ id }) => ({ id, ok: false, code: 'modelError', message: 'no' })),
    });
    const failed = ask(serving, 1);
    serving.run();
    expect(failed.vote).toMatchObject({ missing: 'model_error' });
  });

  it('never reaches the model once cancelled, unless somebody else waits for the same', () => {
    const serving = unlinked();
    const container = serving.container({ serviceNs: () => 2 * MS });
    ask(serving, 1);
    const alone = ask(serving, 2);
    const shared = ask(serving, 3);
    const other = ask(serving, 3);
    expect(alone.call?.cancel()).toBe(true);
    expect(alone.call?.cancel()).toBe(false);
    expect(shared.call?.cancel()).toBe(true);
    serving.run();
    expect([alone.vote, shared.vote, other.vote?.output]).toEqual([undefined, undefined, '3']);
    expect(container.items).toBe(2);
  });

  it('is refused for an unknown version, a bad input, and while draining; a drain waits for what is open', () => {
    const serving = new Serving();
    serving.registry.addModel('m', '1', { strategy: 'aimd' }, 1);
    serving.container();
    expect(ask(serving, 1, { version: '9' }).refusal?.code).toBe('unknown_version');
    expect(ask(serving, 1, { input: new Uint8Array() }).refusal?.code).toBe('invalid_input');
    expect(ask(serving, 1, { input: inputOf(1, 2) }).refusal?.code).toBe('invalid_input');
    const open = ask(serving, 1);
    let drained = false;
    serving.engine.drain(() => (drained = true));
    expect(drained).toBe(false);
    expect(ask(serving, 2).refusal?.code).toBe('shutting_down');
    serving.run();
    expect([open.vote?.output, drained]).toEqual(['1', true]);
  });

  it('is answered when the engine closes', () => {
    const serving = unlinked();
    serving.container({ manual: true });
    const open = ask(serving, 1);
    serving.engine.close();
    expect(open.vote).toMatchObject({ missing: 'deadline' });
  });
});
