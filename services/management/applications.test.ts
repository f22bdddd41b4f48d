import { describe, expect, it } from 'vitest';
import { POLICY_NAMES } from '../../selection/index.js';
import type { ErrorCode } from '../errors/index.js';
import { app, eachWithServer, model, verbsOf } from './tests/harness.js';

describe('applications', () => {
  const harness = eachWithServer();
  const { post, done, refused } = verbsOf(harness);

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
    expect(harness().registry.application('a')?.maxInFlight).toBe(32);
  });

  it('keeps the class of an application’s launches, and shows it', async () => {
    await done('add_app', { ...app, launch_class: 'bestEffort' });
    expect((await post('get_application', { name: 'a' })).json).toMatchObject({ launch_class: 'bestEffort' });
    expect(harness().registry.application('a')?.launchClass).toBe('bestEffort');
  });

  it('changes what is given and nothing else', async () => {
    await done('add_app', {
      ...app,
      max_in_flight: 32,
      launch_class: 'bestEffort',
      policy: { name: 'exp3' },
    });
    const before = (await post('get_application', { name: 'a' })).json as object;
    await done('set_app', { name: 'a', latency_slo_micros: 50_000, strict: true });
    const policy = { name: 'exp3', parameters: { eta: 0.2 } };
    await done('set_app', { name: 'a', policy: { parameters: policy.parameters } });
    expect((await post('get_application', { name: 'a' })).json).toEqual({
      ...before,
      latency_slo_micros: 50_000,
      strict: true,
      policy,
    });
    await done('set_app', {
      name: 'a',
      input_type: 'doubles',
      default_output: '1',
      max_in_flight: null,
      launch_class: null,
      strict: false,
      latency_slo_micros: app.latency_slo_micros,
      policy: { name: 'thompson' },
    });
    expect((await post('get_application', { name: 'a' })).json).toEqual({
      ...app,
      default_output: '1',
      policy: { name: 'thompson', parameters: {} },
      strict: false,
      linked_models: [],
    });
  });

  it('warns where a model takes longer than the objective for a single input', async () => {
    harness().oneInputMs = 30.25;
    await done('add_app', app);
    await done('add_model', model);
    const warning =
      "version '1' of model 'm' took 30.3 ms for a single input of its warm-up, and application 'a' has an objective of 20 ms: " +
      'its queries would get the default output';
    const linked = await post('add_model_links', { app_name: 'a', model_names: ['m'] });
    expect(linked.text).toBe(`Success! Application 'a' is linked to m. Warning: ${warning}.`);
    const version = { model_name: 'm', model_version: '1' };
    expect((await post('get_model', version)).json).toMatchObject({
      one_input_micros: 30_250,
      warnings: [warning],
    });
    expect((await post('set_model_version', version)).text).toContain(`. Warning: ${warning}.`);
    const set = (us: number) => post('set_app', { name: 'a', latency_slo_micros: us });
    expect((await set(30_250)).text).toBe("Success! Application 'a' is as asked.");
    expect((await set(30_000)).text).toContain('an objective of 30 ms');
  });

  it.each([
    ['static', { model: 'n' }],
    ['shadow', { model: 'n' }],
    ['canary', { candidate: 'n' }],
    ['ab', { split: { m: 1, n: 1 } }],
    ['cascade', { costs: { n: 12 } }],
  ] as const)('warns where policy %s names a model that is not linked', async (name, parameters) => {
    await done('add_app', { ...app, policy: { name, parameters } });
    await done('add_model', model);
    const warning = ` Warning: policy '${name}' names model 'n', which is not linked.`;
    const links = (...models: string[]) => ({ app_name: 'a', model_names: models });
    const linked = await post('add_model_links', links('m'));
    expect(linked.text).toBe(`Success! Application 'a' is linked to m.${warning}`);
    await done('add_model', { ...model, model_name: 'n' });
    expect((await post('add_model_links', links('n'))).text).not.toContain('Warning');
    expect((await post('delete_model_links', links('n'))).text).toContain(warning);
    expect((await post('set_app', { name: 'a', default_output: '2' })).text).toContain(warning);
  });

  it('refuses another policy where something was learned, unless it may go', async () => {
    const { store, registry } = harness();
    await done('add_app', { ...app, policy: { name: 'exp3' } });
    const engine = harness().engine();
    await done('set_app', { name: 'a', policy: { name: 'exp3s' } });
    await done('set_app', { name: 'a', policy: { name: 'exp3' } });
    const state = { ...(engine.states('a')?.initial('') as object), eta: 0.7 };
    store.set('selection/a/own', { ...state, arms: ['m'], logWeights: [0] }, 0);
    // Another parameter alone is nothing that was learned.
    expect(engine.states('a')?.hasLearned()).toBe(false);
    await post('add_model', model);
    await post('add_model', { ...model, model_name: 'n' });
    await done('add_model_links', { app_name: 'a', model_names: ['m', 'n'] });
    const selection = { arms: ['n'], propensity: 0.5 };
    await new Promise((resolve) =>
      engine
        .states('a')
        ?.of('v')
        .observe({ selection, predictions: [], feedback: { label: 'x' }, done: resolve }),
    );
    const contexts = () => store.list('cold/selection/a/state/').map(({ key }) => key);
    expect(engine.states('a')?.hasLearned()).toBe(true);
    const other = { name: 'a', policy: { name: 'ucb1' } };
    await refused('set_app', other, 'learned_state', 'policy.name');
    expect(contexts()).toHaveLength(1);
    await done('set_app', { name: 'a', policy: { parameters: { eta: 0.3 } } });
    expect(contexts()).toHaveLength(1);
    await done('set_app', { ...other, forget_learned: true });
    expect(store.list('selection/a/')).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(contexts()).toEqual([]);
    expect(registry.application('a')?.policy).toEqual({ name: 'ucb1', parameters: {} });
    engine.close();
  });

  it.each<[string, object, ErrorCode, string | undefined]>([
    ['nothing', {}, 'missing_field', undefined],
    ['an unknown application', { name: 'b', strict: true }, 'unknown_application', 'name'],
    ['another input type', { input_type: 'strings' }, 'input_type_mismatch', 'input_type'],
    ['an objective of 0', { latency_slo_micros: 0 }, 'invalid_value', 'latency_slo_micros'],
    ['a default that is no string', { default_output: 7 }, 'wrong_type', 'default_output'],
    ['null for what cannot go', { latency_slo_micros: null }, 'wrong_type', 'latency_slo_micros'],
    ['an unknown policy', { policy: { name: 'best' } }, 'invalid_policy', 'policy.name'],
    [
      'a bad parameter',
      { policy: { parameters: { model: 3 } } },
      'invalid_policy',
      'policy.parameters.model',
    ],
    ['another name', { new_name: 'b' }, 'unknown_field', 'new_name'],
    ['an unknown class', { launch_class: 'urgent' }, 'invalid_value', 'launch_class'],
  ])('refuses to change %s', async (_what, change, code, field) => {
    await done('add_app', app);
    const before = (await post('get_application', { name: 'a' })).json;
    await refused('set_app', { name: 'a', ...change }, code, field);
    expect((await post('get_application', { name: 'a' })).json).toEqual(before);
  });

  const WITH_PARAMETERS: readonly (readonly [string, object])[] = [
    ['static', { model: 'm' }],
    ['exp3', { eta: 0.1, gamma: 0.1, floor: 0.01, prior: 5 }],
    ['exp3s', { gamma: 0.1, alpha: 0.001, prior: 0 }],
    ['epsilonGreedy', { epsilon: 0.2, memory: null, prior: 2.5 }],
    ['ucb1', { exploration: 1, memory: 1000, prior: 1 }],
    ['thompson', { memory: 1000, prior: 1 }],
    ['linucb', { features: ['hour', 'user.age'], alpha: 0.5, ridge: 2, forgetting: 1, prior: 5 }],
    ['lints', { features: ['hour'], v: 0.25, ridge: 0.5, forgetting: 0.99, prior: 5 }],
    ['exp4', { eta: 0.1, memory: null, floor: 0.1, threshold: 0.6, prior: 5 }],
    ['majority', { threshold: 0.8 }],
    ['weighted', { memory: 1000, threshold: 0.5, prior: 5 }],
    ['ab', { split: { old: 9, new: 1 }, experiment: 'spring' }],
    ['shadow', { model: 'm' }],
    ['cascade', { threshold: 0.8, costs: { small: 1, large: 12 }, budget: 5 }],
    [
      'canary',
      {
        model: 'old',
        candidate: 'new',
        steps: [0.1, 0.5],
        queries: 100,
        loss: 0.01,
        latency: null,
        errors: 0.02,
        confidence: 0.99,
        compared: 0.5,
      },
    ],
  ];

  it('has parameters of every policy to try', () => {
    expect(WITH_PARAMETERS.map(([policy]) => policy)).toEqual(POLICY_NAMES);
  });

  it.each(WITH_PARAMETERS)('takes policy %s with all its parameters', async (policy, parameters) => {
    await done('add_app', { ...app, policy: { name: policy, parameters } });
    const { json } = await post('get_application', { name: 'a' });
    expect(json).toMatchObject({ policy: { name: policy, parameters } });
  });

  it('keeps the loss of an application, changes it, and takes it away', async () => {
    const pinball = { name: 'pinball', quantile: 0.9, scale: 10 };
    await done('add_app', { ...app, loss: pinball });
    expect((await post('get_application', { name: 'a' })).json).toMatchObject({ loss: pinball });
    await done('set_app', { name: 'a', strict: true });
    expect((await post('get_application', { name: 'a' })).json).toMatchObject({ loss: pinball });
    await done('set_app', { name: 'a', loss: { name: 'absolute' } });
    expect((await post('get_application', { name: 'a' })).json).toMatchObject({ loss: { name: 'absolute' } });
    await done('set_app', { name: 'a', loss: null });
    expect((await post('get_application', { name: 'a' })).json).not.toHaveProperty('loss');
    const refused = await post('set_app', { name: 'a', loss: { name: 'absolute', quantile: 0.5 } });
    expect(refused.json).toMatchObject({ error: { code: 'invalid_value', field: 'loss.quantile' } });
    expect((await post('set_app', { name: 'a', loss: { name: 'hinge' } })).status).toBe(400);
  });

  it('keeps what being late costs, changes it, and takes it away', async () => {
    await done('add_app', { ...app, loss_of_late: 1 });
    expect((await post('get_application', { name: 'a' })).json).toMatchObject({ loss_of_late: 1 });
    await done('set_app', { name: 'a', strict: true });
    expect((await post('get_application', { name: 'a' })).json).toMatchObject({ loss_of_late: 1 });
    await done('set_app', { name: 'a', loss_of_late: 0.5 });
    expect((await post('get_application', { name: 'a' })).json).toMatchObject({ loss_of_late: 0.5 });
    await done('set_app', { name: 'a', loss_of_late: null });
    expect((await post('get_application', { name: 'a' })).json).not.toHaveProperty('loss_of_late');
    const refused = await post('set_app', { name: 'a', loss_of_late: 2 });
    expect(refused.json).toMatchObject({ error: { field: 'loss_of_late' } });
  });

  it('offers every policy by name in its OpenAPI document', async () => {
    const response = await fetch(`${harness().url}/openapi.json`);
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
    ['an unknown class', { launch_class: 'urgent' }, 'invalid_value', 'launch_class'],
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
});
