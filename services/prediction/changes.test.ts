import { describe, expect, it } from 'vitest';
import { inputOf, Serving, TestContainer } from './tests/serving.js';

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

  it('keeps what was learned, also what is not written yet, when the objective and parameters change', () => {
    const serving = new Serving();
    serving.registry.addApplication('app', 'exp3', { eta: 0.1 }).addModel('m').addModel('n');
    serving.registry.link('app', 'm', 'n');
    serving.container({ model: 'm', output: () => 'wrong' });
    serving.container({ model: 'n', output: () => 'right' });
    const states = serving.engine.states('app');
    for (let at = 0; at < 50; at++) {
      const queryId = serving.predict(at);
      serving.run();
      serving.feedback({ queryId, label: 'right' });
    }
    const { logWeights } = states?.own.state as { logWeights: readonly number[] };
    expect(logWeights[0]).toBeLessThan(-1);
    serving.registry.addApplication('app', 'exp3', { eta: 0.1, gamma: 0.3 }, 70_000);
    expect(serving.engine.states('app')).toBe(states);
    expect(states?.own.state).toMatchObject({ gamma: 0.3, logWeights });
    expect(serving.engine.selectionShares('app')?.get('m')).toBeGreaterThan(0.15);
    // A frontend that starts later finds the same, whichever parameters the state was written under.
    const stored = serving.store.get('selection/app/own')?.value as { gamma: number };
    expect(stored.gamma).toBe(0.05);
    expect(states?.adopt(stored, '')).toEqual({ ...stored, gamma: 0.3 });
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

  it('answers what a deleted version has queued and in flight, then closes its replicas and forgets its predictions', () => {
    const serving = new Serving().simple({ strategy: 'none' });
    const container = serving.container({ serviceNs: () => 4 * MS });
    const kept = serving.predict(0);
    serving.run(4);
    const ids = [1, 2, 3].map((value) => serving.predict(value));
    serving.run(5);
    serving.registry.removeModel('m', '1');
    serving.run();
    expect(ids.map((id) => serving.answer(id).output)).toEqual(['1', '2', '3']);
    expect(serving.answer(kept).output).toBe('0');
    expect(container.closed).toBe(true);
    expect(serving.engine.cacheStats()).toMatchObject({ entries: 0, removals: 4 });
    expect(serving.answer(serving.predict(3)).defaultReason).toBe('no_linked_model');
    expect(serving.engine.replicas()).toEqual([]);
    expect(serving.observer.events).toEqual([]);
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

describe('a replica that is drained', () => {
  it('answers what it works on, and its siblings answer what waited for it', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 2 });
    const [first, second] = ['r0', 'r1'].map(
      (replica) => new TestContainer(serving.clock, { model: 'm', replica, serviceNs: () => 3 * MS }),
    );
    const handle = serving.engine.addReplica(first);
    serving.engine.addReplica(second);
    const ids = Array.from({ length: 8 }, (_, value) => serving.predict(value));
    serving.run(1);
    let drained = false;
    handle.drain(() => (drained = true));
    expect(first.frames).toHaveLength(1);
    serving.run(2);
    expect([drained, first.closed]).toEqual([false, false]);
    expect(serving.engine.replicas().map(({ replica }) => replica)).toEqual(['r1']);
    const later = serving.predict(9);
    serving.run();
    expect([drained, first.closed]).toEqual([true, true]);
    expect(first.sizes).toEqual([2]);
    expect(second.items).toBe(7);
    for (const id of [...ids, later]) expect(serving.answer(id).isDefault).toBe(false);
    expect(serving.observer.events).toEqual([]);
    expect(serving.engine.replicas()[0].items).toBe(7);
  });

  it('serves by itself what nobody else has room for, and takes nothing new', () => {
    const serving = new Serving().simple({ strategy: 'none' });
    const container = new TestContainer(serving.clock, { model: 'm', serviceNs: () => 2 * MS });
    const handle = serving.engine.addReplica(container);
    const ids = [0, 1, 2].map((value) => serving.predict(value));
    serving.run(1);
    const ended: string[] = [];
    handle.drain(() => ended.push('once'));
    handle.drain(() => ended.push('twice'));
    expect(serving.answer(serving.predict(7)).defaultReason).toBe('no_replica');
    serving.run();
    expect(ids.map((id) => serving.answer(id).output)).toEqual(['0', '1', '2']);
    expect(ended).toEqual(['once', 'twice']);
    expect(container.closed).toBe(true);
    handle.drain(() => ended.push('after'));
    expect(ended).toHaveLength(3);
  });

  it('loses nothing when it dies while it is drained', () => {
    const serving = new Serving().simple({ strategy: 'none' });
    const first = new TestContainer(serving.clock, { model: 'm', replica: 'r0', manual: true });
    const handle = serving.engine.addReplica(first);
    const inFlight = serving.predict(1);
    serving.run(1);
    serving.container({ replica: 'r1' });
    let drained = false;
    handle.drain(() => (drained = true));
    first.die();
    expect(drained).toBe(true);
    serving.run();
    expect(serving.answer(inFlight).output).toBe('1');
  });

  it('is closed at once when it has nothing to do, or has not said hello', () => {
    const serving = new Serving().simple();
    const idle = new TestContainer(serving.clock, { model: 'm' });
    let drained = 0;
    serving.engine.addReplica(idle).drain(() => (drained += 1));
    serving.run();
    const refused = new TestContainer(serving.clock, { model: 'unknown' });
    serving.engine.addReplica(refused).drain(() => (drained += 1));
    expect([drained, idle.closed, refused.closed]).toEqual([2, true, true]);
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
