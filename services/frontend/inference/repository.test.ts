import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../errors/index.js';
import type { ModelRepository } from './index.js';
import { errorOf, floats, InferenceHarness, JSON_TYPE } from '../tests/inference/inferenceHarness.js';

/** Remembers what it was asked. */
class TestRepository implements ModelRepository {
  readonly asked: string[] = [];
  readonly unloaded = new Set<string>();
  states: Record<string, { state: string; reason: string }> = {};
  failure: Error | undefined;

  state(name: string, version: string): { state: string; reason: string } {
    return this.states[`${name}:${version}`] ?? { state: 'READY', reason: '' };
  }

  isLoaded(name: string): boolean {
    return !this.unloaded.has(name);
  }

  load(name: string): Promise<void> {
    return this.change('load', name);
  }

  unload(name: string): Promise<void> {
    return this.change('unload', name);
  }

  private change(verb: 'load' | 'unload', name: string): Promise<void> {
    this.asked.push(`${verb} ${name}`);
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (verb === 'load') this.unloaded.delete(name);
    else this.unloaded.add(name);
    return Promise.resolve();
  }
}

describe('the repository of a server that lets clients change it', () => {
  let repository: TestRepository;
  let harness: InferenceHarness;
  beforeEach(async () => {
    repository = new TestRepository();
    harness = await InferenceHarness.start({
      repository,
      isRepositoryControlled: true,
      allowedOrigins: ['https://friend.test'],
    });
  });
  afterEach(() => harness.close());

  const change = (verb: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    harness.inner.send(`/v2/repository/models/pair/${verb}`, {
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      contentType: null,
      headers,
    });

  it('loads and unloads, with and without a body; what is unloaded answers nothing', async () => {
    expect((await harness.infer('pair', floats([[1, 2]]))).status).toBe(200);
    expect((await change('unload')).json).toEqual({});
    const refused = await harness.infer('pair', floats([[1, 2]]));
    expect([refused.status, errorOf(refused)]).toEqual([503, "'pair' is unloaded"]);
    expect((await harness.get('/v2/models/pair/versions/2/stats')).json).toMatchObject({
      model_stats: [{ inference_stats: { success: { count: 1 }, fail: { count: 1 } } }],
    });
    expect((await harness.infer('m-floats', floats([[1]]))).status).toBe(200);
    expect((await change('load', {})).status).toBe(200);
    expect((await harness.infer('pair', floats([[1, 2]]))).status).toBe(200);
    expect((await change('unload', { parameters: { unload_dependents: false } })).status).toBe(200);
    expect((await change('load', { parameters: { mine: 'x' } }, JSON_TYPE)).status).toBe(200);
    expect(repository.asked).toEqual(['unload pair', 'load pair', 'unload pair', 'load pair']);
  });

  it('lists every version with its state and the reason', async () => {
    harness.service.modelsReady = false;
    repository.states = {
      'pair:1': { state: 'LOADING', reason: 'replica 0 is warming' },
      'pair:2': { state: 'UNAVAILABLE', reason: 'unloaded' },
    };
    const index = (await harness.inner.send('/v2/repository/index')).json as { name: string }[];
    expect(index.filter(({ name }) => name === 'pair')).toEqual([
      { name: 'pair', version: '1', state: 'LOADING', reason: 'replica 0 is warming' },
      { name: 'pair', version: '2', state: 'UNAVAILABLE', reason: 'unloaded' },
    ]);
    // Up in deployment, and not in use yet.
    expect(index.find(({ name }) => name === 'whole')).toMatchObject({ state: 'LOADING' });
    expect((await harness.post('/v2/repository/index', { ready: true })).json).toEqual([]);
    harness.service.modelsReady = true;
    expect((await harness.post('/v2/repository/index', { ready: true })).json).toHaveLength(index.length);
  });

  it('passes failures on in the shape of the protocol', async () => {
    repository.failure = new ServiceError('load_failed', 'version 1: no such file');
    const answer = await change('load');
    expect([answer.status, errorOf(answer)]).toEqual([400, 'version 1: no such file']);
    repository.failure = new Error('secret');
    const defect = await change('unload');
    expect([defect.status, errorOf(defect).includes('secret')]).toEqual([500, false]);
  });

  it.each<[string, string, unknown, number, string]>([
    [
      'another configuration',
      'load',
      { parameters: { config: '{}' } },
      501,
      'parameters.config: models run as',
    ],
    ['files', 'load', { parameters: { 'file:1/model.plan': 'AA==' } }, 501, 'parameters.file:1/model.plan'],
    [
      'dependents as a text',
      'unload',
      { parameters: { unload_dependents: 'yes' } },
      400,
      'unload_dependents must be',
    ],
    ['an array', 'load', [], 400, 'the body must be an object'],
    ['parameters as a list', 'load', { parameters: [] }, 400, 'parameters must be an object'],
    ['a nested parameter', 'unload', { parameters: { x: {} } }, 400, 'parameters.x must be'],
  ])('refuses %s, and changes nothing', async (_what, verb, body, status, says) => {
    const answer = await change(verb, body);
    expect(answer.status, answer.text).toBe(status);
    expect(errorOf(answer)).toContain(says);
    expect(repository.asked).toEqual([]);
  });

  it('lets only pages of its own and of allowed origins change it: such requests need no preflight', async () => {
    const origins = { 'https://evil.test': 403, null: 403, 'https://friend.test': 200 };
    for (const [origin, status] of Object.entries(origins)) {
      const answer = await change('unload', undefined, { origin });
      expect(answer.status, origin).toBe(status);
      if (status === 403) errorOf(answer);
    }
    const own = `http://127.0.0.1:${harness.inner.address.port}`;
    expect((await change('load', undefined, { origin: own })).status).toBe(200);
    expect(repository.asked).toEqual(['unload pair', 'load pair']);
  });
});

describe('the repository of any other server', () => {
  it('is not changed by clients, and says what to do', async () => {
    const repository = new TestRepository();
    const harness = await InferenceHarness.start({ repository });
    for (const verb of ['load', 'unload']) {
      const answer = await harness.post(`/v2/repository/models/pair/${verb}`, {});
      expect([answer.status, errorOf(answer)]).toEqual([
        501,
        expect.stringContaining('--v2-repository-control'),
      ]);
    }
    expect(repository.asked).toEqual([]);
    await harness.close();
  });
});
