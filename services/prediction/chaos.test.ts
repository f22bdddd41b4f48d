import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ItemResult, PredictFrame } from '../../containers/protocol/index.js';
import { roundsOf } from '../../simulator/laboratory/testSample/index.js';
import type { BatchingChoice } from '../registry/index.js';
import type { ReplicaHandle } from './index.js';
import { elementOf, Serving, TestContainer } from './tests/serving.js';

const MS = 1e6;

/** By its last digit what an input does to its container: a 7 kills it, a 5 hangs it, a 3 makes the model raise. */
const KILLS = 7;
const HANGS = 5;
const RAISES = 3;

const batching = fc.constantFrom<BatchingChoice>(
  { strategy: 'aimd' },
  { strategy: 'quantile' },
  { strategy: 'none' },
  { strategy: 'fixed', maxBatchSize: 16 },
  { strategy: 'fixed', maxBatchSize: 4, delayUs: 3000 },
  { strategy: 'aimd', delayUs: 500 },
);

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('predict' as const),
      value: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(0, 1, 2, 4, 6, 8) },
        { weight: 1, arbitrary: fc.nat(9) },
      ),
      again: fc.nat(40),
      budgetMs: fc.integer({ min: 1, max: 3000 }),
      priority: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.double({ min: 0, max: 30, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 500, max: 1500 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(30) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('start' as const), credits: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drain' as const), which: fc.nat(5) }) },
);

function digit(element: number): number {
  return element % 10;
}

function raising({ items }: PredictFrame): ItemResult[] {
  const raised = items.some(({ bytes }) => digit(elementOf(bytes)) === RAISES);
  return items.map(({ id, bytes }) =>
    raised
      ? { id, ok: false, code: 'modelError', message: 'raised' }
      : { id, ok: true, output: `${elementOf(bytes)}` },
  );
}

it('answers every query exactly once, rightly and by its deadline, whatever is killed, hangs, raises, comes and goes', () => {
  fc.assert(
    fc.property(batching, fc.array(step, { minLength: 10, maxLength: 150 }), (choice, steps) => {
      const serving = new Serving().simple(choice, 2_000_000);
      const handles: ReplicaHandle[] = [];
      const containers: TestContainer[] = [];
      const start = (credits: number): void => {
        const container = new TestContainer(serving.clock, {
          model: 'm',
          replica: `r${containers.length}`,
          credits,
          maxBatchSize: 32,
          serviceNs: (items) => 2 * MS + items * 0.1 * MS,
          kills: (element) => digit(element) === KILLS,
          hangs: (element) => digit(element) === HANGS,
          answer: raising,
        });
        containers.push(container);
        handles.push(serving.engine.addReplica(container));
      };
      start(2);
      start(1);
      let drained = 0;
      let drains = 0;
      const asked = new Map<string, { value: number; askedNs: number; budgetNs: number }>();
      const cancelled = new Set<string>();
      for (const action of steps) {
        const nowNs = serving.clock.nowNs();
        switch (action.kind) {
          case 'predict': {
            const value = 10 * action.again + action.value;
            const budgetNs = Math.min(action.budgetMs, 2000) * MS;
            const { priority } = action;
            const id = serving.predict(value, { budgetNs, ...(priority === undefined ? {} : { priority }) });
            asked.set(id, { value, askedNs: nowNs, budgetNs });
            break;
          }
          case 'wait':
            serving.clock.run(nowNs + action.ms * MS);
            break;
          case 'cancel': {
            const id = [...asked.keys()].at(-1 - action.which);
            if (id !== undefined && serving.engine.cancel(id)) cancelled.add(id);
            break;
          }
          case 'start':
            start(action.credits);
            break;
          case 'kill': {
            const container = containers.at(-1 - action.which);
            if (container?.closed === false) container.die('signal SIGKILL');
            break;
          }
          case 'drain':
            drains += handles.length > action.which ? 1 : 0;
            handles.at(-1 - action.which)?.drain(() => (drained += 1));
            break;
        }
      }
      serving.run();
      expect(serving.answers.length).toBe(asked.size - cancelled.size);
      expect(new Set(serving.answers.map(({ queryId }) => queryId)).size).toBe(serving.answers.length);
      for (const { queryId, isDefault, output, latencyNs } of serving.answers) {
        const query = asked.get(queryId);
        expect(cancelled.has(queryId)).toBe(false);
        if (!isDefault) expect(output).toBe(`${query?.value}`);
        expect(latencyNs).toBeLessThanOrEqual((query?.budgetNs ?? 0) + 1);
      }
      // What hangs is found out and what is drained ends: nothing is left, whatever was on its way.
      expect(serving.engine.inFlight()).toBe(0);
      expect(serving.engine.cacheStats().pending).toBe(0);
      expect(drained).toBe(drains);
      for (const { queued, inFlightItems } of serving.engine.replicas())
        expect([queued, inFlightItems]).toEqual([0, 0]);
      const events = serving.observer.events.filter((event) => !event.startsWith('down '));
      expect(events).toEqual([]);
    }),
    { numRuns: roundsOf(1000, 80) },
  );
});
