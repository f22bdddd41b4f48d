import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SCHEDULING_POLICY_NAMES, schedulingPolicy } from './index.js';
import { launch, view } from './tests/views.js';

/** What every policy owes, whichever it is. */
describe.each(SCHEDULING_POLICY_NAMES)('scheduling policy %s', (name) => {
  const waiting = [launch(1, { context: 1 }), launch(2, { context: 2, launchClass: 'critical' })];
  const fits = { 1: 5, 2: 5 };

  it('has the name that it is asked for by', () => {
    expect(schedulingPolicy(name).name).toBe(name);
  });

  it('gives blocks to somebody where all fit', () => {
    expect(schedulingPolicy(name).decide(view(waiting, fits))).toMatchObject({ kind: 'dispatch' });
  });

  it('goes on from its state, which is plain data, as it would have', () => {
    const policy = schedulingPolicy(name);
    policy.decide(view(waiting, fits));
    const state: unknown = policy.snapshot();
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
    const copy = schedulingPolicy(name);
    copy.restore(structuredClone(state));
    const later = view(waiting, fits, { nowNs: 1000 });
    expect(copy.decide(later)).toEqual(policy.decide(later));
  });

  it('has a row in the documentation', () => {
    const page = new URL('../../docs/reference/scheduling.md', import.meta.url);
    expect(readFileSync(page, 'utf8')).toContain(`| \`${name}\` |`);
  });
});
