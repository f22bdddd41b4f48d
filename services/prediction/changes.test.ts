import { describe, expect, it } from 'vitest';
import { inputOf, Serving } from './tests/serving.js';

const MS = 1e6;

describe('changes while queries run', () => {
  it('switches a version: queries keep the one that they were given, later ones get the new one', () => {
    const serving = new Serving().simple();
    serving.container({ output: () => 'old', serviceNs: () => 5 * MS });
    const before = serving.predict(1);
    serving.run(1);
    serving.registry.addModel('m', '2');
    serving.container({ version: '2', output: () => 'new' });
    const after = serving.predict(1);
    serving.run();
    expect(serving.answer(before)).toMatchObject({ output: 'old', models: [{ name: 'm', version: '1' }] });
    expect(serving.answer(after)).toMatchObject({ output: 'new', models: [{ name: 'm', version: '2' }] });
    serving.registry.setVersion('m', '1');
    expect(serving.answer(serving.predict(1))).toMatchObject({ output: 'old', cached: true });
  });

  it('answers from a pinned version, and learns nothing from it', () => {
    const serving = new Serving();
    serving.registry.addApplication('app', 'exp3').addModel('m').addModel('m', '2').addModel('n', '2');
    serving.registry.link('app', 'm');
    serving.container({ version: '1', output: () => 'old' });
    const id = serving.predict(1, { version: '1' });
    serving.run();
    expect(serving.answer(id)).toMatchObject({ output: 'old', models: [{ version: '1' }] });
    expect(serving.feedback({ queryId: id, label: 'x' }).outcome?.accepted).toBe(true);
    expect(serving.store.list('selection/')).toEqual([]);
    serving.registry.link('app', 'm', 'n');
    serving.predict(1, { version: '2' });
    expect(serving.refusals[0].refusal.message).toMatch(/several models linked to application 'app'/);
  });

  it('closes the replicas of a deleted version and forgets its predictions', () => {
    const serving = new Serving().simple();
    const container = serving.container({ manual: true });
    const kept = serving.predict(2);
    serving.run(1);
    container.give(container.frames[0], container.resultsOf(container.frames[0]));
    const id = serving.predict(1);
    serving.run(2);
    serving.registry.removeModel('m', '1');
    expect(serving.answer(kept).output).toBe('2');
    expect(serving.answer(id).defaultReason).toBe('no_replica');
    expect(container.closed).toBe(true);
    expect(serving.engine.cacheStats()).toMatchObject({ entries: 0, removals: 1 });
    expect(serving.answer(serving.predict(3)).defaultReason).toBe('no_linked_model');
    expect(serving.engine.replicas()).toEqual([]);
  });

  it('serves an application that was removed and added again with another default', () => {
    const serving = new Serving().simple();
    serving.engine.inFlight();
    serving.registry.removeApplication('app');
    serving.predict(1);
    expect(serving.refusals[0].refusal.code).toBe('unknown_application');
    serving.registry.addApplication('app').link('app', 'm');
    expect(serving.answer(serving.predict(1)).defaultReason).toBe('no_replica');
  });

  it('sizes batches for the most impatient application of a model', () => {
    const serving = new Serving().simple(undefined, 1_000_000);
    serving.registry.addApplication('quick', 'static', null, 10_000).link('quick', 'm');
    serving.container({ serviceNs: (items) => items * MS });
    for (let at = 0; at < 3000; at++) {
      serving.predict(at);
      serving.clock.run(serving.clock.nowNs() + MS / 4);
    }
    expect(serving.engine.replicas()[0].maxBatchSize).toBeLessThanOrEqual(7);
    serving.registry.link('quick');
    for (let at = 0; at < 3000; at++) {
      serving.predict(inputOf(at, 1));
      serving.clock.run(serving.clock.nowNs() + MS / 4);
    }
    expect(serving.engine.replicas()[0].maxBatchSize).toBeGreaterThan(50);
  });
});

describe('repeatability', () => {
  function run(seed: number): string {
    const serving = new Serving({ seed });
    serving.registry.addApplication('app', 'exp3');
    for (const model of ['a', 'b', 'c']) serving.registry.addModel(model);
    serving.registry.link('app', 'a', 'b', 'c');
    for (const [at, model] of ['a', 'b', 'c'].entries()) {
      serving.container({
        model,
        credits: 2,
        output: (item) => `${(item.bytes[0] + item.bytes[6] + at) % 3}`,
        serviceNs: (items) => (at + 1) * 1.5 * MS + items * 40_000,
      });
    }
    let random = 12345;
    for (let at = 0; at < 2000; at++) {
      random = (random * 48271) % 2147483647;
      const queryId = serving.predict(random % 500);
      serving.clock.run(serving.clock.nowNs() + (random % 1000) * 500);
      if (at % 2 === 0) serving.feedback({ queryId, label: '1' });
    }
    serving.run();
    expect(serving.answers).toHaveLength(2000);
    return JSON.stringify([
      serving.answers,
      [...(serving.engine.selectionShares('app') ?? [])],
      serving.engine.cacheStats(),
    ]);
  }

  it('gives the same answers, times and weights for the same seed and arrivals, bit for bit', () => {
    const first = run(4);
    expect(run(4)).toBe(first);
    expect(run(5)).not.toBe(first);
  });
});
