import { expect, it } from 'vitest';
import { watchMarks } from './eventMarks.js';
import { app, eachWithServer, model, verbsOf } from './management/tests/harness.js';

const harness = eachWithServer();
const { done } = verbsOf(harness);

it('are what verbs, and the server itself, have changed, in words', async () => {
  const told: string[] = [];
  const unwatch = watchMarks(harness().events, ({ at, kind, what, text }) => {
    expect(Math.abs(Date.now() - at)).toBeLessThan(600_000);
    told.push(`${kind} ${what}: ${text}`);
  });
  const of = { model_name: 'm', model_version: '1' };
  for (const [verb, body, mark] of [
    ['add_model', model, 'deploy m: version 1 deployed'],
    ['add_model', { ...model, model_version: '2' }, 'deploy m: version 2 deployed'],
    ['set_model_version', of, 'rollback m: version 2 → 1, as before'],
    ['set_num_replicas', { ...of, num_replicas: 3 }, 'scale m: version 1: replicas 1 → 3'],
    ['start_canary', { ...of, model_version: '2' }, 'deploy m: version 2 is tried'],
    ['abort_canary', { model_name: 'm' }, 'rollback m: version 2 withdrawn: by hand'],
    ['start_canary', { ...of, model_version: '2' }, 'deploy m: version 2 is tried'],
    ['set_model_version', of, 'rollback m: version 1 stays, no other one is tried'],
    ['add_app', app, 'application a: registered'],
    ['add_model_links', { app_name: 'a', model_names: ['m'] }, 'application a: linked m'],
    ['set_app', { name: 'a', latency_slo_micros: 9000 }, 'application a: latency_slo_micros 20000 → 9000'],
    ['delete_model_links', { app_name: 'a', model_names: ['m'] }, 'application a: unlinked m'],
    ['delete_app', { name: 'a' }, 'application a: deleted'],
    ['delete_versioned_model', { ...of, model_version: '2' }, 'remove m: version 2 deleted'],
  ] as const) {
    await done(verb, body);
    expect(told.splice(0), verb).toEqual([mark]);
  }
  const { events } = harness();
  const about = { model: 'm', version: '1' };
  events.noteAutomatic('alertmanager', {
    verb: 'alert_firing',
    about: { alert: 'Slow', model: 'm' },
    after: { summary: 'm is slow' },
  });
  events.noteAutomatic('alertmanager', { verb: 'alert_resolved', about: {}, after: { summary: '3 alerts' } });
  await new Promise((resolve) => setImmediate(resolve));
  expect(told.splice(0)).toEqual(['alert Slow: m is slow', 'resolved alerts: 3 alerts']);
  events.noteAutomatic('server', {
    verb: 'version_took_over',
    about,
    before: { serving_version: '2' },
    after: { serving_version: '1' },
  });
  events.noteAutomatic('server', {
    verb: 'replica_lost',
    about: { ...about, replica: 0 },
    after: { reason: 'out of memory' },
  });
  events.noteAutomatic('server', {
    verb: 'policy_failed',
    about: { application: 'a' },
    after: { kind: 'late', reason: 'select did not return in time' },
  });
  events.noteAutomatic('canary', {
    verb: 'canary_withdrawn',
    about,
    before: { canary: 'ramping' },
    after: { canary: 'withdrawn', reason: 'errors: it failed' },
  });
  events.noteAutomatic('server', { verb: 'drain_node', about: { node: 'n1' } });
  await expect
    .poll(() => told)
    .toEqual([
      'switch m: version 1 answers, 2 did',
      'lost m v1, replica 0: lost: out of memory',
      'lost policy of a: goes without it: select did not return in time',
      'rollback m: version 1 withdrawn: errors: it failed',
      'other n1: drain node',
    ]);
  unwatch();
  events.note({ name: 'open' }, { verb: 'unheard', about: {} });
  await harness().close();
  expect(told).toHaveLength(5);
});
