import { describe, expect, it } from 'vitest';
import { keyVerbs } from './keyVerbs.js';
import { AccessKeys } from '../access/index.js';
import { app, eachWithServer, model, verbsOf } from './tests/harness.js';

interface Listed {
  readonly events: readonly {
    readonly seq: number;
    readonly verb: string;
    readonly [field: string]: unknown;
  }[];
  readonly more: boolean;
  readonly last: number;
}

describe('events of management', () => {
  const harness = eachWithServer();
  const { post, done, refused } = verbsOf(harness);
  const listed = async (body: object = {}) => (await post('list_events', body)).json as Listed;

  it('have each change with its before and after, and nothing that was refused or asked', async () => {
    await done('add_app', app);
    await refused('add_app', app, 'application_exists');
    await post('get_all_applications', {});
    await done('set_app', { name: 'a', latency_slo_micros: 50_000 });
    await done('add_model', model);
    await done('add_model', { ...model, model_version: '2' });
    await done('set_model_version', { model_name: 'm', model_version: '1' });
    await done('set_num_replicas', { model_name: 'm', model_version: '1', num_replicas: 2 });
    await done('add_model_links', { app_name: 'a', model_names: ['m'] });
    await done('delete_model_links', { app_name: 'a', model_names: ['m'] });
    await done('delete_app', { name: 'a' });
    const { events, last, more } = await listed();
    expect([events.map(({ verb }) => verb), last, more]).toEqual([
      [
        'add_app',
        'set_app',
        'add_model',
        'add_model',
        'set_model_version',
        'set_num_replicas',
        'add_model_links',
        'delete_model_links',
        'delete_app',
      ],
      9,
      false,
    ]);
    const shown = { ...app, strict: false, policy: { name: 'static', parameters: {} }, linked_models: [] };
    expect(events[0]).toMatchObject({ by: { name: 'open' }, about: { application: 'a' }, after: shown });
    expect(events[0]).not.toHaveProperty('before');
    expect(events[1]).toMatchObject({ before: shown, after: { ...shown, latency_slo_micros: 50_000 } });
    expect(events[3]).toMatchObject({ before: { current_version: '1' }, after: { current_version: '2' } });
    expect(events[4]).toMatchObject({
      about: { model: 'm', version: '1' },
      before: { current_version: '2' },
      after: { current_version: '1' },
    });
    expect(events[5]).toMatchObject({ before: { replicas: 1 }, after: { replicas: 2 } });
    expect(events[6]).toMatchObject({ about: { application: 'a', models: ['m'] }, before: [], after: ['m'] });
    expect(events[8]).not.toHaveProperty('after');
    expect(harness().announced).toHaveLength(9);
    expect(harness().announced[1]).toEqual(['change: set_app', expect.objectContaining({ before: shown })]);
    expect((await listed({ model_name: 'm' })).events).toHaveLength(6);
    expect((await listed({ app_name: 'a', after: 1, limit: 2 })).events.map(({ seq }) => seq)).toEqual([
      2, 7,
    ]);
  });

  it('have nothing that was so before, and its answer says so', async () => {
    const of = { model_name: 'm', model_version: '1' };
    const same = async (verb: string, body: object): Promise<void> => {
      const { last } = await listed();
      expect((await post(verb, body)).text, verb).toMatch(/ It was so before: nothing has changed\.$/);
      expect((await listed()).last, verb).toBe(last);
    };
    await done('add_app', app);
    await done('add_model', model);
    const before = harness().store.get('registry/application/a');
    await same('set_app', { name: 'a', latency_slo_micros: app.latency_slo_micros, strict: false });
    await same('set_app', { name: 'a', policy: { name: 'static', parameters: {} }, max_in_flight: null });
    expect(harness().store.get('registry/application/a')).toEqual(before);
    await same('set_model_version', of);
    await same('set_num_replicas', { ...of, num_replicas: 1 });
    await done('set_app', { name: 'a', strict: true });
    await same('set_app', { name: 'a', strict: true });
    await done('set_app', { name: 'a', strict: false });
    expect((await listed()).last).toBe(4);
  });

  it('waits for the next', async () => {
    const waiting = listed({ after: 0, app_name: 'b', wait_seconds: 30 });
    await done('add_app', app);
    await done('add_app', { ...app, name: 'b' });
    expect(await waiting).toMatchObject({ events: [{ seq: 2 }], last: 2 });
    expect(await listed({ after: 2, wait_seconds: 0.01 })).toEqual({ events: [], more: false, last: 2 });
  });

  it('have no secret of a key', async () => {
    const { store, events } = harness();
    const verbs = keyVerbs(new AccessKeys(store), true);
    const run = (name: string, body: object) =>
      verbs
        .find((verb) => verb.name === name)
        ?.run(body, new AbortController().signal, (happening) => events.note({ name: 'x' }, happening));
    const { key, id } = (await run('add_key', { name: 'ops', scopes: ['admin'] })) as {
      key: string;
      id: string;
    };
    await run('delete_key', { id });
    const text = JSON.stringify(await listed());
    expect(text).toContain(id);
    expect(text).not.toContain(key.slice(-64));
    expect(JSON.stringify(harness().announced)).not.toContain(key.slice(-64));
    expect((await listed()).events).toMatchObject([
      { verb: 'add_key', about: { key: id }, after: { name: 'ops' } },
      { verb: 'delete_key', about: { key: id }, before: { name: 'ops' } },
    ]);
  });

  it.each([
    [{ limit: 0 }, 'invalid_value', 'limit'],
    [{ limit: 1e9 }, 'invalid_value', 'limit'],
    [{ after: -1 }, 'invalid_value', 'after'],
    [{ since: 'yesterday' }, 'invalid_value', 'since'],
    [{ wait_seconds: 3600 }, 'invalid_value', 'wait_seconds'],
    [{ app: 'a' }, 'unknown_field', 'app'],
  ] as const)('refuses %j', (body, code, field) => refused('list_events', body, code, field));
});
