import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import { Reservations } from '../../containers/runtime/testing/index.js';
import { packageRoot } from '../../simulator/files/index.js';
import { profileNamed } from '../../simulator/gpu/index.js';
import { eachWithServer, model, verbsOf } from './tests/harness.js';

/** Of which a simulated node holds three. */
const BYTES = 2 * 256 * 10 * 4 * 63_000;

describe('memory of GPUs that models are to share', () => {
  const harness = eachWithServer();
  const { post, done } = verbsOf(harness);
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-memory-'));
    cpSync(join(packageRoot(), builtInModelPath('digits-logistic')), folder, { recursive: true });
    const file = join(folder, 'manifest.json');
    const text = readFileSync(file, 'utf8')
      .replace('"deviceBytes": 4194304', '"deviceBytes": 1000000000000')
      .replace('"shape": ["batch", "classes"]', '"shape": ["batch", 63000, "classes"]');
    writeFileSync(file, text);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    harness().reservations = ['node0', 'node1'].map((name) => new Reservations(name, [profileNamed('h200')]));
  });

  const large = (name: string, more: object = {}): object => ({
    ...model,
    model_name: name,
    input_type: 'floats',
    output: undefined,
    container_name: 'windjammer/kernel-model',
    model_data_path: folder,
    ...more,
  });
  const scale = (name: string, replicas: number): object => ({
    model_name: name,
    model_version: '1',
    num_replicas: replicas,
  });
  const messageOf = async (verb: string, body: object): Promise<string> => {
    const { status, json } = await post(verb, body);
    const { error } = json as { error: { code: string; message: string; field: string } };
    expect([status, error.code, error.field]).toEqual([409, 'insufficient_gpu_memory', 'num_replicas']);
    return error.message;
  };

  it('is refused where replicas fit nowhere, each GPU named with what it has free, and nothing is registered', async () => {
    const message = await messageOf('add_model', large('big', { num_replicas: 7 }));
    expect(message).toMatch(
      /^model 'big' version '1' is to have 7 replicas, and 6 of them fit: no GPU has room/,
    );
    for (const node of ['node0', 'node1']) {
      expect(message).toMatch(
        new RegExp(
          `${node}/0 \\(h200\\): \\d+ of its \\d+ bytes are free, and \\d+ of the \\d+ that the simulation has`,
        ),
      );
    }
    expect((await post('get_all_models', {})).json).toEqual([]);
    await done('add_model', large('big', { num_replicas: 6 }));
  });

  it('is counted for replicas that are wanted and have not started', async () => {
    await done('add_model', large('a', { num_replicas: 3 }));
    await done('add_model', large('b', { num_replicas: 2 }));
    await messageOf('set_num_replicas', scale('a', 5));
    await messageOf('add_model', large('c', { num_replicas: 2 }));
    await messageOf('set_num_replicas', { ...scale('b', 4), min_replicas: 4, max_replicas: 8 });
    await done('set_num_replicas', scale('b', 3));
    await messageOf('add_model', large('c'));
    await done('set_num_replicas', scale('a', 0));
    await done('add_model', large('c', { num_replicas: 3 }));
    // Of the load what begins must fit; how far it may go is looked at when it goes there.
    await done('set_num_replicas', { ...scale('c', 3), min_replicas: 1, max_replicas: 8 });
  });

  it('is given to one of several who ask at the same time', async () => {
    for (const name of ['a', 'b', 'c']) await done('add_model', large(name));
    const answers = await Promise.all(
      ['a', 'b', 'c', 'a', 'b', 'c'].map((name) => post('set_num_replicas', scale(name, 4))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409, 409, 409]);
    const records = ['a', 'b', 'c'].map((name) => harness().registry.scale(name, '1').replicas);
    expect(records.sort()).toEqual([1, 1, 4]);
  });

  it('is counted for the version that follows, which has as many replicas as the one before', async () => {
    await done('add_model', large('a', { num_replicas: 4 }));
    const message = await messageOf('add_model', large('a', { model_version: '2' }));
    expect(message).toMatch(/version '2' is to have 4 replicas, and 2 of them fit/);
    await done('add_model', large('a', { model_version: '2', num_replicas: 2 }));
  });

  it('may be asked for less of, also where it has become too little', async () => {
    await done('add_model', large('a', { num_replicas: 6 }));
    harness().reservations = [new Reservations('node0', [profileNamed('h200')])];
    await done('set_num_replicas', scale('a', 5));
    await messageOf('set_num_replicas', scale('a', 6));
    await done('set_num_replicas', scale('a', 3));
    await messageOf('set_num_replicas', scale('a', 4));
  });

  it('of a card is told in other words than that of the simulation', async () => {
    const card = profileNamed('t4');
    const [node] = (harness().reservations = [new Reservations('small', [card])]);
    const leftBytes = BYTES / 2;
    const needs = {
      arrayBytes: card.memory.declaredBytes - leftBytes - 40 * 2 ** 20,
      moduleBytes: 0,
      backingBytes: 0,
    };
    node.reserve(1, 0, { model: 'a', version: '1', replica: '0' }, needs);
    await done('add_model', large('a', { model_data_path: builtInModelPath('digits-logistic') }));
    const message = await messageOf('add_model', large('big'));
    expect(message).toMatch(
      new RegExp(
        `none fits: .*small/0 \\(t4\\): ${leftBytes} of its ${card.memory.declaredBytes} bytes are free, a replica needs \\d+$`,
      ),
    );
    // Whose model is gone gives back what it has.
    await done('delete_versioned_model', { model_name: 'a', model_version: '1' });
    await done('add_model', large('big'));
  });

  it('is none of a constant, of which there may be any number', async () => {
    harness().reservations = [];
    await done('add_model', { ...model, num_replicas: 64 });
    const message = await messageOf('add_model', large('a'));
    expect(message).toContain('there is no GPU node to run a kernel model on');
  });
});

