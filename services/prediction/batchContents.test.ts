import { describe, expect, it } from 'vitest';
import type { ItemResult, PredictFrame } from '../../containers/protocol/index.js';
import { elementOf, inputOf, Serving, type TestContainer } from './tests/serving.js';

const MS = 1e6;
const fixed = (maxBatchSize: number) => ({ strategy: 'fixed', maxBatchSize }) as const;

/** All elements of an item's input. */
function elements(bytes: Uint8Array): number[] {
  return Array.from({ length: bytes.length / 8 }, (_, at) => elementOf(bytes.subarray(8 * at)));
}

describe('what shares a batch', () => {
  it('gets its own answer, whatever the order of the results: 32 clients, 32 tokens', () => {
    const serving = new Serving().simple(fixed(32));
    const container = serving.container({ manual: true });
    const tokens = Array.from({ length: 32 }, (_, at) => Math.sqrt(at + 2));
    const ids = tokens.map((token) => serving.predict(token));
    serving.run(1);
    expect(container.sizes).toEqual([32]);
    const results = container.resultsOf(container.frames[0]);
    container.give(container.frames[0], [...results.slice(20).reverse(), ...results.slice(0, 20)]);
    expect(ids.map((id) => serving.answer(id).output)).toEqual(tokens.map(String));
  });

  it('leaves nothing behind for a batch after it: sizes 10, 2, 10, again and again', () => {
    const serving = new Serving().simple(fixed(10));
    const sum = (bytes: Uint8Array): number => elements(bytes).reduce((total, one) => total + one, 0);
    const container = serving.container({ output: ({ bytes }) => `${sum(bytes)}` });
    const asked = new Map<string, Uint8Array>();
    for (let round = 0; round < 30; round++) {
      const size = round % 2 === 0 ? 10 : 2;
      for (let at = 0; at < size; at++) {
        const input = inputOf(
          ...Array.from({ length: 1 + ((round + at) % 7) }, (_, place) => 100 * round + at + place),
        );
        asked.set(serving.predict(input), input);
      }
      serving.run();
    }
    expect(container.sizes).toEqual(Array.from({ length: 30 }, (_, round) => (round % 2 === 0 ? 10 : 2)));
    for (const [id, input] of asked) expect(serving.answer(id).output).toBe(`${sum(input)}`);
  });

  it('is never more than the model takes: client batches of 5, at most 8 together', () => {
    const serving = new Serving().simple({ strategy: 'aimd' });
    const container = serving.container({ maxBatchSize: 8, credits: 2, serviceNs: () => MS });
    const ids: string[] = [];
    for (let batch = 0; batch < 40; batch++) {
      for (let at = 0; at < 5; at++) ids.push(serving.predict(5 * batch + at));
      if (batch % 4 === 3) serving.run(serving.clock.nowNs() / MS + 5);
    }
    serving.run();
    expect(Math.max(...container.sizes)).toBe(8);
    for (const [at, id] of ids.entries()) expect(serving.answer(id).output).toBe(`${at}`);
  });

  it('is what waits and nothing else: a batch is never padded, in any strategy', () => {
    for (const batching of [{ strategy: 'aimd' }, { strategy: 'quantile' }, fixed(64)] as const) {
      const serving = new Serving().simple(batching);
      const container = serving.container({ credits: 2 });
      for (let at = 0; at < 100; at++) {
        serving.predict(at);
        if (at % 3 === 0) serving.run();
      }
      serving.run();
      const seen = container.frames.flatMap(({ items }) => items.map(({ bytes }) => elementOf(bytes)));
      expect(seen).toEqual(Array.from({ length: 100 }, (_, at) => at));
    }
  });

  it('is nobody who went away or came too late', () => {
    const serving = new Serving().simple(fixed(8), 20_000);
    const container = serving.container({ serviceNs: () => 15 * MS });
    serving.predict(0);
    serving.run(1);
    const gone = serving.predict(1);
    const late = serving.predict(2, { budgetNs: 5 * MS });
    const kept = serving.predict(3);
    serving.engine.cancel(gone);
    serving.run();
    const seen = container.frames.flatMap(({ items }) => items.map(({ bytes }) => elementOf(bytes)));
    expect(seen).toEqual([0, 3]);
    expect(serving.answer(late).defaultReason).toBe('deadline');
    expect(serving.answers.some(({ queryId }) => queryId === kept)).toBe(true);
  });
});

