import { describe, expect, it } from 'vitest';
import { app, eachWithServer, model, verbsOf } from './tests/harness.js';

describe('links', () => {
  const harness = eachWithServer();
  const { post, done, refused } = verbsOf(harness);

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
});
