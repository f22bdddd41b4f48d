import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AddressInfo } from 'node:net';
import { BUILT_IN_MODELS, builtInModelPath } from '../../../containers/models/index.js';
import { POLICY_NAMES } from '../../../selection/index.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors/index.js';
import { Registry } from '../../registry/index.js';
import { MemoryStore } from '../../store/index.js';
import { ManagementServer, registerDefaults } from '../index.js';

const THIS_FILE = fileURLToPath(import.meta.url);
const PROCESS = {
  container_name: 'windjammer/process',
  model_data_path: 'eslint.config.js',
  output: undefined,
};

describe('management', () => {
  let store: MemoryStore;
  let registry: Registry;
  let server: ManagementServer;
  let serving: string | undefined;
  let address: AddressInfo;

  beforeEach(async () => {
    store = new MemoryStore();
    serving = undefined;
    registry = new Registry(store);
    server = new ManagementServer({
      registry,
      replicas: () => [
        { model: 'm', version: '1', replica: 0, state: 'down', restarts: 2, lastFailure: 'gone' },
      ],
      servingVersion: (name) => serving ?? registry.currentVersion(name),
      selectionShares: (_application, context) => new Map([[`share-of-${context}`, 1]]),
    });
    address = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(() => server.close(100));

  async function post(verb: string, body: unknown): Promise<{ status: number; text: string; json: unknown }> {
    const response = await fetch(`http://127.0.0.1:${address.port}/admin/${verb}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, text, json: isJson ? (JSON.parse(text) as unknown) : undefined };
  }

  async function done(verb: string, body: unknown): Promise<void> {
    expect(await post(verb, body)).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^Success!/) as string,
    });
  }

  async function refused(verb: string, body: unknown, code: ErrorCode, field?: string): Promise<void> {
    const { status, json } = await post(verb, body);
    expect((json as { error: unknown }).error).toMatchObject({
      code,
      ...(field === undefined ? {} : { field }),
    });
    expect(status).toBe(ERROR_CATALOGUE[code].status);
  }

  const app = { name: 'a', input_type: 'doubles', default_output: '0', latency_slo_micros: 20_000 };
  const model = {
    model_name: 'm',
    model_version: '1',
    input_type: 'doubles',
    container_name: 'windjammer/constant',
    output: '7',
  };

  it('registers, shows and deletes an application', async () => {
    await done('add_app', { ...app, policy: { name: 'exp3' } });
    const shown = { ...app, policy: { name: 'exp3', parameters: {} }, strict: false, linked_models: [] };
    expect((await post('get_application', { name: 'a' })).json).toEqual(shown);
    expect((await post('get_all_applications', {})).json).toEqual(['a']);
    expect((await post('get_all_applications', { verbose: true })).json).toEqual([shown]);
    await refused('add_app', app, 'application_exists');
    await done('delete_app', { name: 'a' });
    await refused('get_application', { name: 'a' }, 'unknown_application', 'name');
    await refused('delete_app', { name: 'a' }, 'unknown_application', 'name');
    await done('add_app', app);
  });

  it('keeps how many queries an application may have in flight, and shows it', async () => {
    await done('add_app', { ...app, max_in_flight: 32 });
    expect((await post('get_application', { name: 'a' })).json).toMatchObject({ max_in_flight: 32 });
    expect(registry.application('a')?.maxInFlight).toBe(32);
  });

  it.each<[string, object]>([
    ['static', { model: 'm' }],
    ['exp3', { eta: 0.1, gamma: 0.1, floor: 0.01 }],
    ['exp3s', { gamma: 0.1, alpha: 0.001 }],
    ['epsilonGreedy', { epsilon: 0.2, memory: null }],
    ['ucb1', { exploration: 1, memory: 1000 }],
    ['thompson', { memory: 1000 }],
    ['exp4', { eta: 0.1, memory: null, floor: 0.1, threshold: 0.6 }],
    ['majority', { threshold: 0.8 }],
    ['weighted', { memory: 1000, threshold: 0.5 }],
  ])('takes policy %s with all its parameters', async (policy, parameters) => {
    await done('add_app', { ...app, policy: { name: policy, parameters } });
    const { json } = await post('get_application', { name: 'a' });
    expect(json).toMatchObject({ policy: { name: policy, parameters } });
  });

  it('offers every policy by name in its OpenAPI document', async () => {
    const response = await fetch(`http://127.0.0.1:${address.port}/openapi.json`);
    const document = await response.text();
    expect(document).toContain(`One of ${POLICY_NAMES.join(', ')}`);
  });

  it.each<[string, object, ErrorCode, string]>([
    ['an empty name', { name: '' }, 'invalid_name', 'name'],
    ['a pattern', { name: '.*' }, 'invalid_name', 'name'],
    ['a slash', { name: 'a/b' }, 'invalid_name', 'name'],
    ['a space', { name: 'a b' }, 'invalid_name', 'name'],
    ['a prototype', { name: '__proto__' }, 'invalid_name', 'name'],
    ['a name that begins with a dot', { name: '.hidden' }, 'invalid_name', 'name'],
    ['unicode', { name: 'ä' }, 'invalid_name', 'name'],
    ['300 characters', { name: 'a'.repeat(300) }, 'invalid_name', 'name'],
    ['a line break', { name: 'a\n' }, 'invalid_name', 'name'],
    ['a reserved word', { name: 'metrics' }, 'invalid_name', 'name'],
    ['a name that is no string', { name: 3 }, 'wrong_type', 'name'],
    ['no name', { name: undefined }, 'missing_field', 'name'],
    ['an unknown input type', { input_type: 'complex' }, 'invalid_value', 'input_type'],
    ['a default that is no string', { default_output: 0 }, 'wrong_type', 'default_output'],
    ['an objective of 0', { latency_slo_micros: 0 }, 'invalid_value', 'latency_slo_micros'],
    ['an objective below 0', { latency_slo_micros: -1 }, 'invalid_value', 'latency_slo_micros'],
    ['an objective of days', { latency_slo_micros: 1e12 }, 'invalid_value', 'latency_slo_micros'],
    ['half a microsecond', { latency_slo_micros: 0.5 }, 'wrong_type', 'latency_slo_micros'],
    ['nothing in flight', { max_in_flight: 0 }, 'invalid_value', 'max_in_flight'],
    ['half a query in flight', { max_in_flight: 0.5 }, 'wrong_type', 'max_in_flight'],
    ['an unknown policy', { policy: { name: 'best' } }, 'invalid_policy', 'policy.name'],
    [
      'a policy’s bad parameter',
      { policy: { name: 'exp3', parameters: { eta: -1 } } },
      'invalid_policy',
      'policy.parameters.eta',
    ],
    [
      'a policy’s unknown parameter',
      { policy: { name: 'exp3', parameters: { x: 1 } } },
      'invalid_policy',
      'policy.parameters.x',
    ],
    ['a field that does not exist', { candidates: [] }, 'unknown_field', 'candidates'],
  ])('refuses an application with %s', async (_what, change, code, field) => {
    await refused('add_app', { ...app, ...change }, code, field);
    expect((await post('get_all_applications', {})).json).toEqual([]);
  });

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

  it('registers versions, makes the newest current, and rolls back', async () => {
    await done('add_model', model);
    await done('add_model', { ...model, model_version: '2', batch_size: 8, labels: ['x'] });
    expect((await post('get_all_models', {})).json).toEqual(['m:1', 'm:2']);
    expect((await post('get_model', { model_name: 'm', model_version: '2' })).json).toEqual({
      ...model,
      model_version: '2',
      model_data_path: '',
      batch_size: 8,
      batching: 'fixed',
      labels: ['x'],
      warm_up: true,
      num_replicas: 1,
      replicas_up: 0,
      is_current_version: true,
      is_serving_version: true,
    });
    await done('set_model_version', { model_name: 'm', model_version: '1' });
    const all = (await post('get_all_models', { verbose: true })).json as { is_current_version: boolean }[];
    expect(all.map((version) => version.is_current_version)).toEqual([true, false]);
    await refused(
      'set_model_version',
      { model_name: 'm', model_version: '3' },
      'unknown_model',
      'model_version',
    );
    await refused(
      'set_model_version',
      { model_name: 'n', model_version: '1' },
      'unknown_model',
      'model_name',
    );
  });

  it.each([
    [{}, { batching: 'aimd', batch_size: -1 }, { strategy: 'aimd' }],
    [{ batching: 'aimd' }, { batching: 'aimd', batch_size: -1 }, { strategy: 'aimd' }],
    [{ batching: 'quantile' }, { batching: 'quantile', batch_size: -1 }, { strategy: 'quantile' }],
    [{ batching: 'quantile', batch_size: -1 }, { batching: 'quantile' }, { strategy: 'quantile' }],
    [{ batch_size: 8 }, { batching: 'fixed', batch_size: 8 }, { strategy: 'fixed', maxBatchSize: 8 }],
    [{ batching: 'fixed', batch_size: 1 }, { batch_size: 1 }, { strategy: 'fixed', maxBatchSize: 1 }],
    [{ batching: 'none' }, { batching: 'none', batch_size: 1 }, { strategy: 'none' }],
    [{ batching: 'none', batch_size: 1 }, { batching: 'none', batch_size: 1 }, { strategy: 'none' }],
    [
      { batch_delay_micros: 2000 },
      { batching: 'aimd', batch_delay_micros: 2000 },
      { strategy: 'aimd', delayUs: 2000 },
    ],
    [
      { batch_size: 8, batch_delay_micros: 1 },
      { batching: 'fixed', batch_size: 8, batch_delay_micros: 1 },
      { strategy: 'fixed', maxBatchSize: 8, delayUs: 1 },
    ],
    [{ batching: 'none', batch_delay_micros: 0 }, { batching: 'none' }, { strategy: 'none' }],
  ])('takes %j for the batch sizes of a model', async (fields, answer, kept) => {
    await done('add_model', { ...model, ...fields });
    const shown = (await post('get_model', { model_name: 'm', model_version: '1' })).json;
    expect(shown).toMatchObject(answer);
    expect(registry.model('m', '1')?.batching).toEqual(kept);
    // What is shown may be sent back.
    const { batching, batch_size, batch_delay_micros } = shown as Record<string, unknown>;
    await done('add_model', { ...model, model_version: '2', batching, batch_size, batch_delay_micros });
    expect(registry.model('m', '2')?.batching).toEqual(kept);
  });

  describe('replicas', () => {
    const version = { model_name: 'm', model_version: '1' };
    const shown = async () => (await post('get_model', version)).json;

    it('are 1 unless said otherwise, and their number is no part of the version', async () => {
      await done('add_model', { ...model, num_replicas: 3, warm_up: false });
      expect(await shown()).toMatchObject({ num_replicas: 3, warm_up: false });
      const record = registry.model('m', '1');
      expect((await post('set_num_replicas', { ...version, num_replicas: 2 })).text).toBe(
        "Success! Model 'm' version '1' is to have 2 replicas.",
      );
      expect(await shown()).toMatchObject({ num_replicas: 2 });
      await done('set_num_replicas', { ...version, num_replicas: 0 });
      expect(await shown()).toMatchObject({ num_replicas: 0 });
      expect(registry.model('m', '1')).toBe(record);
    });

    it('are left to the load between two limits, until a number is given again', async () => {
      await done('add_model', { ...model, min_replicas: 2, max_replicas: 4 });
      expect(await shown()).toMatchObject({ num_replicas: 2, min_replicas: 2, max_replicas: 4 });
      await done('set_num_replicas', { ...version, min_replicas: 1, max_replicas: 8, num_replicas: 5 });
      expect((await post('set_num_replicas', { ...version, min_replicas: 6, max_replicas: 8 })).text).toBe(
        "Success! Model 'm' version '1' is to have 6 to 8 replicas, by load.",
      );
      expect(await shown()).toMatchObject({ num_replicas: 6, min_replicas: 6, max_replicas: 8 });
      await done('set_num_replicas', { ...version, min_replicas: 3, max_replicas: 3 });
      const fixed = await shown();
      expect(fixed).toMatchObject({ num_replicas: 3 });
      expect(fixed).not.toHaveProperty('max_replicas');
    });

    it.each<[object, ErrorCode, string]>([
      [{}, 'missing_field', 'num_replicas'],
      [{ num_replicas: -1 }, 'invalid_value', 'num_replicas'],
      [{ num_replicas: 65 }, 'invalid_value', 'num_replicas'],
      [{ num_replicas: 1.5 }, 'wrong_type', 'num_replicas'],
      [{ num_replicas: '2' }, 'wrong_type', 'num_replicas'],
      [{ min_replicas: 1 }, 'missing_field', 'max_replicas'],
      [{ max_replicas: 3 }, 'missing_field', 'min_replicas'],
      [{ min_replicas: 0, max_replicas: 3 }, 'invalid_value', 'min_replicas'],
      [{ min_replicas: 4, max_replicas: 3 }, 'invalid_value', 'max_replicas'],
      [{ min_replicas: 2, max_replicas: 3, num_replicas: 4 }, 'invalid_value', 'num_replicas'],
      [{ replicas: 3 }, 'unknown_field', 'replicas'],
      [{ num_replicas: 1, model_version: '2' }, 'unknown_model', 'model_version'],
    ])('refuses %j', async (fields, code, field) => {
      await done('add_model', model);
      await refused('set_num_replicas', { ...version, ...fields }, code, field);
      expect(await shown()).toMatchObject({ num_replicas: 1 });
    });

    it('of a new version are as many as of the current one, unless said otherwise', async () => {
      await done('add_model', { ...model, num_replicas: 3 });
      await done('set_num_replicas', { ...version, min_replicas: 2, max_replicas: 5 });
      await done('add_model', { ...model, model_version: '2' });
      expect(registry.scale('m', '2')).toEqual({ replicas: 3, range: { minimum: 2, maximum: 5 } });
      await done('add_model', { ...model, model_version: '3', num_replicas: 0 });
      await done('add_model', { ...model, model_version: '4' });
      expect(registry.scale('m', '4')).toEqual({ replicas: 1 });
    });

    it('of a container that dials in are not ours to start', async () => {
      await done('add_model', { ...model, container_name: 'mine', output: undefined });
      await refused(
        'set_num_replicas',
        { ...version, num_replicas: 2 },
        'conflicting_fields',
        'num_replicas',
      );
    });

    it('go with their version: one that is registered anew has 1', async () => {
      await done('add_model', { ...model, num_replicas: 3 });
      await done('delete_versioned_model', version);
      await done('add_model', model);
      expect(await shown()).toMatchObject({ num_replicas: 1 });
    });
  });

  it('says which version answers until the new one is up, and keeps that one', async () => {
    await done('add_model', model);
    serving = '1';
    expect((await post('add_model', { ...model, model_version: '2' })).text).toBe(
      "Success! Model 'm' version '2' is registered. Version '1' answers until a replica of it is up.",
    );
    const version = (model_version: string) => ({ model_name: 'm', model_version });
    expect((await post('get_model', version('1'))).json).toMatchObject({
      is_current_version: false,
      is_serving_version: true,
    });
    await refused('delete_versioned_model', version('1'), 'version_in_use', 'model_version');
    expect((await post('set_model_version', version('1'))).text).toBe(
      "Success! Model 'm' is at version '1'.",
    );
  });

  it('deletes versions that nobody needs', async () => {
    await done('add_model', model);
    await done('add_model', { ...model, model_version: '2' });
    const version = (model_version: string) => ({ model_name: 'm', model_version });
    await refused('delete_versioned_model', version('2'), 'version_in_use', 'model_version');
    await done('delete_versioned_model', version('1'));
    await refused('get_model', version('1'), 'unknown_model', 'model_version');
    await done('add_app', app);
    await done('add_model_links', { app_name: 'a', model_names: ['m'] });
    await refused('delete_versioned_model', version('2'), 'version_in_use');
    await done('delete_model_links', { app_name: 'a', model_names: ['m'] });
    await done('delete_versioned_model', version('2'));
    await done('add_model', model);
    expect(registry.currentVersion('m')).toBe('1');
  });

  it.each<[string, object, ErrorCode, string]>([
    ['a bad name', { model_name: 'm:1' }, 'invalid_name', 'model_name'],
    ['a bad version', { model_version: 'a,b' }, 'invalid_name', 'model_version'],
    ['a batch size of 0', { batch_size: 0 }, 'invalid_value', 'batch_size'],
    ['an unknown batching', { batching: 'nagle' }, 'invalid_value', 'batching'],
    ['a batching that is no string', { batching: { strategy: 'aimd' } }, 'invalid_value', 'batching'],
    [
      'quantile batching of a size',
      { batching: 'quantile', batch_size: 8 },
      'conflicting_fields',
      'batch_size',
    ],
    ['AIMD of a size', { batching: 'aimd', batch_size: 1 }, 'conflicting_fields', 'batch_size'],
    ['no batching of a size', { batching: 'none', batch_size: 2 }, 'conflicting_fields', 'batch_size'],
    ['fixed batching without a size', { batching: 'fixed' }, 'missing_field', 'batch_size'],
    ['a negative delay', { batch_delay_micros: -1 }, 'invalid_value', 'batch_delay_micros'],
    ['a delay of half a microsecond', { batch_delay_micros: 0.5 }, 'wrong_type', 'batch_delay_micros'],
    [
      'a delay of what never waits',
      { batching: 'none', batch_delay_micros: 5 },
      'conflicting_fields',
      'batch_delay_micros',
    ],
    ['no output', { output: undefined }, 'missing_field', 'output'],
    ['limits of a process', { batch_timeout_ms: 5 }, 'conflicting_fields', 'batch_timeout_ms'],
    ['an environment', { environment: ['A'] }, 'conflicting_fields', 'environment'],
    ['a process without a module', { ...PROCESS, model_data_path: '' }, 'missing_field', 'model_data_path'],
    [
      'a module that is not there',
      { ...PROCESS, model_data_path: '/x.js' },
      'invalid_model',
      'model_data_path',
    ],
    ['TypeScript', { ...PROCESS, model_data_path: THIS_FILE }, 'invalid_model', 'model_data_path'],
    ['a variable that is not set', { ...PROCESS, environment: ['toString'] }, 'invalid_model', 'environment'],
    ['no name of a variable', { ...PROCESS, environment: ['A=B'] }, 'invalid_value', 'environment[0]'],
    [
      'a process that never ends',
      { ...PROCESS, close_timeout_ms: 60_001 },
      'invalid_value',
      'close_timeout_ms',
    ],
    ['an output and another container', { container_name: 'x/y' }, 'conflicting_fields', 'output'],
    [
      'a kernel model without a folder',
      { container_name: 'windjammer/kernel-model', output: undefined },
      'missing_field',
      'model_data_path',
    ],
    [
      'a folder that is not there',
      { container_name: 'windjammer/kernel-model', output: undefined, model_data_path: '/nowhere' },
      'invalid_model',
      'model_data_path',
    ],
    [
      'another input type than its manifest’s',
      {
        container_name: 'windjammer/kernel-model',
        output: undefined,
        model_data_path: builtInModelPath('digits-mlp'),
      },
      'invalid_model',
      'input_type',
    ],
  ])('refuses a model with %s', async (_what, change, code, field) => {
    await refused('add_model', { ...model, ...change }, code, field);
    expect(registry.models()).toEqual([]);
  });

  it('links several models, all or none', async () => {
    await done('add_app', app);
    for (const model_name of ['m', 'n', 'o']) await done('add_model', { ...model, model_name });
    await done('add_model', { ...model, model_name: 'text', input_type: 'strings' });
    await done('add_model_links', { app_name: 'a', model_names: ['n', 'm'] });
    await refused(
      'add_model_links',
      { app_name: 'a', model_names: ['o', 'm'] },
      'link_exists',
      'model_names[1]',
    );
    await refused(
      'add_model_links',
      { app_name: 'a', model_names: ['o', 'o'] },
      'link_exists',
      'model_names[1]',
    );
    await refused(
      'add_model_links',
      { app_name: 'a', model_names: ['o', 'p'] },
      'unknown_model',
      'model_names[1]',
    );
    await refused('add_model_links', { app_name: 'a', model_names: ['text'] }, 'input_type_mismatch');
    await refused(
      'add_model_links',
      { app_name: 'b', model_names: ['m'] },
      'unknown_application',
      'app_name',
    );
    await refused('add_model_links', { app_name: 'a', model_names: [] }, 'invalid_value', 'model_names');
    expect((await post('get_linked_models', { app_name: 'a' })).json).toEqual(['n', 'm']);
    await refused('delete_model_links', { app_name: 'a', model_names: ['m', 'o'] }, 'unknown_link');
    await done('delete_model_links', { app_name: 'a', model_names: ['n'] });
    expect((await post('get_linked_models', { app_name: 'a' })).json).toEqual(['m']);
  });

  it('refuses a version that a linked application could not ask', async () => {
    await done('add_app', app);
    await done('add_model', model);
    await done('add_model_links', { app_name: 'a', model_names: ['m'] });
    await refused(
      'add_model',
      { ...model, model_version: '2', input_type: 'floats' },
      'input_type_mismatch',
      'input_type',
    );
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
    const response = await fetch(`http://127.0.0.1:${address.port}/admin/add_app`);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(({} as Record<string, unknown>).name).toBeUndefined();
  });

  it('describes each verb, and every reference in the description leads somewhere', async () => {
    const text = await (await fetch(`http://127.0.0.1:${address.port}/openapi.json`)).text();
    const document = JSON.parse(text) as { readonly paths: Record<string, unknown> };
    for (const verb of ['add_app', 'add_model', 'add_model_links', 'set_model_version', 'get_state']) {
      expect(Object.keys(document.paths)).toContain(`/admin/${verb}`);
    }
    const pointers = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(pointers)).toEqual(new Set(['components/schemas/Error']));
  });

  it('answers a ping', async () => {
    expect(await (await fetch(`http://127.0.0.1:${address.port}/admin/ping`)).text()).toBe('PONG');
  });

  it('registers what comes with the product once, and finishes what was begun', async () => {
    // Killed after its first step.
    await registry.addApplication({
      name: 'digits',
      inputType: 'floats',
      defaultOutput: '-1',
      latencyObjectiveUs: 100_000,
      policy: { name: 'exp3', parameters: {} },
    });
    await registerDefaults(store, registry);
    expect((await post('get_linked_models', { app_name: 'digits' })).json).toEqual([...BUILT_IN_MODELS]);
    for (const name of BUILT_IN_MODELS) {
      expect(registry.model(name, '1')).toMatchObject({ inputLength: 784, inputType: 'floats' });
    }
    await done('delete_app', { name: 'noop' });
    await registerDefaults(store, registry);
    expect(registry.application('noop')).toBeUndefined();
  });
});
