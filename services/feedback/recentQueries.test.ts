import fc from 'fast-check';
import { expect, it } from 'vitest';
import { staticPolicy, policyNamed } from '../../selection/index.js';
import { MemoryStore } from '../store/index.js';
import { RecentQueries, SelectionStates, type JudgedQuery, type RememberedQuery } from './index.js';

const states = new SelectionStates({
  application: 'app',
  policy: policyNamed(staticPolicy.name),
  parameters: null,
  arms: ['m'],
  store: new MemoryStore(),
  onWriteFailed: () => undefined,
});

class Query implements RememberedQuery {
  slot = -1;
  constructor(
    readonly id: string,
    readonly number: number,
  ) {}
  judged(): JudgedQuery {
    const selection = { arms: [`arm ${this.number}`], propensity: 1 };
    return { state: states.own, selection, predictions: [], features: undefined, chosen: true };
  }
}

it('remembers the last so many queries, reduced or not, a repeated id as the later one', () => {
  const step = fc.record({ id: fc.nat(30), reduce: fc.nat(3) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 200 }), (capacity, steps) => {
      const memory = new RecentQueries<Query>(capacity);
      const added: { query: Query; reduced: boolean }[] = [];
      for (const [number, { id, reduce }] of steps.entries()) {
        const query = new Query(`q${id}`, number);
        memory.add(query);
        added.push({ query, reduced: false });
        // Any earlier one may end now, a forgotten one too.
        const ended = added.at(-1 - reduce * 7);
        if (ended !== undefined) {
          memory.reduce(ended.query, states.own, `arm ${ended.query.number}`, undefined, 0.5);
          ended.reduced = true;
        }
        const kept = added.slice(-capacity);
        expect(memory.size).toBe(kept.length);
        for (let any = 0; any <= 30; any++) {
          const last = kept.findLast((one) => one.query.id === `q${any}`);
          expect(memory.find(`q${any}`)).toBe(last?.reduced === false ? last.query : undefined);
          expect(memory.judged(`q${any}`)?.selection.arms[0]).toBe(last && `arm ${last.query.number}`);
        }
      }
    }),
    { seed: 17, numRuns: 60 },
  );
});

it('remembers fewer where outputs are long, the last one whatever it holds', () => {
  const memory = new RecentQueries<Query>(3, 100);
  const queries = Array.from({ length: 6 }, (_, at) => new Query(`q${at}`, at));
  const known = () => queries.filter(({ id }) => memory.judged(id) !== undefined).map(({ id }) => id);
  for (const query of queries.slice(0, 3)) memory.add(query);
  memory.hold(queries[0], 60);
  memory.hold(queries[1], 40);
  expect(known()).toEqual(['q0', 'q1', 'q2']);
  memory.hold(queries[2], 1);
  expect(known()).toEqual(['q1', 'q2']);
  // What comes late for a forgotten one is not counted, and what goes makes room.
  memory.hold(queries[0], 1000);
  expect(known()).toEqual(['q1', 'q2']);
  memory.add(queries[3]);
  memory.add(queries[4]);
  memory.hold(queries[4], 99);
  expect(known()).toEqual(['q2', 'q3', 'q4']);
  memory.add(queries[5]);
  memory.reduce(queries[5], states.own, 'm', 'x', 1);
  memory.hold(queries[5], 1000);
  expect(known()).toEqual(['q5']);
  expect(memory.size).toBe(1);
});

it('keeps features of a reduced query, and forgets them with it', () => {
  const memory = new RecentQueries<Query>(1);
  const [one, two] = [new Query('one', 1), new Query('two', 2)];
  memory.add(one);
  memory.reduce(one, states.own, 'arm 1', 'yes', 0.5, { hour: 14 });
  expect(memory.judged('one')?.features).toEqual({ hour: 14 });
  memory.add(two);
  memory.reduce(two, states.own, 'arm 2', 'yes', 0.5);
  expect(memory.judged('two')?.features).toBeUndefined();
});

it('keeps of a reduced query what feedback needs', () => {
  const memory = new RecentQueries<Query>(2);
  const [one, two] = [new Query('one', 1), new Query('two', 2)];
  memory.add(one);
  memory.add(two);
  memory.reduce(one, states.own, 'm', '7', 0.25);
  memory.reduce(two, states.own, 'm', undefined, 0);
  expect(memory.judged('one')).toEqual({
    state: states.own,
    selection: { arms: ['m'], propensity: 0.25 },
    predictions: [{ arm: 'm', output: '7' }],
    chosen: true,
  });
  expect(memory.judged('two')).toMatchObject({ predictions: [], chosen: false });
  expect(memory.judged('three')).toBeUndefined();
});

it('refuses a capacity of nothing', () => {
  expect(() => new RecentQueries<Query>(0)).toThrow(/whole number above 0, not 0/);
});
