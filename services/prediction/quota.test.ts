import { describe, expect, it } from 'vitest';
import type { ApplicationRecord } from '../registry/index.js';
import { Serving } from './tests/serving.js';

const MS = 1e6;

const neighbour: ApplicationRecord = {
  name: 'neighbour',
  inputType: 'doubles',
  defaultOutput: 'default',
  latencyObjectiveUs: 100_000,
  policy: { name: 'static', parameters: null },
};

/** Two applications on one model that serves 1,000 a second: 'neighbour' floods it, 'app' asks now and then. */
function shared(maxInFlight: number | undefined) {
  const serving = new Serving({ maxQueued: 200 }).simple({ strategy: 'fixed', maxBatchSize: 10 }, 100_000);
  serving.registry
    .putApplication(maxInFlight === undefined ? neighbour : { ...neighbour, maxInFlight })
    .link('neighbour', 'm');
  serving.container({ serviceNs: (items) => items * MS });
  const mine: string[] = [];
  const theirs: string[] = [];
  for (let at = 0; at < 1000; at++) {
    for (let flood = 0; flood < 5; flood++) {
      theirs.push(serving.predict(10_000 + 5 * at + flood, { application: 'neighbour' }));
    }
    if (at % 5 === 0) mine.push(serving.predict(at));
    serving.clock.run((at + 1) * MS);
  }
  serving.run();
  const served = new Set(serving.answers.filter(({ isDefault }) => !isDefault).map(({ queryId }) => queryId));
  const inTime = (ids: string[]): number => ids.filter((id) => served.has(id)).length / ids.length;
  return { serving, mine: inTime(mine), theirs: inTime(theirs) };
}

describe('a limit on the queries that an application has in flight', () => {
  it('keeps one application from filling the queues of a model that others use', () => {
    expect(shared(undefined).mine).toBeLessThan(0.5);
    const limited = shared(30);
    expect(limited.mine).toBe(1);
    expect(limited.theirs).toBeGreaterThan(0.1);
  });

  it('is answered beyond at once, with the default, the reason and the time after which there is room', () => {
    const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 8 });
    serving.registry.putApplication({ ...neighbour, maxInFlight: 2 }).link('neighbour', 'm');
    const container = serving.container({ manual: true });
    const ids = [1, 2, 3].map((value) => serving.predict(value, { application: 'neighbour' }));
    expect(serving.answer(ids[2])).toEqual({
      queryId: ids[2],
      output: 'default',
      isDefault: true,
      defaultReason: 'overload',
      models: [],
      confidence: 0,
      cached: false,
      latencyNs: 0,
      retryAfterNs: 100 * MS,
    });
    expect(serving.engine.inFlight()).toBe(2);
    serving.run(1);
    expect(container.items).toBe(2);
  });

  it('counts every end of a query: an answer, a cancellation, a deadline, a change of settings on the way', () => {
    const serving = new Serving();
    serving.registry
      .putApplication({ ...neighbour, maxInFlight: 3 })
      .addModel('m')
      .link('neighbour', 'm');
    const container = serving.container({ manual: true });
    const ask = (value: number): string => serving.predict(value, { application: 'neighbour' });
    const isTurnedAway = (): boolean => {
      const probe = ask(1e6 + serving.answers.length);
      const found = serving.answers.find(({ queryId }) => queryId === probe);
      if (found === undefined) serving.engine.cancel(probe);
      return found !== undefined;
    };
    const [first, second] = [1, 2, 3].map(ask);
    expect(isTurnedAway()).toBe(true);
    serving.run(1);
    const { items } = container.frames[0];
    container.give(container.frames[0], [{ id: items[0].id, ok: true, output: 'y' }]);
    expect(serving.answer(first).output).toBe('y');
    // The container left out the others, which ended them.
    expect(isTurnedAway()).toBe(false);
    [4, 5, 6].map(ask);
    serving.registry.putApplication({ ...neighbour, maxInFlight: 4 });
    ask(7);
    expect(isTurnedAway()).toBe(true);
    serving.run(500);
    expect(serving.engine.inFlight()).toBe(0);
    expect(isTurnedAway()).toBe(false);
    expect(serving.answer(second).isDefault).toBe(true);
    serving.registry.putApplication(neighbour);
    for (let value = 100; value < 150; value++) ask(value);
    expect(isTurnedAway()).toBe(false);
  });
});
