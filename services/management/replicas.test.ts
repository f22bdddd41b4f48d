import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../errors/index.js';
import { eachWithServer, model, verbsOf } from './tests/harness.js';

describe('replicas', () => {
  const harness = eachWithServer();
  const { post, done, refused } = verbsOf(harness);
  const version = { model_name: 'm', model_version: '1' };
  const shown = async () => (await post('get_model', version)).json;

  it('are 1 unless said otherwise, and their number is no part of the version', async () => {
    await done('add_model', { ...model, num_replicas: 3, warm_up: false });
    expect(await shown()).toMatchObject({ num_replicas: 3, warm_up: false });
    const record = harness().registry.model('m', '1');
    expect((await post('set_num_replicas', { ...version, num_replicas: 2 })).text).toBe(
      "Success! Model 'm' version '1' is to have 2 replicas.",
    );
    expect(await shown()).toMatchObject({ num_replicas: 2 });
    await done('set_num_replicas', { ...version, num_replicas: 0 });
    expect(await shown()).toMatchObject({ num_replicas: 0 });
    expect(harness().registry.model('m', '1')).toBe(record);
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
    expect(harness().registry.scale('m', '2')).toEqual({ replicas: 3, range: { minimum: 2, maximum: 5 } });
    await done('add_model', { ...model, model_version: '3', num_replicas: 0 });
    await done('add_model', { ...model, model_version: '4' });
    expect(harness().registry.scale('m', '4')).toEqual({ replicas: 1 });
  });

  it('go with their version: one that is registered anew has 1', async () => {
    await done('add_model', { ...model, num_replicas: 3 });
    await done('delete_versioned_model', version);
    await done('add_model', model);
    expect(await shown()).toMatchObject({ num_replicas: 1 });
  });
});
