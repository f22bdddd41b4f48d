import { expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import type { ContainerSource, ModelRecord } from '../registry/index.js';
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
  const lines = writeBackup({ store: { list: () => [] }, models: () => models, nowMs: () => 0 });
  const { value: header } = await lines.next();
  expect(JSON.parse(String(header))).toMatchObject({ not_included: ['/models/mine', '/models/sum.mjs'] });
});
