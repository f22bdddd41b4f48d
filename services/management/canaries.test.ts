import { describe, expect, it } from 'vitest';
import { WindjammerClient } from '../client/index.js';
import type { ErrorCode } from '../errors/index.js';
import { eachWithServer, model, verbsOf } from './tests/harness.js';

const harness = eachWithServer();
const { done, post, refused } = verbsOf(harness);

const named = { model_name: 'm' };

describe('canaries', () => {
  it('begin with a version, are shown, and are ended by hand, each change an event', async () => {
    await done('add_model', model);
    const added = await post('add_model', { ...model, model_version: '2', canary: true });
    expect(added.text).toBe(
      "Success! Model 'm' version '2' is registered. Version '2' of model 'm' is tried beside '1' from the moment that a replica of it is up.",
    );
    const tried = {
      model_name: 'm',
      candidate_version: '2',
      incumbent_version: '1',
      phase: 'ramping',
      parameters: {},
    };
    expect((await post('get_canary', named)).json).toEqual(tried);
    expect((await post('get_all_canaries', {})).json).toEqual([tried]);
    expect((await post('get_model', { ...named, model_version: '2' })).json).toMatchObject({
      canary: 'ramping',
      is_current_version: false,
    });
    expect((await post('abort_canary', named)).text).toBe(
      "Success! Version '2' of model 'm' is no longer tried: '1' answers.",
    );
    expect((await post('abort_canary', named)).json).toMatchObject({
      error: { code: 'no_canary', message: "no version of model 'm' is being tried: '2' was aborted" },
    });
    const start = { ...named, model_version: '2', canary: { loss: 0.1 } };
    expect((await post('start_canary', start)).status).toBe(200);
    expect((await post('promote_canary', named)).text).toBe("Success! Model 'm' is at version '2'.");
    expect(harness().registry.currentVersion('m')).toBe('2');
    const again = { ...model, model_version: '3', canary: false };
    expect((await post('add_model', again)).text).toContain(
      `canary: expected true, or an object of parameters such as {\\"loss\\": 0.01}, the boolean false came`,
    );
    expect((await post('start_canary', { ...start, canary: null })).text).toContain(
      'canary: expected object, null came',
    );
    expect(
      harness()
        .events.recent()
        .map(({ verb }) => verb),
    ).toEqual(['add_model', 'add_model', 'abort_canary', 'start_canary', 'promote_canary']);
    expect(harness().events.recent().at(-1)).toMatchObject({
      about: { model: 'm', version: '2' },
      before: { canary: 'ramping', current_version: '1' },
      after: { canary: 'promoted', current_version: '2' },
    });
  });

  it('warn of a version that is to have no replicas: it would wait for ever', async () => {
    await done('add_model', model);
    const idle = { ...model, model_version: '2', num_replicas: 0, canary: true };
    const warning = ' Warning: it is to have none: set_num_replicas gives it some.';
    expect((await post('add_model', idle)).text).toContain(`a replica of it is up.${warning}`);
    await done('abort_canary', named);
    const start = { ...named, model_version: '2' };
    expect((await post('start_canary', start)).text).toContain(warning);
    await done('abort_canary', named);
    await done('set_num_replicas', { ...start, num_replicas: 1 });
    expect((await post('start_canary', start)).text).not.toContain('Warning');
  });

  it('are not begun by a client with NaN, which would travel as null and take a rail away', async () => {
    await done('add_model', model);
    const { management } = new WindjammerClient({ managementUrl: harness().url });
    await expect(management.startCanary('m', '2', { loss: NaN })).rejects.toThrow(
      'canary.loss must be a finite number, not NaN',
    );
    await expect(management.startCanary('m', '2', { steps: [0.1, Infinity] })).rejects.toThrow(
      'canary.steps[1] must be a finite number, not Infinity',
    );
  });

  it.each<[string, string, object, ErrorCode, string]>([
    [
      'of the first version',
      'add_model',
      { ...model, model_name: 'n', canary: true },
      'no_incumbent',
      'model_version',
    ],
    [
      'with a parameter that is none',
      'add_model',
      { ...model, model_version: '2', canary: { los: 1 } },
      'invalid_policy',
      'canary.los',
    ],
    ['of nothing', 'start_canary', { ...named, model_version: '9' }, 'unknown_model', 'model_version'],
    [
      'of the current version',
      'start_canary',
      { ...named, model_version: '1' },
      'no_incumbent',
      'model_version',
    ],
    [
      'with what are no parameters',
      'add_model',
      { ...model, model_version: '2', canary: false },
      'invalid_value',
      'canary',
    ],
    ['with a list', 'start_canary', { ...named, model_version: '1', canary: [] }, 'wrong_type', 'canary'],
    ['that was never there', 'promote_canary', named, 'no_canary', 'model_name'],
    ['that is to be shown', 'get_canary', named, 'no_canary', 'model_name'],
  ])('are refused: one %s', async (_what, verb, body, code, field) => {
    await done('add_model', model);
    await refused(verb, body, code, field);
  });
});
