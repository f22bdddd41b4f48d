import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { builtInModelPath, loadKernelModel } from '../../containers/models/index.js';
import { profileNamed } from '../../simulator/gpu/index.js';
import { eachWithServer, model, verbsOf } from './tests/harness.js';

describe('a model that no GPU can hold', () => {
  const harness = eachWithServer();
  const { post, done } = verbsOf(harness);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-fit-'));
    cpSync(join(packageRoot(), builtInModelPath('digits-logistic')), folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const edit = (change: (text: string) => string): void => {
    const file = join(folder, 'manifest.json');
    const text = readFileSync(file, 'utf8').replace('"deviceBytes": 4194304', '"deviceBytes": 1000000000000');
    writeFileSync(file, change(text));
  };
  const fields = (): object => ({
    ...model,
    model_name: 'd',
    input_type: 'floats',
    output: undefined,
    container_name: 'windjammer/kernel-model',
    model_data_path: folder,
  });

  it.each<[string, (text: string) => string, string]>([
    [
      'for its arrays',
      (text) => text.replace('"shape": ["batch", "classes"]', '"shape": ["batch", 10000000, "classes"]'),
      'all arrays with',
    ],
    [
      'for its shared memory, part of which the kernel has itself',
      (text) => text.replace('"splits", 1],', '"splits", 1],\n      "dynamicSharedBytes": 232448,'),
      'bytes of shared memory a block',
    ],
  ])('is refused by name when it is registered %s', async (_what, change, told) => {
    edit(change);
    const { status, json } = await post('add_model', fields());
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code: 'invalid_model', field: 'model_data_path' } });
    expect(JSON.stringify(json)).toContain(told);
    expect((await post('get_all_models', {})).json).toEqual([]);
  });

  it('is refused by name when it is registered for the registers of its threads', async () => {
    edit((text) => text.replace('"block": [32, 1, 1]', '"block": [1024, 1, 1]'));
    await done('add_model', { ...fields(), num_replicas: 0 });
    // 200 values that are all needed at the end.
    const file = join(folder, 'logistic.ptx');
    const values = Array.from({ length: 200 }, (_, index) => index);
    const loads = values.map((index) => `ld.global.volatile.f32 %wide${index}, [%wide+${4 * index}];`);
    const sums = values.map((index) => `st.global.volatile.f32 [%wide+${4 * index}], %wide${199 - index};`);
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/\bret;(?=[^;]*$)/, () =>
        [
          '.reg .b64 %wide; .reg .f32 %wide<200>;',
          'ld.param.u64 %wide, [softmax_param_0];',
          'cvta.to.global.u64 %wide, %wide;',
          ...loads,
          ...sums,
          'ret;',
        ].join('\n'),
      ),
    );
    const { status, json } = await post('add_model', { ...fields(), model_name: 'wide' });
    expect([status, JSON.stringify(json)]).toEqual([
      400,
      expect.stringMatching(/1024 threads of \d+ registers/),
    ]);
  });

  it('is registered where one of several GPUs can', async () => {
    edit((text) => text.replace('"shape": ["batch", "classes"]', '"shape": ["batch", 100000, "classes"]'));
    const cards = [profileNamed('8800gtx'), profileNamed('h200')];
    expect(loadKernelModel(folder, cards).misfits).toEqual({
      '8800gtx': expect.stringMatching(/buffers 'scores': all arrays .* 8800gtx has 768 MiB/) as string,
    });
    await done('add_model', { ...fields(), num_replicas: 0 });
  });
});
