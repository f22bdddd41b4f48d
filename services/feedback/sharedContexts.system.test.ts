import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyedDraw, policyNamed, type Json } from '../../selection/index.js';
import { redisAddress } from '../redis/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { openRedisStore, type RedisStore } from '../store/index.js';
import { sliced } from '../store/tests/conformance.js';
import { contextOf, stateFolder } from './contextFolder.js';
import { ContextMemory, SelectionStates, type Learned } from './index.js';

const DAY_MS = 86_400_000;

let redis: RedisServer;
let stores: RedisStore[];
let dayMs: number;
beforeEach(async () => {
  redis = await RedisServer.start();
  stores = [];
  dayMs = 20_000 * DAY_MS;
});
afterEach(async () => {
  await Promise.all(stores.map((store) => new Promise<void>((resolve) => store.close(resolve))));
  await redis.stop();
});

/** A frontend with room for some contexts in memory. */
async function frontend(memoryBytes: number): Promise<SelectionStates> {
  const store = await openRedisStore({
    address: redisAddress(redis.url),
    prefix: 'contexts',
    complain: () => undefined,
  });
  stores.push(store);
  return new SelectionStates({
    application: 'app',
    policy: policyNamed('ucb1'),
    parameters: { prior: 5, memory: null },
    arms: ['a', 'b'],
    store,
    onWriteFailed: () => undefined,
    memory: new ContextMemory(memoryBytes),
    limits: { most: 1000, ttlDays: 10 },
    nowMs: () => dayMs,
  });
}

const judge = (states: SelectionStates, context: string, mark: string): Promise<Learned> =>
  new Promise((done) =>
    states.of(context).observe({
      selection: { arms: ['a'], propensity: 1 },
      predictions: [{ arm: 'a', output: 'yes' }],
      feedback: { label: 'yes' },
      marks: [mark],
      done,
    }),
  );

const used = (value: Json) => (value as { readonly used: readonly number[] }).used;

describe('contexts that frontends share', () => {
  it('are learned once and by all, however often they leave memory and come back', async () => {
    const all = [await frontend(8_000), await frontend(8_000)];
    const draw = new KeyedDraw(5);
    const times = new Map<string, number>();
    const outcomes: Promise<Learned>[] = [];
    for (let at = 0; at < 1500; at++) {
      const random = draw.of(`${at}`);
      const context = `user ${Math.floor(random() * 40)}`;
      times.set(context, (times.get(context) ?? 0) + 1);
      const first = random() < 0.5 ? 0 : 1;
      outcomes.push(judge(all[first], context, `feedback ${at}`));
      // Sent again to another, at the same time.
      if (random() < 0.2) outcomes.push(judge(all[1 - first], context, `feedback ${at}`));
      if (at % 50 === 0) await outcomes.at(-1);
    }
    const became = await Promise.all(outcomes);
    expect(became.filter((one) => one === 'learned')).toHaveLength(1500);
    expect(new Set(became)).toEqual(new Set(['learned', 'repeated']));
    expect(all[0].counts().evictions).toBeGreaterThan(100);
    const found = await sliced(stores[0], stateFolder('app'));
    const counts = Object.entries(found).map(([key, [, value]]) => [contextOf(key), used(value)[1]] as const);
    expect(new Map(counts)).toEqual(times);
    // What another frontend wrote last comes a moment later.
    const own = () => stores[0].get('selection/app/own')?.value as { readonly judged: readonly number[] };
    await expect.poll(() => own().judged[0]).toBe(1500);
  });

  it('are followed by whoever has them in memory, and forgotten by all', async () => {
    const [one, other] = [await frontend(1e6), await frontend(1e6)];
    await judge(one, 'user', 'first');
    await new Promise<void>((resolve) => other.whenRead('user', resolve));
    const [, store] = stores;
    const { key } = other.of('user');
    const changed = (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        const unwatch = store.watch(key, () => {
          if (!holds()) return;
          unwatch();
          resolve();
        });
      });
    const followed = changed(() => other.of('user').storedVersion === 2);
    await judge(one, 'user', 'second');
    await followed;
    expect(other.of('user').state).toMatchObject({ judged: [2, 0] });
    dayMs += 11 * DAY_MS;
    const gone = changed(() => other.of('user').storedVersion === 0);
    await judge(one, 'new', 'third');
    await gone;
    expect(Object.keys(await sliced(store, stateFolder('app'))).map(contextOf)).toEqual(['new']);
  });
});
