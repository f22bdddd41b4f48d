import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pidsOf } from './modelProcesses.js';
import { ServedProcess } from './servedProcess.js';

interface Prediction {
  readonly output: unknown;
  readonly default: boolean;
  readonly default_explanation?: string;
}

const SLO_MICROS = 5_000_000;
const APPLICATION = {
  name: 'app',
  input_type: 'strings',
  default_output: 'nothing',
  latency_slo_micros: SLO_MICROS,
};
const MODEL = {
  model_name: 'model',
  model_version: '1',
  input_type: 'strings',
  container_name: 'windjammer/process',
};

const FAILED = 'Every asked model failed on this input.';
const ENVIRONMENT = { TOKEN_OF_TEST: 'secret' };

let folder: string;
let served: ServedProcess;
let modules = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-models-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function written(source: string): string {
  const module = join(folder, `model${modules++}.mjs`);
  writeFileSync(module, source);
  return module;
}

async function serving(
  source: string,
  fields: { num_replicas?: number; [name: string]: unknown } = {},
  options = ['--ephemeral'],
): Promise<string> {
  served = await ServedProcess.start([...options, '--no-defaults'], ENVIRONMENT);
  const module = written(source);
  await served.admin('add_app', APPLICATION);
  await served.admin('add_model', { ...MODEL, model_data_path: module, ...fields });
  await served.admin('add_model_links', { app_name: 'app', model_names: ['model'] });
  await isUp(fields.num_replicas);
  return module;
}

async function ended(): Promise<void> {
  expect(await served.end('SIGTERM')).toBe(0);
  expect(pidsOf(folder)).toEqual([]);
}

async function predict(input: string): Promise<Prediction> {
  const { status, json, text } = await served.post(`${served.query}/app/predict`, { input });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json as Prediction;
}

/** As one client batch: the raw text of the answer, and what a strict parser makes of it. */
async function predictBatch(inputs: readonly string[]): Promise<readonly Prediction[]> {
  const { text } = await served.post(`${served.query}/app/predict`, { input_batch: inputs });
  return (JSON.parse(text) as { batch_predictions: readonly Prediction[] }).batch_predictions;
}

async function isUp(count = 1): Promise<void> {
  const check = async (): Promise<void> => {
    const replicas = (await served.admin('get_all_containers', { verbose: true })) as { state: string }[];
    expect(replicas.filter(({ state }) => state === 'up')).toHaveLength(count);
  };
  await vi.waitFor(check, { timeout: 30_000, interval: 50 });
}

