import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** Echoes, but for the words that name a way to fail. */
const UNRULY = `
import { spawn } from 'node:child_process';
import fs from 'node:fs';
const LINE = 3;
const u32 = (value) => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(value); return bytes; };
const ways = {
  exit: () => process.exit(3),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  block: () => { for (;;); },
  reject: () => { Promise.reject(new Error('nobody waits for this')); return forever(); },
  throwLater: () => { setTimeout(() => { throw new Error('thrown later'); }, 1); return forever(); },
  garbage: () => { fs.writeSync(LINE, 'HTTP/1.1 400 Bad Request'); return forever(); },
  oversized: () => { fs.writeSync(LINE, Buffer.from([255, 255, 255, 255, 1, 3])); return forever(); },
  halfAFrame: () => { fs.writeSync(LINE, Buffer.from([100, 0, 0, 0, 2, 3, 1, 2])); process.exit(0); },
  oldVersion: () => { fs.writeSync(LINE, Buffer.from([2, 0, 0, 0, 0, 3])); return forever(); },
  closeLine: () => { fs.closeSync(LINE); return forever(); },
  heap: () => { const kept = []; for (;;) kept.push(new Array(1e6).fill(kept.length)); },
  buffers: async () => { const kept = []; for (;;) { kept.push(Buffer.alloc(2 ** 24, 1)); await pause(5); } },
  children: () => { child(); child(); process.exit(4); },
  childrenStay: () => { child(); return 'childrenStay'; },
  print: () => { const line = 'x'.repeat(99) + '\\n'; for (let i = 0; i < 1e3; i++) fs.writeSync(1, line.repeat(1e3)); return 'print'; },
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const forever = () => new Promise(() => setInterval(() => undefined, 1000));
const child = () => spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)', import.meta.filename + '-child'], { stdio: 'inherit' });
export default { inputType: 'strings', predictOne: (text) => (ways[text] ?? (() => text))() };
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-failures-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** An application of one model in a process. */
async function serveModel(
  served: ServedProcess,
  name: string,
  source: string,
  fields: object = {},
  objectiveUs = 3_000_000,
): Promise<string> {
  const module = join(folder, `${name}.mjs`);
  writeFileSync(module, source);
  await served.admin('add_app', {
    name,
    input_type: 'strings',
    default_output: 'nothing',
    latency_slo_micros: objectiveUs,
  });
  await served.admin('add_model', {
    model_name: name,
    model_version: '1',
    input_type: 'strings',
    container_name: 'windjammer/process',
    model_data_path: module,
    ...fields,
  });
  await served.admin('add_model_links', { app_name: name, model_names: [name] });
  await answers(served, name);
  return module;
}

async function removeModel(served: ServedProcess, name: string): Promise<void> {
  await served.admin('delete_model_links', { app_name: name, model_names: [name] });
  await served.admin('delete_versioned_model', { model_name: name, model_version: '1' });
}

async function predict(served: ServedProcess, name: string, input: string): Promise<Prediction> {
  const { status, json, text } = await served.post(`${served.query}/${name}/predict`, { input });
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json as Prediction;
}

/** Once the model predicts again. */
async function answers(served: ServedProcess, name: string): Promise<void> {
  let round = 0;
  const isUp = async (): Promise<void> =>
    expect(await predict(served, name, `well ${round++}`)).toMatchObject({ default: false });
  await vi.waitFor(isUp, { timeout: 60_000, interval: 100 });
}

describe('a model in a process that goes wrong', () => {
  let served: ServedProcess;
  beforeAll(async () => {
    // A busy host may take seconds to see what else goes wrong: silence must not be told before.
    served = await ServedProcess.start(['--ephemeral', '--no-defaults', '--hang-after-ms', '20000']);
    await serveModel(served, 'bystander', UNRULY);
  });
  afterAll(async () => {
    expect(await served.end('SIGTERM')).toBe(0);
    expect(pidsOf(folder)).toEqual([]);
  });

  it.each<[string, RegExp, object?]>([
    ['exit', /exit code 3/],
    ['kill', /signal SIGKILL/],
    ['block', /did not answer a batch for 0.7 s/, { batch_timeout_ms: 700 }],
    ['throwLater', /exit code 1: .*thrown later/],
    ['garbage', /no frame: a frame of \d+ bytes/],
    ['oversized', /no frame: a frame of 4294967295 bytes/],
    ['halfAFrame', /exit code 0/],
    ['oldVersion', /protocol version 0; this side speaks version 2/],
    ['closeLine', /closed its line and went on/],
    ['heap', /heap out of memory/, { memory_mib: 64 }],
    ['buffers', /MiB resident, more than memory_mib 64/, { memory_mib: 64 }],
    ['children', /exit code 4/],
  ])('%s: is started again, with the reason, and nobody else notices', async (way, reason, fields = {}) => {
    const { pid } = served;
    const module = await serveModel(served, way, UNRULY, fields);
    const [before] = pidsOf('modelProcess.js', module);
    const [failed, beside] = await Promise.all([
      predict(served, way, way),
      predict(served, 'bystander', `beside ${way}`),
    ]);
    expect(failed).toMatchObject({ output: 'nothing', default: true });
    expect(failed.default_explanation).toMatch(/./);
    expect(beside).toMatchObject({ output: `beside ${way}`, default: false });
    await answers(served, way);
    // The process that failed is gone, with all that it had started; one serves, and one tries what may kill it.
    await expect.poll(() => pidsOf(module).length, { timeout: 30_000 }).toBe(2);
    expect(pidsOf(module)).not.toContain(before);
    const replicas = await served.admin('get_all_containers', { verbose: true });
    const mine = (replicas as { model_name: string; last_failure?: string; restarts: number }[]).find(
      ({ model_name: name }) => name === way,
    );
    expect(mine?.last_failure).toMatch(reason);
    expect(mine?.restarts).toBeGreaterThanOrEqual(1);
    expect(served.errors).toMatch(reason);
    expect({ pid: served.pid, hasExited: served.hasExited }).toEqual({ pid, hasExited: false });
    await removeModel(served, way);
  });

  it('rejects a promise that nobody waits for: the input fails, with the reason, and the process goes on', async () => {
    const module = await serveModel(served, 'reject', UNRULY);
    const before = pidsOf('modelProcess.js', module);
    const failed = await predict(served, 'reject', 'reject');
    expect(failed).toMatchObject({ output: 'nothing', default: true });
    expect(await predict(served, 'reject', 'well')).toMatchObject({ output: 'well', default: false });
    expect(pidsOf('modelProcess.js', module)).toEqual(before);
    expect(served.errors).toMatch(/Unhandled rejection: Error: nobody waits for this/);
    await removeModel(served, 'reject');
  });

  it('prints 100 MB: it answers, the log has a little of it and says so', async () => {
    await serveModel(served, 'print', UNRULY);
    const [printed, beside] = await Promise.all([
      predict(served, 'print', 'print'),
      predict(served, 'bystander', 'beside print'),
    ]);
    expect(beside).toMatchObject({ default: false });
    expect(printed.output).toMatch(/print|nothing/);
    await answers(served, 'print');
    // What was printed may come after what was answered.
    await expect
      .poll(() => served.errors, { timeout: 30_000 })
      .toMatch(/lines left out: more than 20 a second/);
    const lines = served.errors.split('\n').filter((line) => /"print".*a model printed/.test(line));
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.length).toBeLessThan(2000);
    expect(JSON.parse(lines[0])).toMatchObject({ model: 'print', stream: 'stdout' });
  });

  it('keeps what a model has started no longer than the model', async () => {
    const module = await serveModel(served, 'childrenStay', UNRULY);
    await predict(served, 'childrenStay', 'childrenStay');
    expect(pidsOf(`${module}-child`)).toHaveLength(1);
    await removeModel(served, 'childrenStay');
    await expect.poll(() => pidsOf(module), { timeout: 30_000 }).toEqual([]);
  });
});

describe('a process that is killed in a batch', () => {
  it('is out of rotation by its end alone: a sibling answers, with no watchdog and no deadline near', async () => {
    const served = await ServedProcess.start(['--ephemeral', '--no-defaults', '--hang-after-ms', '0']);
    const taken = join(folder, 'taken');
    // Whoever is asked first for `once` tells its id and never answers.
    const once = `{ try { fs.writeFileSync(${JSON.stringify(taken)}, String(process.pid), { flag: 'wx' }); } catch { return 'once'; } return forever(); }`;
    const source = UNRULY.replace('const ways = {', `const ways = { once: () => ${once},`);
    const hour = 3_600_000;
    const fields = { num_replicas: 2, batch_timeout_ms: hour };
    await serveModel(served, 'pair', source, fields, hour * 1000);
    await vi.waitFor(
      async () =>
        expect(await served.admin('get_model', { model_name: 'pair', model_version: '1' })).toMatchObject({
          replicas_up: 2,
        }),
      { timeout: 30_000, interval: 20 },
    );
    const asked = predict(served, 'pair', 'once');
    await vi.waitFor(() => expect(readFileSync(taken, 'utf8')).toMatch(/^\d+$/), {
      timeout: 30_000,
      interval: 10,
    });
    process.kill(Number(readFileSync(taken, 'utf8')), 'SIGKILL');
    expect(await asked).toMatchObject({ output: 'once', default: false });
    await served.end('SIGTERM');
  });
});

describe('a server that is killed', () => {
  it('leaves no model behind: not one that is busy for ever, nor what it has started', async () => {
    const served = await ServedProcess.start(['--ephemeral', '--no-defaults']);
    const busy = await serveModel(served, 'busy', UNRULY);
    const parent = await serveModel(served, 'parent', UNRULY);
    await predict(served, 'parent', 'childrenStay');
    const blocked = predict(served, 'busy', 'block').catch(() => undefined);
    expect(pidsOf(busy)).toHaveLength(1);
    expect(pidsOf(parent)).toHaveLength(2);
    // The model is in its endless loop before the server goes.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await served.end('SIGKILL');
    await blocked;
    await expect.poll(() => pidsOf(folder), { timeout: 30_000 }).toEqual([]);
  });
});