describe('results that are no answer to the batch', () => {
  /** Four queries in one batch at a container that answers `answer`; then one more at a container that is well again. */
  function afterGarbage(answer: (frame: PredictFrame, container: TestContainer) => ItemResult[]) {
    const serving = new Serving().simple(fixed(4));
    const container = serving.container({ manual: true });
    const ids = [0, 1, 2, 3].map((value) => serving.predict(value));
    serving.run(1);
    container.give(container.frames[0], answer(container.frames[0], container));
    const next = serving.predict(9);
    serving.run(2);
    container.give(container.frames[1], container.resultsOf(container.frames[1]));
    expect(serving.answer(next).output).toBe('9');
    expect(serving.engine.replicas()).toHaveLength(1);
    return { serving, reasons: ids.map((id) => serving.answer(id).defaultReason) };
  }

  it.each([0, 1, 3])(
    'fail what they leave out, and the replica serves on: %d outputs for 4 inputs',
    (count) => {
      const { serving, reasons } = afterGarbage((frame, container) =>
        container.resultsOf(frame).slice(0, count),
      );
      expect(reasons).toEqual([0, 1, 2, 3].map((at) => (at < count ? undefined : 'model_error')));
      expect(serving.observer.events).toEqual([`protocol r0: answered ${count} of 4 items of batch 1`]);
    },
  );

  it('may be one too many: the others count', () => {
    const { serving, reasons } = afterGarbage((frame, container) => [
      ...container.resultsOf(frame),
      { id: 4, ok: true, output: 'extra' },
    ]);
    expect(reasons).toEqual([undefined, undefined, undefined, undefined]);
    expect(serving.observer.events).toEqual(['protocol r0: answered item 4 of batch 1, which is not open']);
  });

  it.each([NaN, 0.5, -1, 1e9, Infinity])('may name item %d, which nobody asked for', (id) => {
    const { reasons } = afterGarbage((frame, container) => [
      { id, ok: true, output: 'stray' },
      ...container.resultsOf(frame),
    ]);
    expect(reasons).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('may hold no numbers: scores come through as they are, one for each class', () => {
    const serving = new Serving().simple();
    const scores = new Float32Array([NaN, Infinity, -Infinity, 1]);
    serving.container({
      answer: ({ items }) => items.map(({ id }) => ({ id, ok: true, output: 'NaN', scores })),
    });
    const votes: unknown[] = [];
    serving.engine.evaluate(
      { model: 'm', version: '1', input: inputOf(1), budgetNs: 10 * MS },
      { onVote: (_request, vote) => votes.push(vote), onModelRefusal: () => undefined },
    );
    const id = serving.predict(2);
    serving.run();
    expect(votes).toMatchObject([{ output: 'NaN', scores }]);
    expect(serving.answer(id)).toMatchObject({ output: 'NaN', isDefault: false });
  });

  it.each([NaN, Infinity, -Infinity, -5])(
    'may have taken %d ns: the round trip is taken instead',
    (serviceNs) => {
      const serving = new Serving().simple(fixed(4));
      const container = serving.container({ manual: true });
      for (let batch = 0; batch < 10; batch++) {
        serving.run(2 * batch);
        serving.predict(batch);
        serving.run(2 * batch + 1);
        container.give(container.frames[batch], container.resultsOf(container.frames[batch]), serviceNs);
      }
      expect(serving.engine.replicas()[0].itemNs).toBeCloseTo(MS, -1);
      expect(serving.observer.events).toHaveLength(10);
    },
  );
});
