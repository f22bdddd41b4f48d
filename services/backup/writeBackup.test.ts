import { expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import type { ContainerSource, ModelRecord } from '../registry/index.js';
import { coldFolder, coldKey, MemoryStore } from '../store/index.js';
import { readBackup } from './readBackup.js';
import { writeBackup } from './writeBackup.js';

const modelOf = (container: ContainerSource): ModelRecord => ({
  name: 'm',
  version: '1',
  inputType: 'floats',
  labels: [],
  container,
  batching: { strategy: 'aimd' },
});

it('names files that are to be kept beside it, and not those that come with each installation', async () => {
  const models = [
    modelOf({ kind: 'kernelModel', path: builtInModelPath('digits-mlp') }),
    modelOf({ kind: 'kernelModel', path: '/models/mine' }),
    modelOf({ kind: 'process', path: '/models/sum.mjs' }),
    modelOf({ kind: 'process', path: '/models/sum.mjs' }),
  ];
  const lines = writeBackup({ store: new MemoryStore(), models: () => models, nowMs: () => 0 });
  const { value: header } = await lines.next();
  expect(JSON.parse(String(header))).toMatchObject({ not_included: ['/models/mine', '/models/sum.mjs'] });
});

it('says how much there is that no backup has, as far as anybody can tell', async () => {
  const sources = { store: new MemoryStore(), models: () => [], nowMs: () => 0 };
  const left = { jobs: 2, queued_feedback: 3 };
  const { value: header } = await writeBackup({ ...sources, leftOut: () => Promise.resolve(left) }).next();
  expect(JSON.parse(String(header))).toMatchObject({ left_out: left });
  const unknown = await writeBackup({ ...sources, leftOut: () => Promise.resolve(undefined) }).next();
  expect(JSON.parse(String(unknown.value))).not.toHaveProperty('left_out');
});

it('has what is cold, too', async () => {
  const store = new MemoryStore();
  const folder = coldFolder('selection', 'app', 'state');
  store.set('warm', 1, 'any');
  for (let at = 0; at < 3; at++) store.set(coldKey(folder, `user ${at}`), { at }, 'any');
  const lines = writeBackup({
    store,
    folders: () => [folder],
    models: () => [],
    nowMs: () => 0,
  });
  async function* bytes() {
    for await (const line of lines) yield Buffer.from(line);
  }
  const found: unknown[] = [];
  for await (const part of readBackup(bytes())) if (part.kind === 'entry') found.push([part.key, part.value]);
  expect(found).toEqual([['warm', 1], ...[0, 1, 2].map((at) => [coldKey(folder, `user ${at}`), { at }])]);
});
