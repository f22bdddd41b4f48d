import { describe, expect, it } from 'vitest';
import { elementOf, inputOf, Serving, type TestContainer } from './tests/serving.js';

const MS = 1e6;

function order(container: TestContainer): number[] {
  return container.frames.flatMap(({ items }) => items.map(({ bytes }) => elementOf(bytes)));
}

/**
 * Two seconds of queries at a model that serves 1,000 a second, each level with so many a second of its own.
 * @returns the share of each level that was answered in time in the second second.
 */
function shares(rates: readonly (readonly [priority: number, perSecond: number])[]): Map<number, number> {
  const serving = new Serving().simple({ strategy: 'fixed', maxBatchSize: 10 }, 100_000);
  serving.container({ credits: 2, serviceNs: (items) => items * MS });
  const asked = new Map<string, number>();
  const next = rates.map(([, perSecond]) => 1e9 / perSecond);
  let value = 0;
  for (let untilNs = 0; untilNs < 2e9; untilNs += MS) {
    for (const [at, [priority, perSecond]] of rates.entries()) {
      for (; next[at] <= untilNs; next[at] += 1e9 / perSecond) {
        const id = serving.predict(value++, { priority });
        if (untilNs >= 1e9) asked.set(id, priority);
      }
    }
    serving.clock.run(untilNs);
  }
  serving.run();
  const inTime = new Set(serving.answers.filter(({ isDefault }) => !isDefault).map(({ queryId }) => queryId));
  const served = new Map<number, number>();
  for (const [priority] of rates) {
    const ids = [...asked].filter(([, level]) => level === priority).map(([id]) => id);
    served.set(priority, ids.filter((id) => inTime.has(id)).length / ids.length);
  }
  return served;
}

describe('priorities', () => {
  it('decide who goes first among those who wait', () => {
    const serving = new Serving().simple({ strategy: 'none' }, 500_000);
    const container = serving.container({ serviceNs: () => MS });
    serving.predict(0);
    serving.run(0.5);
    for (const priority of [5, 4, 3, 2, 1]) serving.predict(priority, { priority });
    serving.predict(6);
    serving.engine.evaluate(
      { model: 'm', version: '1', input: inputOf(7), budgetNs: 500 * MS, priority: 1 },
      { onVote: () => undefined, onModelRefusal: () => undefined },
    );
    serving.run();
    expect(order(container)).toEqual([0, 1, 7, 2, 3, 6, 4, 5]);
  });

  it('give the urgent their share in time under overload, and the others what is left', () => {
    const served = shares([
      [1, 600],
      [3, 1400],
    ]);
    expect(served.get(1)).toBeGreaterThan(0.95);
    expect(served.get(3)).toBeGreaterThan(0.2);
  });

  it('starve nobody: the least urgent are served although the urgent alone are too many', () => {
    const served = shares([
      [1, 2000],
      [5, 200],
    ]);
    // One turn in sixteen of 1,000 a second, for 200.
    expect(served.get(5)).toBeGreaterThan(0.2);
    expect(served.get(1)).toBeGreaterThan(0.35);
  });

  it('have no part in when a query expires', () => {
    const serving = new Serving().simple({ strategy: 'none' }, 50_000);
    const container = serving.container({ serviceNs: () => 500 * MS });
    serving.predict(0);
    serving.run(1);
    const ids = [1, 5].map((priority) => serving.predict(priority, { priority }));
    serving.run();
    for (const id of ids)
      expect(serving.answer(id)).toMatchObject({ defaultReason: 'deadline', latencyNs: 50 * MS });
    expect(container.items).toBe(1);
  });

  it('of those who share an evaluation count by the most urgent', () => {
    const serving = new Serving().simple({ strategy: 'none' }, 500_000);
    const container = serving.container({ serviceNs: () => MS });
    serving.predict(0);
    serving.run(0.5);
    serving.predict(1);
    serving.predict(2, { priority: 5 });
    serving.predict(2, { priority: 1 });
    serving.predict(1, { priority: 5 });
    serving.run();
    expect(order(container)).toEqual([0, 2, 1]);
  });

  it.each([0, 6, 2.5, NaN, -1])(
    'are never %d: the query is refused, and so is a model asked by name',
    (priority) => {
      const serving = new Serving().simple();
      serving.container();
      serving.predict(1, { priority });
      const refusals: unknown[] = [];
      serving.engine.evaluate(
        { model: 'm', version: '1', input: inputOf(7), budgetNs: MS, priority },
        { onVote: () => undefined, onModelRefusal: (_request, refusal) => refusals.push(refusal) },
      );
      const refusal = {
        code: 'invalid_input',
        field: 'priority',
        message: `the priority must be a whole number from 1 (most urgent) to 5, not ${priority}`,
      };
      expect(serving.refusals[0].refusal).toEqual(refusal);
      expect(refusals).toEqual([refusal]);
    },
  );
});
