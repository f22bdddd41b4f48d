import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../files/index.js';
import { reportOf } from '../fit/index.js';
import { type FusedModel, published } from '../../../tensor/index.js';
import { moveForms, tileForms } from '../forms/index.js';
import { chunkTiles, modeNames } from '../probes/index.js';
import { PlanBytes, planForm } from './plan.js';
import { readRun } from './results.js';

const folder = mkdtempSync(join(tmpdir(), 'tensor-run-'));
afterAll(() => rmSync(folder, { recursive: true }));

const own: FusedModel = {
  ...published.h100,
  blockLength: 4,
  dealing: 'turns',
  fractionBits: 24,
  zeroSign: 'allNegative',
  nan: 'quiet',
};
const names = [
  'mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32',
  'mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 1',
  'ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16',
  'stmatrix.sync.aligned.m8n8.x2.shared.b16',
  'wmma.load.b.sync.aligned.col.m16n16k16.shared.f16, stride',
];

describe('a run whose card is a program', () => {
  it('tells the models that the program has', () => {
    const all = [...tileForms, ...moveForms];
    const bytes = new PlanBytes();
    const forms = names.map((name) => {
      const index = all.findIndex((form) => form.name === name);
      const form = all[index];
      if (form === undefined) throw new Error(`no form ${name}`);
      return planForm(form, index, bytes);
    });
    const write = (name: string, content: unknown): void =>
      writeFileSync(join(folder, name), JSON.stringify(content));
    write('plan.json', { chunkTiles, modes: modeNames.length, forms, timing: [] });
    write('programs.json', []);
    write('models.json', [{ pattern: 'm16n8k8', model: own }]);
    writeFileSync(join(folder, 'plan.bin'), bytes.all());
    const room = join(packageRoot(), 'simulator/laboratory/tensor/card');
    for (const script of ['runTensor.py', 'fakeDriver.py'])
      copyFileSync(join(room, script), join(folder, script));
    const card = join(packageRoot(), 'dist/simulator/laboratory/tensor/card/fakeCard.js');
    const said = execFileSync(
      'python3',
      [
        '-B',
        join(folder, 'runTensor.py'),
        folder,
        join(folder, 'out'),
        '--fake',
        `${process.execPath} ${card} ${join(folder, 'models.json')}`,
      ],
      { encoding: 'utf8' },
    );
    expect(said).toContain('5 of 5 jobs on fake card');
    const { entries } = readRun(join(folder, 'out'));
    const reports = entries.map((entry) => reportOf(join(folder, 'out'), entry, {}));
    expect(reports.map(({ name, status }) => [name, status]).sort()).toEqual(
      names.map((name) => [name, 'explained']).sort(),
    );
    const modelOf = (name: string | undefined): unknown =>
      reports.find((report) => report.name === name)?.model;
    expect(modelOf(names[0])).toEqual(own);
    expect(modelOf(names[1])).toEqual(published.h100);
  });
});
