import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { commandFile } from '../cli/index.js';
import { ServedProcess } from './servedProcess.js';

/** Iris flowers; written by scikit-learn, with its answers. */
const EXPORT = join(packageRoot(), 'containers/runtime/tests/sklearn/standardizedSvc.json');

/** Rows with columns of strings; written by scikit-learn, with its answers. */
const TABLE_EXPORT = join(packageRoot(), 'containers/runtime/tests/sklearn/tableUnknown.json');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function windjammer(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [commandFile(), ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

async function post(url: string, body: unknown): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${text}`);
  return text;
}

describe('windjammer import and test', () => {
  let folder: string;
  let model: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-import-'));
    model = join(folder, 'iris');
    const { code, stdout, stderr } = await windjammer('import', 'sklearn', EXPORT, '--out', model, '--json');
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      folder: model,
      labels: ['setosa', 'versicolor', 'virginica'],
      inputType: 'doubles',
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('reports as a table and as JSON', async () => {
    const table = await windjammer('test', model);
    expect(table).toMatchObject({ code: 0, stderr: '' });
    expect(table.stdout).toMatch(/^standardizedSvc on h200, in simulated time\n {2}memory: .*: it fits\n/);
    expect(table.stdout).toContain('golden inputs: 13 of 13 as expected');
    expect(table.stdout).toMatch(/\n {4}256 +\d+\.\d +\d+ +\d+\n$/);
    const report = JSON.parse((await windjammer('test', model, '--json')).stdout) as {
      batches: { batchSize: number }[];
    };
    expect(report).toMatchObject({ fits: true, golden: { cases: 13, passed: 13 } });
    expect(report.batches.map(({ batchSize }) => batchSize)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
  });

  it('reports on each kind of card of several nodes, and how many replicas they hold', async () => {
    const { stdout, code } = await windjammer('test', model, '--gpus', 'h200,t4,t4', '--nodes', '2');
    expect(code).toBe(0);
    expect(stdout.match(/^standardizedSvc on \w+/gm)).toEqual([
      'standardizedSvc on h200',
      'standardizedSvc on t4',
    ]);
    expect(stdout).toMatch(
      /\nreplicas that fit: \d+\n {2}node0\/0 \(h200\): 5\d\d\n(.*\n){4} {2}node1\/2 \(t4\): 3\d\d\n$/,
    );
    const { stderr } = await windjammer('test', model, '--gpus', 'h200', '--device', 'h200');
    expect(stderr).toBe('windjammer: --device and --gpus: choose one\n');
  });

  it('ends with 1 when a golden input fails', async () => {
    const other = join(folder, 'failing');
    await windjammer('import', 'sklearn', EXPORT, '--out', other);
    const file = join(other, 'golden.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"label":"setosa"', '"label":"virginica"'));
    const { code, stdout, stderr } = await windjammer('test', other);
    expect(code).toBe(1);
    expect(stdout).toContain("cases[0]: the label is 'setosa', expected 'virginica'");
    expect(stderr).toContain('windjammer: 1 of 13 golden inputs failed');
  });

  it.each<[string, string[], string]>([
    [
      'a file that is not there',
      ['import', 'sklearn', '/nowhere', '--out', '/tmp/x'],
      'windjammer: cannot read /nowhere: ENOENT',
    ],
    ['no ONNX file', ['import', 'onnx', EXPORT, '--out', '/tmp/x'], 'no whole ONNX file'],
    [
      'a shape that is none',
      ['import', 'onnx', EXPORT, '--out', '/tmp/x', '--input-shape', '1,a'],
      'expected whole numbers from 1',
    ],
    [
      'a folder that cannot be',
      ['import', 'sklearn', EXPORT, '--out', '/dev/null/x'],
      'windjammer: cannot write to /dev/null/x',
    ],
    [
      'a folder with other things',
      ['import', 'sklearn', EXPORT, '--out', '/usr'],
      'windjammer: /usr: the folder holds something that is no model',
    ],
    ['no model folder', ['test', '/nowhere'], 'windjammer: there is no folder /nowhere'],
    [
      'an unknown device',
      ['test', '/nowhere', '--device', 'h1'],
      "--device: no device profile 'h1'; there are: h200, ",
    ],
  ])('ends with 1 and a reason: %s', async (_what, args, text) => {
    const { code, stdout, stderr } = await windjammer(...args);
    expect(stderr).toContain(text);
    expect(stderr.trim().split('\n').length).toBeLessThan(3);
    expect(stdout).toBe('');
    expect(code).toBe(1);
  });

  it('makes a model of rows with strings, which is asked by lists, objects and named tensors', async () => {
    const table = join(folder, 'table');
    const { stdout } = await windjammer('import', 'sklearn', TABLE_EXPORT, '--out', table);
    expect(stdout).toContain('takes strings, rows of x0, x1, x2, x3, x4, answers no, perhaps, yes');
    const served = await ServedProcess.start(['--ephemeral']);
    try {
      const { management, query } = served;
      await post(`${management}/admin/add_app`, {
        name: 'goods',
        input_type: 'strings',
        default_output: 'unknown',
        latency_slo_micros: 1_000_000,
      });
      await post(`${management}/admin/add_model`, {
        model_name: 'table',
        model_version: '1',
        input_type: 'strings',
        container_name: 'windjammer/kernel-model',
        model_data_path: table,
      });
      await post(`${management}/admin/add_model_links`, { app_name: 'goods', model_names: ['table'] });
      const predict = `${query}/goods/predict`;
      const ask = async (input: unknown): Promise<unknown> => JSON.parse(await post(predict, { input }));
      const row = ['red', '1', 0.5, true, 'a note'];
      await expect.poll(() => ask(row), { timeout: 60_000 }).toMatchObject({ default: false });
      expect(await ask(row)).toMatchObject({ output: 'yes' });
      expect(await ask(JSON.stringify(row))).toMatchObject({ output: 'yes' });
      const [x0, x1, x2, x3, x4] = row;
      expect(await ask({ x4, x3, x2, x1, x0 })).toMatchObject({ output: 'yes' });
      await expect(ask({ x0, x1, x2, x3 })).rejects.toThrow("needs a value for the column 'x4'");
      await expect(ask(['red', '1', 'much', true, ''])).rejects.toThrow(
        "input[2] (column 'x2') must be a number",
      );
      const { inputs } = JSON.parse(await (await fetch(`${query}/v2/models/table`)).text()) as {
        inputs: object[];
      };
      expect(inputs).toContainEqual({ name: 'x2', datatype: 'FP64', shape: [-1, 1] });
      const tensors = row.map((value, place) => ({
        name: `x${place}`,
        datatype: place === 2 ? 'FP64' : 'BYTES',
        shape: [2, 1],
        data: place === 2 ? [0.5, -3] : [String(value), 'other'],
      }));
      const { outputs } = JSON.parse(
        await post(`${query}/v2/models/table/infer`, { inputs: tensors, outputs: [{ name: 'label' }] }),
      ) as { outputs: { data: string[] }[] };
      expect(outputs[0].data[0]).toBe('yes');
      expect(outputs[0].data).toHaveLength(2);
    } finally {
      await served.end('SIGTERM');
    }
  });

  it('makes a model that the management interface deploys', async () => {
    const served = await ServedProcess.start(['--ephemeral']);
    try {
      const { management, query } = served;
      await post(`${management}/admin/add_app`, {
        name: 'flowers',
        input_type: 'doubles',
        default_output: 'unknown',
        latency_slo_micros: 1_000_000,
      });
      await post(`${management}/admin/add_model`, {
        model_name: 'iris',
        model_version: '1',
        input_type: 'doubles',
        container_name: 'windjammer/kernel-model',
        model_data_path: model,
      });
      await post(`${management}/admin/add_model_links`, { app_name: 'flowers', model_names: ['iris'] });
      const golden = JSON.parse(readFileSync(join(model, 'golden.json'), 'utf8')) as {
        cases: { input: number[]; label: string }[];
      };
      // The replica starts meanwhile: until it is up, answers are the default.
      await expect
        .poll(
          async () =>
            (
              JSON.parse(await post(`${query}/flowers/predict`, { input: golden.cases[0].input })) as {
                default: boolean;
              }
            ).default,
          { timeout: 60_000 },
        )
        .toBe(false);
      for (const { input, label } of golden.cases) {
        const answer = JSON.parse(await post(`${query}/flowers/predict`, { input })) as { output: string };
        expect(answer.output).toBe(label);
      }
    } finally {
      await served.end('SIGTERM');
    }
  });
});
