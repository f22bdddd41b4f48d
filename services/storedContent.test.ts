import { describe, expect, it } from 'vitest';
import { LOSS_NAMES, POLICY_NAMES, type Json } from '../selection/index.js';
import type { ContainerSource } from './registry/index.js';
import { StoreError } from './store/index.js';
import { checkStored, storedFault } from './storedContent.js';

const APPLICATION = {
  name: 'a',
  inputType: 'floats',
  defaultOutput: '-1',
  latencyObjectiveUs: 1000,
  policy: { name: 'exp3', parameters: {} },
};
const MODEL = {
  name: 'm',
  version: '1',
  inputType: 'floats',
  labels: [],
  container: { kind: 'constant', output: '0' },
  batching: { strategy: 'aimd' },
};
const KEY = { id: 'k', name: 'ops', scopes: ['admin'], createdMs: 0, hash: '0'.repeat(64) };
const EVENT = {
  time: '2030-01-31T00:00:00.000Z',
  server: 's',
  by: { name: 'open' },
  verb: 'add_app',
  about: {},
};
const NEEDS = { memoryMiB: 64, limits: { batchMs: 1 }, environment: ['HOME'] };
/** Of every kind: one that management takes and that no server reads again would keep it from ever starting. */
const CONTAINERS: { readonly [K in ContainerSource['kind']]: ContainerSource & { readonly kind: K } } = {
  kernelModel: { kind: 'kernelModel', path: '/m', launchClass: 'standard', gpu: 'node0/1' },
  constant: { kind: 'constant', output: '0' },
  process: { kind: 'process', path: '/m.mjs', ...NEEDS },
  python: { kind: 'python', path: '/m.py', python: 'python3', ...NEEDS },
  exec: { kind: 'exec', path: '/m', command: './m', ...NEEDS },
  external: { kind: 'external', containerName: 'x', modelDataPath: '' },
};

describe('what a store holds', () => {
  it.each<[string, Json]>([
    ['registry/application/a', APPLICATION],
    [
      'registry/application/a',
      { ...APPLICATION, strict: true, maxInFlight: 1, launchClass: 'standard', later: 1 },
    ],
    ['registry/model/m/1', MODEL],
    ...Object.values(CONTAINERS).map((container): [string, Json] => [
      'registry/model/m/1',
      { ...MODEL, container: container as unknown as Json, inputLength: 3, inputRange: { minimum: 0 } },
    ]),
    ...POLICY_NAMES.map((name): [string, Json] => [
      'registry/application/a',
      { ...APPLICATION, policy: { name, parameters: {} } },
    ]),
    ...LOSS_NAMES.map((name): [string, Json] => [
      'registry/application/a',
      { ...APPLICATION, loss: { name } },
    ]),
    ['registry/current/m', '1'],
    ['registry/former/m', ['1']],
    ['registry/scale/m/1', { replicas: 2, range: { minimum: 1, maximum: 3 } }],
    ['registry/scale/m/1', { replicas: 0, resting: { replicas: 2 } }],
    ['registry/declared/m/1', 784],
    ['registry/declared/m/1', { length: 784, range: { missing: true } }],
    ['registry/links/a', ['m']],
    ['registry/later/a', null],
    ['access/key/k', KEY],
    ['access/removed', ['k']],
    ['events/000000000001', EVENT],
    ['selection/a/own', null],
    ['selection/a/used/ada', { day: 1, count: 2 }],
    ['selection/a/past', [{ version: 1, replacedMs: 2, state: {} }]],
    ['setup/defaults', true],
    ['later/thing', null],
  ])('is read: %s', (key, value) => {
    expect(storedFault(key, value)).toBeUndefined();
  });

  it.each([
    'registry/application/a',
    'registry/model/m/1',
    'registry/current/m',
    'registry/former/m',
    'registry/scale/m/1',
    'registry/declared/m/1',
    'registry/links/a',
    'access/key/k',
    'access/removed',
    'events/000000000001',
    'selection/a/used/ada',
    'selection/a/past',
    'selection/a/pastOf/ada',
  ])('is refused where nothing is, or something else: %s', (key) => {
    for (const value of [null, true, -0.5, [null], [{}], {}]) {
      // A number is what earlier programs kept of what a model takes, and nothing at all is known of one that takes all.
      if (
        key.startsWith('registry/declared') &&
        (typeof value === 'number' || JSON.stringify(value) === '{}')
      )
        continue;
      expect([key, JSON.stringify(value), storedFault(key, value)]).toEqual([
        key,
        JSON.stringify(value),
        expect.stringMatching(/\S/),
      ]);
    }
  });

  it.each<[string, Json, RegExp]>([
    ['registry/application/b', APPLICATION, /^it is the record of 'a'$/],
    ['registry/model/m/2', MODEL, /^it is the record of version '1' of 'm'$/],
    ['registry/model/m', MODEL, /^its key has 3 parts, and 4 are read$/],
    [
      'registry/application/a',
      { ...APPLICATION, policy: { name: 'none', parameters: {} } },
      /^policy\.name: /,
    ],
    [
      'registry/application/a',
      { ...APPLICATION, policy: { name: 'exp3', parameters: { eta: -1 } } },
      /^policy\./,
    ],
    ['registry/application/a', { ...APPLICATION, loss: { name: 'none' } }, /^loss\.name: /],
    [
      'registry/application/a',
      { ...APPLICATION, loss: { name: 'pinball', quantile: 2 } },
      /^loss\.quantile: /,
    ],
    ['registry/application/a', { ...APPLICATION, latencyObjectiveUs: '1' }, /^latencyObjectiveUs: /],
    ['registry/model/m/1', { ...MODEL, container: { kind: 'exec', path: '/m' } }, /^container\.command: /],
    ['registry/model/m/1', { ...MODEL, container: null }, /^container: /],
    ['registry/model/m/1', { ...MODEL, container: { kind: 'constant' } }, /^container\.output: /],
    [
      'registry/model/m/1',
      { ...MODEL, batching: { strategy: 'fixed', maxBatchSize: 0 } },
      /^batching\.maxBatchSize: /,
    ],
    ['registry/scale/m/1', { replicas: 1e9 }, /^replicas: /],
    ['access/key/other', KEY, /^it is the record of 'k'$/],
    ['access/key/k', { ...KEY, hash: 'x' }, /^hash: expected the SHA-256/],
    ['events/x', EVENT, /^its key is no number/],
    ['events/000000000001', { ...EVENT, time: 'today' }, /^time: /],
    ['registry/%', 1, /^its key is none/],
    ['registry//a', 1, /^its key is none/],
    ['regist%72y/links/a', null, /^its key is none/],
  ])('is refused by its field: %s %j', (key, value, message) => {
    expect(storedFault(key, value)).toMatch(message);
  });

  it('is named with the place and the way out', () => {
    const check = () =>
      checkStored([{ key: 'registry/links/a', entry: { version: 1, value: null } }], 'the data directory /d');
    expect(check).toThrow(StoreError);
    expect(check).toThrow(
      /^the data directory \/d cannot be read: registry\/links\/a is not as servers write it \(.*\): restore a whole backup/,
    );
  });
});
