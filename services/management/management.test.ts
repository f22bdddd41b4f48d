import { describe, expect, it } from 'vitest';
import { BUILT_IN_MODELS } from '../../containers/models/index.js';
import { registerDefaults } from './index.js';
import { app, eachWithServer, model, verbsOf } from './tests/harness.js';

describe('management', () => {
  const harness = eachWithServer();
  const { post, done, refused } = verbsOf(harness);

  it('lets exactly one of twenty equal registrations win', async () => {
    for (const [verb, body, code] of [
      ['add_app', app, 'application_exists'],
      ['add_model', model, 'model_exists'],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(verb, body)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const others = answers.filter(({ status }) => status === 409);
      expect(others).toHaveLength(19);
      expect(others[0].json).toMatchObject({ error: { code } });
    }
  });

  it('shows replicas and what was learned', async () => {
    const shown = {
      model_name: 'm',
      model_version: '1',
      replica_id: 0,
      state: 'down',
      restarts: 2,
      last_failure: 'gone',
    };
    await done('add_model', model);
    await done('add_app', app);
    expect((await post('get_all_containers', {})).json).toEqual(['m:1:0']);
    expect((await post('get_all_containers', { verbose: true })).json).toEqual([shown]);
    const version = { model_name: 'm', model_version: '1' };
    expect((await post('get_container', { ...version, replica_id: 0 })).json).toEqual(shown);
    await refused('get_container', { ...version, replica_id: 1 }, 'unknown_replica', 'replica_id');
    expect((await post('get_state', { app_name: 'a', uid: 42 })).json).toEqual({
      app_name: 'a',
      uid: '42',
      policy: { name: 'static', parameters: {} },
      shares: { 'share-of-42': 1 },
    });
    await refused('get_state', { app_name: 'b' }, 'unknown_application', 'app_name');
  });

  it('answers bad requests from the catalogue', async () => {
    await refused('add_app', 'nonsense', 'not_json');
    await refused('add_app', '[]', 'wrong_type');
    await refused('add_app', '{"__proto__":{"name":"x"}}', 'missing_field');
    await refused('nothing', {}, 'unknown_route');
    const response = await fetch(`${harness().url}/admin/add_app`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(({} as Record<string, unknown>).name).toBeUndefined();
  });

  it('describes each verb, and every reference in the description leads somewhere', async () => {
    const text = await (await fetch(`${harness().url}/openapi.json`)).text();
    const document = JSON.parse(text) as { readonly paths: Record<string, unknown> };
    for (const verb of ['add_app', 'add_model', 'add_model_links', 'set_model_version', 'get_state']) {
      expect(Object.keys(document.paths)).toContain(`/admin/${verb}`);
    }
    const pointers = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(pointers)).toEqual(new Set(['components/schemas/Error']));
  });

  it('answers a ping', async () => {
    expect(await (await fetch(`${harness().url}/admin/ping`)).text()).toBe('PONG');
  });

  it('registers what comes with the product once, and finishes what was begun', async () => {
    // Killed after its first step.
    await harness().registry.addApplication({
      name: 'digits',
      inputType: 'floats',
      defaultOutput: '-1',
      latencyObjectiveUs: 100_000,
      policy: { name: 'exp3', parameters: {} },
    });
    await registerDefaults(harness().store, harness().registry);
    expect((await post('get_linked_models', { app_name: 'digits' })).json).toEqual([...BUILT_IN_MODELS]);
    for (const name of BUILT_IN_MODELS) {
      expect(harness().registry.model(name, '1')).toMatchObject({ inputLength: 784, inputType: 'floats' });
    }
    await done('delete_app', { name: 'noop' });
    await registerDefaults(harness().store, harness().registry);
    expect(harness().registry.application('noop')).toBeUndefined();
  });
});
