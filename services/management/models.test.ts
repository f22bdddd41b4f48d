import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import type { ErrorCode } from '../errors/index.js';
import { app, eachWithServer, model, verbsOf } from './tests/harness.js';

const THIS_FILE = fileURLToPath(import.meta.url);
const PROCESS = {
  container_name: 'windjammer/process',
  model_data_path: 'eslint.config.js',
  output: undefined,
};

const PYTHON = {
  container_name: 'windjammer/python',
  model_data_path: 'docs/examples/flowers/flowers.py',
  output: undefined,
};
const EXEC = {
  container_name: 'windjammer/exec',
  model_data_path: 'docs/examples/mean',
  command: './mean',
  output: undefined,
};

describe('models', () => {
  const harness = eachWithServer();
  const { post, done, refused } = verbsOf(harness);

  it('keeps the class of launches of a kernel model', async () => {
    const digits = {
      ...model,
      model_name: 'd',
      input_type: 'floats',
      output: undefined,
      container_name: 'windjammer/kernel-model',
      model_data_path: builtInModelPath('digits-mlp'),
    };
    await done('add_model', { ...digits, launch_class: 'bestEffort', num_replicas: 0 });
    const { json } = await post('get_model', { model_name: 'd', model_version: model.model_version });
    expect(json).toMatchObject({ launch_class: 'bestEffort' });
    await refused('add_model', { ...digits, launch_class: 'urgent' }, 'invalid_value', 'launch_class');
  });

  it.each([
    ['a module in Python', { ...PYTHON, python: '/usr/bin/python3', memory_mib: 64 }],
    ['a program', { ...EXEC, environment: ['PATH'], batch_timeout_ms: 7 }],
  ])('keeps all that is said of %s', async (_what, fields) => {
    const version = { model_name: 'own', model_version: '1' };
    await done('add_model', { ...model, ...version, input_type: 'doubles', ...fields });
    const { json } = await post('get_model', version);
    const said = Object.entries(fields).filter(([, value]) => value !== undefined);
    expect(json).toMatchObject(Object.fromEntries(said));
    const { content_hash: hash } = json as { readonly content_hash?: string };
    // The command names a file that nobody has built.
    expect(hash === undefined).toBe('command' in fields);
  });

  it('registers versions, makes the newest current, and rolls back', async () => {
    await done('add_model', model);
    await done('add_model', { ...model, model_version: '2', batch_size: 8, labels: ['x'] });
    expect((await post('get_all_models', {})).json).toEqual(['m:1', 'm:2']);
    expect((await post('get_model', { model_name: 'm', model_version: '2' })).json).toEqual({
      ...model,
      model_version: '2',
      warnings: [],
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
    expect(harness().registry.model('m', '1')?.batching).toEqual(kept);
    // What is shown may be sent back.
    const { batching, batch_size, batch_delay_micros } = shown as Record<string, unknown>;
    await done('add_model', { ...model, model_version: '2', batching, batch_size, batch_delay_micros });
    expect(harness().registry.model('m', '2')?.batching).toEqual(kept);
  });

  it('says which version answers until the new one is up, and keeps that one', async () => {
    await done('add_model', model);
    harness().serving = '1';
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
    expect((await post('delete_versioned_model', version('2'))).text).toContain(
      'which has another version: make another one current, or delete those first',
    );
    await done('delete_versioned_model', version('1'));
    await refused('get_model', version('1'), 'unknown_model', 'model_version');
    await done('add_app', app);
    await done('add_model_links', { app_name: 'a', model_names: ['m'] });
    expect((await post('delete_versioned_model', version('2'))).text).toContain(
      "'2' is the current version of model 'm', to which applications are linked: unlink a first",
    );
    await done('delete_model_links', { app_name: 'a', model_names: ['m'] });
    await done('delete_versioned_model', version('2'));
    await done('add_model', model);
    expect(harness().registry.currentVersion('m')).toBe('1');
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
    [
      'a class of launches without kernels',
      { launch_class: 'critical' },
      'conflicting_fields',
      'launch_class',
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
    [
      'a module of another language',
      { ...PYTHON, model_data_path: THIS_FILE },
      'invalid_model',
      'model_data_path',
    ],
    ['Python without a module', { ...PYTHON, model_data_path: '' }, 'missing_field', 'model_data_path'],
    ['a Python that is relative', { ...PYTHON, python: './python3' }, 'invalid_model', 'python'],
    ['a Python for another language', { ...PROCESS, python: 'python3' }, 'conflicting_fields', 'python'],
    ['a program without a command', { ...EXEC, command: undefined }, 'missing_field', 'command'],
    ['a program with an empty command', { ...EXEC, command: ' ' }, 'invalid_model', 'command'],
    ['a program in no folder', { ...EXEC, model_data_path: THIS_FILE }, 'invalid_model', 'model_data_path'],
    ['a command for a module', { ...PROCESS, command: './x' }, 'conflicting_fields', 'command'],
    ['TypeScript', { ...PROCESS, model_data_path: THIS_FILE }, 'invalid_model', 'model_data_path'],
    ['a variable that is not set', { ...PROCESS, environment: ['toString'] }, 'invalid_model', 'environment'],
    ['no name of a variable', { ...PROCESS, environment: ['A=B'] }, 'invalid_value', 'environment[0]'],
    [
      'a process that never ends',
      { ...PROCESS, close_timeout_ms: 60_001 },
      'invalid_value',
      'close_timeout_ms',
    ],
    [
      'a container that cannot connect',
      { container_name: 'mine', output: undefined },
      'invalid_model',
      'container_name',
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
    expect(harness().registry.models()).toEqual([]);
  });
});
