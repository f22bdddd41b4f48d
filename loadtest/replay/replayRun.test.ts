import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LoadError } from '../trace/index.js';
import { planReplay, type ReplayRequest } from './replayPlan.js';
import { resultJson, type RunResult } from '../result/index.js';
import { replay } from './replayRun.js';

/** Two models of which `right` answers 1 and `wrong` answers 0. */
const CONFIG = {
  applications: [
    {
      name: 'choice',
      input_type: 'doubles',
      default_output: '-1',
      latency_slo_micros: 20_000,
      policy: { name: 'exp3' },
      linked_models: ['wrong', 'right'],
    },
    {
      name: 'single',
      input_type: 'doubles',
      default_output: '-1',
      latency_slo_micros: 50_000,
      linked_models: ['right'],
    },
  ],
  models: [
    synthetic('wrong', { fixed_ms: 1, item_ms: 0.05, output: '0' }),
    synthetic('right', { fixed_ms: 1, item_ms: 0.05, jitter: 0.1, output: '1' }),
  ],
};

function synthetic(name: string, times: object): Record<string, unknown> {
  return {
    model_name: name,
    model_version: '1',
    input_type: 'doubles',
    container_name: 'windjammer/synthetic',
    synthetic: times,
  };
}

let folder: string;
let config: string;
let inputs: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-replay-'));
  config = written('config.json', JSON.stringify(CONFIG));
  const samples = Array.from({ length: 50 }, (_, at) => ({ input: [at, 0.5], label: 1 }));
  inputs = written('inputs.jsonl', samples.map((sample) => JSON.stringify(sample)).join('\n'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function request(more: Partial<ReplayRequest>): ReplayRequest {
  const feedback = { share: 0, delayMs: 100 };
  return { trace: 'poisson:800', durationSeconds: 4, seed: 3, scale: 1, feedback, cacheBytes: 0, ...more };
}

async function run(more: Partial<ReplayRequest>): Promise<RunResult> {
  const { result, warnings } = await replay(await planReplay(request(more)));
  expect(warnings).toEqual([]);
  return result;
}

const LEARNING = { share: 0.5, delayMs: 20 };

it('gives the same document for the same seed, byte for byte, and another for another', async () => {
  const same = { config, inputs, application: 'choice', feedback: LEARNING, durationSeconds: 1.5 };
  const first = resultJson(await run(same));
  expect(resultJson(await run(same))).toBe(first);
  expect(resultJson(await run({ ...same, seed: 4 }))).not.toBe(first);
});

it('counts every query once, in totals and in windows, and learns from feedback', async () => {
  const result = await run({ config, inputs, application: 'choice', feedback: LEARNING });
  const { arrivals, answers, predictions, defaults, windows, models, accuracy, feedback, applications } =
    result;
  expect(arrivals).toBeGreaterThan(2900);
  expect(answers).toBe(arrivals);
  expect(predictions + defaults).toBe(answers);
  const sum = (of: (window: (typeof windows)[number]) => number) =>
    windows.reduce((all, one) => all + of(one), 0);
  expect(sum((window) => window.arrivals)).toBe(arrivals);
  expect(sum((window) => window.answers)).toBe(answers);
  expect(sum((window) => window.defaults)).toBe(defaults);
  expect(sum((window) => window.items)).toBe(models.reduce((all, { items }) => all + items, 0));
  expect(models.flatMap(({ batchSizes }) => batchSizes).reduce((all, { count }) => all + count, 0)).toBe(
    sum((window) => window.batches),
  );
  expect(accuracy?.labelled).toBe(answers);
  expect(feedback.given / answers).toBeCloseTo(0.5, 1);
  expect(applications[0].feedback).toEqual({ query: feedback.given });
  // One of the two is always wrong: the other one takes over.
  expect(applications[0].selectionShares.right).toBeGreaterThan(0.9);
  const early = windows[0].shares?.choice.right ?? NaN;
  const late = windows.at(-1)?.shares?.choice.right ?? NaN;
  expect(late).toBeGreaterThan(early + 0.2);
});

it('turns away what cannot be in time when too much is asked, and answers nothing late', async () => {
  const overload = { config, application: 'single', trace: 'uniform:40000', durationSeconds: 0.25 };
  const result = await run(overload);
  const [{ latency, defaultReasons, objectiveMs }] = result.applications;
  expect(defaultReasons.overload ?? 0).toBeGreaterThan(1000);
  expect(defaultReasons.overload).toBeGreaterThan(defaultReasons.deadline ?? 0);
  expect(latency?.maxMs).toBeLessThanOrEqual(objectiveMs * 1.000001);
  expect(result.predictions).toBeGreaterThan(0);
  // A replica more serves more.
  const wider = await run({ ...overload, replicas: 2 });
  expect(wider.predictions).toBeGreaterThan(1.3 * result.predictions);
});

it('asks a policy from a file in virtual time, and repeats itself', async () => {
  const own = {
    trace: 'poisson:300',
    durationSeconds: 0.2,
    objectiveMs: 50,
    policyFile: 'docs/examples/policies/softmax.mjs',
    policy: 'file:{"temperature":5}',
  };
  const result = await run(own);
  const [digits] = result.applications;
  expect(digits).toMatchObject({ policy: { name: 'file', parameters: { temperature: 5 } }, defaults: 0 });
  // It draws among all.
  expect(result.models.filter(({ answers }) => answers > 0).length).toBeGreaterThan(2);
  expect((await run(own)).models).toEqual(result.models);
});

it('computes digits with their kernels', async () => {
  const result = await run({
    trace: 'poisson:300',
    durationSeconds: 0.4,
    policy: 'static',
    objectiveMs: 50,
    repeats: 0.5,
    cacheBytes: 1 << 24,
  });
  const [digits] = result.applications;
  expect(digits).toMatchObject({ name: 'digits', policy: { name: 'static' }, objectiveMs: 50, defaults: 0 });
  expect(result.accuracy?.share).toBeGreaterThan(0.8);
  expect(result.cache?.hits).toBeGreaterThan(0);
  expect(result.cache?.misses).toBeGreaterThan(result.arrivals / 2);
  expect(result.loadingSeconds).toBeGreaterThan(0);
  expect(result.gpuNodes.map(({ name, gpus, replicas }) => [name, gpus, replicas])).toEqual([
    ['node0', ['h200'], [5]],
  ]);
  expect(result.gpuNodes[0].busySeconds).toBeGreaterThan(0);
});

it('spreads replicas over the GPUs of its nodes, a pinned one where it is pinned to', async () => {
  const digits = (name: string, more: object = {}): object => ({
    model_name: name,
    model_version: '1',
    input_type: 'floats',
    container_name: 'windjammer/kernel-model',
    model_data_path: 'containers/models/digits-logistic',
    ...more,
  });
  const config = (pin: string): string =>
    configured({
      gpus: ['h200', 't4'],
      nodes: 2,
      applications: [
        { ...CONFIG.applications[0], input_type: 'floats', linked_models: ['spread', 'pinned'] },
      ],
      models: [digits('spread', { replicas: 5 }), digits('pinned', { gpu: pin })],
    });
  const request = { trace: 'poisson:200', durationSeconds: 0.05 };
  const { gpuNodes } = await run({ ...request, config: config('node1/1') });
  expect(gpuNodes.map(({ name, gpus, replicas }) => [name, gpus, replicas])).toEqual([
    ['node0', ['h200', 't4'], [2, 1]],
    ['node1', ['h200', 't4'], [1, 2]],
  ]);
  const other = await run({ ...request, config: config('node0/0'), gpus: 1, nodes: 1 });
  expect(other.gpuNodes.map(({ gpus, replicas }) => [gpus, replicas])).toEqual([[['h200'], [6]]]);
  await expect(run({ ...request, config: config('node1/1'), nodes: 1 })).rejects.toThrow(
    /cannot start: .*it is pinned to GPU 'node1\/1', which is not there: there are node0\/0, node0\/1/,
  );
  await expect(run({ ...request, config: config('node0/0'), gpus: ['h200', 'abacus'] })).rejects.toThrow(
    /--gpus: no device profile 'abacus'/,
  );
});

it('follows a file: who is asked, what, and what is right', async () => {
  const trace = written(
    'trace.csv',
    'time_s,application,input,label\n10,single,"[1,2]",1\n10.5,choice,"[3]",0\n11,single,"[4]",0\n12,,"[5]",\n',
  );
  const settings = await planReplay({
    trace,
    seed: 1,
    scale: 2,
    config,
    feedback: { share: 1, delayMs: 0 },
    cacheBytes: 0,
  });
  const { result } = await replay(settings);
  expect(result.durationSeconds).toBe(1);
  expect(result.applications.map(({ name, arrivals }) => [name, arrivals])).toEqual([
    ['choice', 2],
    ['single', 2],
  ]);
  expect(result.applications[1].accuracy).toEqual({ labelled: 2, correct: 1, share: 0.5 });
  expect(result.feedback.given).toBe(3);
});

it.each<[string, () => Partial<ReplayRequest>, RegExp]>([
  [
    'an unknown application',
    () => ({ application: 'nobody' }),
    /--app: there is no application 'nobody', only digits, noop/,
  ],
  ['an unknown policy', () => ({ policy: 'guess' }), /--policy: name: there is no policy 'guess'/],
  ['a policy’s bad number', () => ({ policy: 'exp3:{"eta":-1}' }), /--policy: .*eta/],
  [
    'a policy’s bad JSON',
    () => ({ policy: 'exp3:{eta}' }),
    /--policy: the parameters of 'exp3' are not JSON/,
  ],
  [
    'a policy file that is not there',
    () => ({ policyFile: '/no.mjs' }),
    /--policy-file: cannot read \/no\.mjs/,
  ],
  [
    'parameters of another policy than the file’s',
    () => ({ policyFile: 'docs/examples/policies/softmax.mjs', policy: 'exp3' }),
    /--policy: with --policy-file it is 'file:PARAMETERS'/,
  ],
  [
    'inputs of another length',
    () => ({ inputs }),
    /inputs\.jsonl: sample 0: input must have 784 elements, 2 came/,
  ],
  ['repeats of other inputs', () => ({ inputs, repeats: 1 }), /--repeats: it is for the digits/],
  ['no inputs', () => ({ inputs: '/nowhere.json' }), /--inputs: \/nowhere.json cannot be read/],
  [
    'an application that is not replayed',
    () => ({ trace: written('a.csv', 'time_s,application\n0,digits\n1,hugo\n'), durationSeconds: 5 }),
    /a\.csv:3: application 'hugo' is not replayed: it must be one of digits, noop/,
  ],
  [
    'an input of another type',
    () => ({ config, trace: written('b.csv', 'time_s,input\n0,"[1]"\n1,seven\n') }),
    /b\.csv:3: input must be an array of doubles/,
  ],
  [
    'a sample that is not there',
    () => ({ config, inputs, application: 'single', trace: written('c.csv', 'time_s,sample\n0,50\n') }),
    /c\.csv:2: there is no sample 50: there are 0 to 49/,
  ],
  ['no configuration', () => ({ config: '/nowhere.json' }), /--config: \/nowhere.json cannot be read/],
  ['a configuration that is no JSON', () => ({ config: written('d.json', '{') }), /d\.json: not JSON/],
  ['no models', () => ({ config: configured({ models: [] }) }), /e\.json: models: /],
  ['an unknown field', () => ({ config: configured({ hosts: 3 }) }), /e\.json: there is no field hosts/],
  [
    'a model that a server would scale',
    () => ({ config: configured({ models: [{ ...CONFIG.models[0], num_replicas: 3 }] }) }),
    /e\.json: there is no field models\[0\]\.num_replicas/,
  ],
  [
    'a link to nothing',
    () => ({
      config: configured({ applications: [{ ...CONFIG.applications[0], linked_models: ['none'] }] }),
    }),
    /e\.json: applications\[0\]: no model has the name 'none'/,
  ],
  [
    'a model that nothing runs',
    () => ({
      config: configured({ models: [{ ...CONFIG.models[0], container_name: 'mine', synthetic: undefined }] }),
    }),
    /e\.json: models\[0\]: nothing here runs a container 'mine'/,
  ],
  [
    "a module, which runs in the wall's time",
    () => ({
      config: configured({
        models: [
          {
            ...CONFIG.models[0],
            container_name: 'windjammer/process',
            model_data_path: 'm.mjs',
            synthetic: undefined,
          },
        ],
      }),
    }),
    /e\.json: models\[0\]: a module or a program runs in the wall's time, .*windjammer\/synthetic/,
  ],
  [
    'a synthetic model without times',
    () => ({ config: configured({ models: [{ ...CONFIG.models[0], synthetic: undefined }] }) }),
    /models\[0\]: a container_name of windjammer\/synthetic and the field synthetic go together/,
  ],
  [
    'a GPU that nobody makes',
    () => ({
      config: configured({
        gpus: ['h9000'],
        applications: [
          { ...CONFIG.applications[0], input_type: 'floats', linked_models: ['digits-logistic'] },
        ],
        models: [
          {
            model_name: 'digits-logistic',
            model_version: '1',
            input_type: 'floats',
            container_name: 'windjammer/kernel-model',
            model_data_path: 'containers/models/digits-logistic',
          },
        ],
      }),
    }),
    /gpus: .*h9000/,
  ],
])('says what is wrong and how to mend it: %s', async (_what, more, message) => {
  const attempt = run(more());
  await expect(attempt).rejects.toThrow(LoadError);
  await expect(attempt).rejects.toThrow(message);
});

function configured(parts: object): string {
  return written('e.json', JSON.stringify({ ...CONFIG, ...parts }));
}