describe('two replicas of a model in processes', () => {
  afterAll(ended);

  it('lose no query when one is killed with -9 under load; it is out of rotation at once and comes back', async () => {
    const source = `export default { inputType: 'strings', async predict(inputs) {
      await new Promise((resolve) => setTimeout(resolve, 5)); return inputs.map((one) => ({ one, pid: process.pid })); } };`;
    const module = await serving(source, { num_replicas: 2 });
    const { pid } = served;
    const [victim, survivor] = pidsOf('modelProcess.js', module);
    const answers: Promise<Prediction>[] = [];
    const ask = (): void => {
      const input = `query ${answers.length}`;
      answers.push(predict(input));
    };
    for (let round = 0; round < 60; round++) {
      for (let one = 0; one < 8; one++) ask();
      if (round === 20) process.kill(victim, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const found = await Promise.all(answers);
    // Each is retried on the replica that is left: none is late, none has another's answer.
    for (const [at, answer] of found.entries()) {
      expect(answer).toMatchObject({ default: false, output: { one: `query ${at}` } });
    }
    const pids = new Set(found.map(({ output }) => (output as { pid: number }).pid));
    expect([...pids]).toEqual(expect.arrayContaining([victim, survivor]));
    await isUp(2);
    expect(pidsOf('modelProcess.js', module)).toContain(survivor);
    expect(pidsOf('modelProcess.js', module)).not.toContain(victim);
    expect(served.errors).toContain('its process ended with signal SIGKILL');
    expect({ pid: served.pid, hasExited: served.hasExited }).toEqual({ pid, hasExited: false });
  });
});

describe('a model in a process whose batches fail', () => {
  let module: string;
  beforeAll(async () => {
    const source = `
      let largest = 0;
      let thrown = 0;
      export default { inputType: 'strings', async predict(inputs) {
        if (inputs[0] === 'largest') return [largest];
        largest = Math.max(largest, inputs.length);
        if (inputs[0] === 'throw' && thrown++ < 20) throw new Error('thrown ' + thrown);
        if (inputs.includes('bad')) throw new Error('this one is bad');
        if (inputs.includes('fewer')) return inputs.slice(1);
        if (inputs.includes('more')) return [...inputs, ...inputs];
        return inputs;
      } };`;
    module = await serving(source, { batch_size: 16 });
  });
  afterAll(ended);

  // First: whoever has sent what the model fails on travels in smaller batches from then on.
  it('answers 15 of 16 that share a batch with one that it throws for', async () => {
    const inputs = Array.from({ length: 16 }, (_, at) => (at === 7 ? 'bad' : `good ${at}`));
    const answers = await predictBatch(inputs);
    for (const [at, answer] of answers.entries()) {
      if (at === 7) expect(answer).toMatchObject({ default: true, default_explanation: FAILED });
      else expect(answer).toMatchObject({ default: false, output: `good ${at}` });
    }
    // They did travel together.
    expect(Number((await predict('largest')).output)).toBe(16);
  });

  it('answers after it has thrown 20 times in a row, by the same process', async () => {
    const before = pidsOf(module);
    for (let round = 0; round < 20; round++) {
      expect(await predict('throw')).toMatchObject({ default: true });
    }
    expect(await predict('throw')).toMatchObject({ default: false, output: 'throw' });
    expect(pidsOf(module)).toEqual(before);
  });

  it.each(['fewer', 'more'])(
    'fails only the input for which it gives %s outputs, and goes on',
    async (word) => {
      const before = pidsOf(module);
      const [failed, ...others] = await predictBatch([word, `beside ${word}`, `too ${word}`]);
      expect(failed).toMatchObject({ default: true, default_explanation: FAILED });
      // Asked again apart from it.
      expect(others).toMatchObject([{ output: `beside ${word}` }, { output: `too ${word}` }]);
      expect(await predict(`after ${word}`)).toMatchObject({ default: false, output: `after ${word}` });
      expect(pidsOf(module)).toEqual(before);
    },
  );
});

describe('what a model in a process answers', () => {
  afterAll(ended);

  it('is strict JSON of unchanged length, whatever the model gives', async () => {
    const outputs: readonly (readonly [string, unknown])[] = [
      ['NaN', null],
      ['Infinity', null],
      ['-Infinity', null],
      ['[1, NaN, -Infinity, 3]', [1, null, null, 3]],
      ['{ x: NaN, y: [NaN] }', { x: null, y: [null] }],
      ['[undefined, 1]', [null, 1]],
      ['Float64Array.of(1, NaN, 2)', [1, null, 2]],
      ['true', true],
      ['null', null],
      // A text that is one of the three is taken for the number.
      ['"NaN"', null],
      ['"text \\u2028 \\ud800"', 'text \u2028 \ufffd'],
      ['({ output: "7", scores: [NaN, 1] })', 7],
      ['undefined', undefined],
      ['10n', undefined],
      ['() => 1', undefined],
      ['{ toJSON() { throw new Error("no JSON of it") } }', undefined],
    ];
    const list = outputs.map(([text]) => text).join(', ');
    await serving(`const outputs = [${list}];
      export default { inputType: 'strings', predictOne: (text) => outputs[Number(text)] };`);
    const found = await predictBatch(outputs.map((_, at) => String(at)));
    expect(found).toHaveLength(outputs.length);
    for (const [at, [text, expected]] of outputs.entries()) {
      if (expected === undefined) expect(found[at], text).toMatchObject({ default: true });
      else expect(found[at], text).toMatchObject({ default: false, output: expected });
    }
  });
});

describe('registrations of a model in a process', () => {
  let module: string;
  const data = (): string => join(folder, 'data');
  beforeAll(async () => {
    module = await serving(
      `export default { inputType: 'strings', async predictOne(text) {
        if (text.startsWith('slow')) await new Promise((resolve) => setTimeout(resolve, 800));
        return text + ' ' + process.env.TOKEN_OF_TEST; } };`,
      { memory_mib: 256, environment: ['TOKEN_OF_TEST'], batch_timeout_ms: 20_000 },
      ['--data-dir', join(folder, 'data')],
    );
  });
  afterAll(ended);

  it('come back with the server, with all that they say', async () => {
    expect(await predict('before')).toMatchObject({ output: 'before secret' });
    const shown = await served.admin('get_model', { model_name: 'model', model_version: '1' });
    expect(shown).toMatchObject({
      memory_mib: 256,
      environment: ['TOKEN_OF_TEST'],
      batch_timeout_ms: 20_000,
    });
    const before = pidsOf(module);
    expect(await served.end('SIGTERM')).toBe(0);
    expect(pidsOf(module)).toEqual([]);
    served = await ServedProcess.start(['--data-dir', data(), '--no-defaults'], ENVIRONMENT);
    expect(await predict('after')).toMatchObject({ default: false, output: 'after secret' });
    expect(pidsOf(module)).toHaveLength(1);
    expect(pidsOf(module)).not.toEqual(before);
    const again = await served.admin('get_model', { model_name: 'model', model_version: '1' });
    // Its warm-up is measured anew.
    expect(again).toEqual({ ...(shown as object), one_input_micros: expect.any(Number) as number });
  });

  it('made 20 times at once are one: 19 are told so, and one process runs', async () => {
    const twin = written(`export default { inputType: 'strings', predict: (inputs) => inputs };`);
    const fields = { ...MODEL, model_name: 'twin', model_data_path: twin };
    const results = await Promise.all(
      Array.from({ length: 20 }, () => served.post(`${served.management}/admin/add_model`, fields)),
    );
    const statuses = results.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
    for (const { status, text } of results) if (status === 409) expect(text).toContain('model_exists');
    await isUp(2);
    expect(pidsOf(twin)).toHaveLength(1);
    await served.admin('delete_versioned_model', { model_name: 'twin', model_version: '1' });
    await vi.waitFor(() => expect(pidsOf(twin)).toEqual([]), { timeout: 30_000 });
    await served.admin('add_model', fields);
    await isUp(2);
  });

  it('may go while a batch is in flight: its queries are answered', async () => {
    const asked = Array.from({ length: 5 }, (_, at) => predict(`slow ${at}`));
    // They are in the process.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await served.admin('delete_model_links', { app_name: 'app', model_names: ['model'] });
    await served.admin('delete_versioned_model', { model_name: 'model', model_version: '1' });
    for (const [at, answer] of (await Promise.all(asked)).entries()) {
      expect(answer).toMatchObject({ default: false, output: `slow ${at} secret` });
    }
    await vi.waitFor(() => expect(pidsOf(module)).toEqual([]), { timeout: 30_000 });
  });
});
