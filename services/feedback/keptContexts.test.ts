import { describe, expect, it } from 'vitest';
import { MemoryStore, storeKey } from '../store/index.js';
import { CONTEXT_AGE_DAYS, KeptContexts } from './keptContexts.js';

const DAY_MS = 86_400_000;

function contexts(most: number, store = new MemoryStore()) {
  let day = 100;
  const open = () => new KeptContexts(store, 'app', () => day * DAY_MS, most);
  let kept = open();
  return {
    learn(context: string): void {
      store.set(storeKey('selection', 'app', 'context', context), {}, 'any');
      kept.note(context);
    },
    passDays: (days: number) => (day += days),
    startAgain: () => (kept = open()),
    names: () => store.list('selection/app/context/').map(({ key }) => key.split('/')[3]),
    keys: () => store.list('').length,
  };
}

describe('KeptContexts', () => {
  it('has an end to what strangers invent, and keeps what clients come back to', () => {
    const all = contexts(20);
    for (let at = 0; at < 5; at++) for (let times = 0; times < 3; times++) all.learn(`client${at}`);
    for (let at = 0; at < 1000; at++) all.learn(`invented${at}`);
    expect(all.names().length).toBeLessThanOrEqual(20);
    expect(all.names().filter((name) => name.startsWith('client'))).toHaveLength(5);
    expect(all.keys()).toBe(2 * all.names().length);
  });

  it('forgets after so many days what nobody learns from, also across a restart', () => {
    const all = contexts(20);
    all.learn('old');
    all.learn('used');
    all.passDays(CONTEXT_AGE_DAYS);
    all.learn('used');
    all.startAgain();
    expect(all.names()).toEqual(['old', 'used']);
    all.passDays(1);
    all.learn('used');
    expect(all.names()).toEqual(['used']);
  });
});