describe('a GPU that a model is pinned to', () => {
  const harness = eachWithServer();
  const { post, done, refused } = verbsOf(harness);
  const digits = (more: object): object => ({
    ...model,
    input_type: 'floats',
    output: undefined,
    container_name: 'windjammer/kernel-model',
    model_data_path: builtInModelPath('digits-logistic'),
    ...more,
  });
  beforeEach(() => {
    harness().reservations = ['node0', 'node1'].map(
      (name) => new Reservations(name, [profileNamed('h200'), profileNamed('a100')]),
    );
  });

  it('is kept with the version, and shown', async () => {
    await done('add_model', digits({ gpu: 'node1/1' }));
    expect((await post('get_model', { model_name: 'm', model_version: '1' })).json).toMatchObject({
      gpu: 'node1/1',
    });
    expect(harness().registry.model('m', '1')?.container).toMatchObject({ gpu: 'node1/1' });
  });

  it.each([
    'node2/0',
    'node0/2',
    'node0/-1',
    'node0/01',
    'node0',
    '0',
    '',
    'node0/0 ',
    'NODE0/0',
    '../node0/0',
  ])('must be there: %j is not, and all that are there are named', async (gpu) => {
    await refused('add_model', digits({ gpu }), 'unknown_gpu', 'gpu');
    const { json } = await post('add_model', digits({ gpu }));
    expect(JSON.stringify(json)).toContain('there are node0/0, node0/1, node1/0, node1/1');
  });

  it('is for models that run on one', async () => {
    await refused('add_model', { ...model, gpu: 'node0/0' }, 'conflicting_fields', 'gpu');
    await refused('add_model', digits({ gpu: 3 }), 'wrong_type', 'gpu');
  });

  it('is the only one that counts', async () => {
    harness().reservations[1].cordon(1, true);
    const { status, json } = await post('add_model', digits({ gpu: 'node1/1' }));
    expect(status).toBe(409);
    expect(JSON.stringify(json)).toMatch(
      /none fits: no GPU has room for a replica: node1\/1 \(a100\): it is cordoned"/,
    );
    await done('add_model', digits({ gpu: 'node1/0', num_replicas: 64 }));
  });
});
