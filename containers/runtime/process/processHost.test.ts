import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { InputType, ItemResult } from '../../protocol/index.js';
import { ProcessHost, tryModule } from './processHost.js';
import type { ProcessLimits } from './processLimits.js';
import type { ProcessSource } from './processSource.js';
import { Line } from './tests/line.js';

/** Only where the limit is what a test is about: a loaded machine takes longer than that to start a process. */
const SHORT_START: Partial<ProcessLimits> = { startMs: 1000, closeMs: 300 };
const ECHO = `export default { inputType: 'strings', predict: (inputs) => inputs.map((one) => ({ said: one })) };`;

describe('a model in a process', () => {
  let folder: string;
  let host: ProcessHost;
  let modules = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-process-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(async () => {
    const pids = host.pids();
    await new Promise<void>((resolve) => host.close(resolve));
    expect(host.pids()).toEqual([]);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  function written(text: string): string {
    const path = join(folder, `model${modules++}.mjs`);
    writeFileSync(path, text);
    return path;
  }

  function start(
    text: string,
    more: { inputType?: InputType } & Partial<ProcessSource> = {},
    limits: Partial<ProcessLimits> = {},
  ): Line {
    host = new ProcessHost();
    const identity = { model: 'm', version: '1', replica: '0' };
    return new Line(host.start({ path: written(text), ...identity, limits, ...more }));
  }

  it('says hello and answers a batch', async () => {
    const line = start(ECHO);
    expect(await line.hello()).toMatchObject({ model: 'm', version: '1', inputType: 'strings' });
    expect(await line.ask('a', 'ä')).toEqual([
      { id: 0, ok: true, output: '{"said":"a"}' },
      { id: 1, ok: true, output: '{"said":"ä"}' },
    ]);
  });

  it('gets a text as it was sent, a byte order mark at its head included', async () => {
    const line = start(`export default { inputType: 'strings', inputLength: 2,
      predict: (inputs) => inputs.map((one) => one + one.length) };`);
    await line.hello();
    expect(await line.ask('\ufeffa', '\ufeff\ufeff', '\ufeff')).toEqual([
      { id: 0, ok: true, output: '\ufeffa2' },
      { id: 1, ok: true, output: '\ufeff\ufeff2' },
      { id: 2, ok: false, code: 'invalidInput', message: 'the model takes 2 values, the input has 1' },
    ]);
  });

  it('may be a class with load, asynchronous, with scores and typed inputs', async () => {
    const line = start(`export default class {
      inputType = 'doubles'; inputLength = 2;
      async load() { this.factor = 2; }
      async predict(inputs) { return inputs.map((x) => ({ output: this.factor * x[0] + x[1], scores: x })); }
    }`);
    expect(await line.hello()).toMatchObject({ inputType: 'doubles', inputLength: 2 });
    const good = new Uint8Array(new Float64Array([1, 3]).buffer);
    expect(await line.ask(good, good.subarray(0, 8), good.subarray(0, 7))).toEqual([
      { id: 0, ok: true, output: '5', scores: Float32Array.of(1, 3) },
      { id: 1, ok: false, code: 'invalidInput', message: 'the model takes 2 values, the input has 1' },
      { id: 2, ok: false, code: 'invalidInput', message: '7 bytes are no doubles' },
    ]);
  });

  it('fails an input alone with predictOne', async () => {
    const line = start(`export default { inputType: 'strings', predictOne(text) {
      if (text === 'bad') throw new TypeError('no'); return text === 'none' ? undefined : text; } };`);
    await line.hello();
    expect(await line.ask('a', 'bad', 'none', 'b')).toEqual([
      { id: 0, ok: true, output: 'a' },
      { id: 1, ok: false, code: 'modelError', message: 'TypeError: no' },
      { id: 2, ok: false, code: 'modelError', message: expect.stringContaining('no JSON') as string },
      { id: 3, ok: true, output: 'b' },
    ]);
  });

  it('fails the input that it throws for, or gives too few outputs for, and answers those beside it', async () => {
    const line = start(`export default { inputType: 'strings', predict(inputs) {
      if (inputs.some((one) => one === 'throw')) throw new Error('thrown');
      return inputs.filter((one) => one !== 'few'); } };`);
    await line.hello();
    // A process that gets no processor for long leaves some undecided; those are asked again, as the frontend does.
    const decided = async (...inputs: string[]): Promise<ItemResult[]> => {
      const results = [...(await line.ask(...inputs))];
      for (const [at, result] of results.entries()) {
        if (!result.ok && result.code === 'undecided') [results[at]] = await line.ask(inputs[at] ?? '');
      }
      return results;
    };
    for (let round = 0; round < 20; round++) {
      expect(await decided('a', 'throw', 'x')).toMatchObject([
        { ok: true, output: 'a' },
        { ok: false, code: 'modelError', message: 'Error: thrown' },
        { ok: true, output: 'x' },
      ]);
    }
    expect(await decided('few', 'x')).toMatchObject([
      { ok: false, code: 'modelError', message: 'predict gave 0 outputs for 1 inputs' },
      { ok: true, output: 'x' },
    ]);
    expect(await line.ask('fine')).toEqual([{ id: 0, ok: true, output: 'fine' }]);
  });

  it('waits for each output that is a promise, and fails those alone that are rejected', async () => {
    const line =
      start(`export default { inputType: 'strings', predict: (inputs) => inputs.map(async (one) => {
      if (one === 'bad') throw new Error('no'); return one; }) };`);
    await line.hello();
    expect(await line.ask('a', 'bad', 'b')).toMatchObject([
      { output: 'a' },
      { code: 'modelError', message: 'Error: no' },
      { output: 'b' },
    ]);
  });

  it('gives lists for typed arrays and null for what JSON has no number for', async () => {
    const line = start(`export default { inputType: 'strings',
      predict: () => [[NaN, -Infinity, 1], Float32Array.of(1, NaN), { output: [Int8Array.of(1)], scores: [NaN, 'x'] }, 1n] };`);
    await line.hello();
    expect(await line.ask('a', 'b', 'c', 'd')).toEqual([
      { id: 0, ok: true, output: '[null,null,1]' },
      { id: 1, ok: true, output: '[1,null]' },
      { id: 2, ok: true, output: '[[1]]', scores: Float32Array.of(NaN, NaN) },
      { id: 3, ok: false, code: 'modelError', message: expect.stringContaining('BigInt') as string },
    ]);
  });

  it('is closed by its own close, which may take its time, but not for ever', async () => {
    const marker = join(folder, 'closed');
    const line = start(
      `import fs from 'node:fs'; export default { inputType: 'strings', predict: (inputs) => inputs,
      async close() { fs.writeFileSync(${JSON.stringify(marker)}, 'x'); await new Promise(() => {}); } };
      setInterval(() => {}, 1000);`,
      {},
      { closeMs: 300 },
    );
    await line.hello();
    await new Promise<void>((resolve) => host.close(resolve));
    expect(existsSync(marker)).toBe(true);
  });

  it('is refused a variable that the server does not have, and gets one that it is to have', async () => {
    process.env.WINDJAMMER_TEST_TOKEN = 'x';
    const source = `export default { inputType: 'strings', predict: () => [process.env.WINDJAMMER_TEST_TOKEN] };`;
    const line = start(source, { environment: ['WINDJAMMER_TEST_TOKEN'] });
    await line.hello();
    delete process.env.WINDJAMMER_TEST_TOKEN;
    expect(await line.ask('a')).toMatchObject([{ output: 'x' }]);
    const { reason } = await new Line(
      host.start({
        path: written(source),
        model: 'm',
        version: '1',
        replica: '1',
        environment: ['NOWHERE_SET'],
      }),
    ).down();
    expect(reason).toContain('environment: NOWHERE_SET is not set');
  });

  it('skips what is cancelled before it begins', async () => {
    const line = start(`export default { inputType: 'strings', async predict(inputs) {
      await new Promise((resolve) => setTimeout(resolve, 100)); return inputs; } };`);
    await line.hello();
    const first = line.ask('a');
    const second = line.ask('b', 'c');
    line.channel.send({ kind: 'cancel', batchId: 1, itemIds: [1] });
    expect(await first).toMatchObject([{ ok: true }]);
    expect(await second).toMatchObject([
      { id: 0, ok: true, output: 'b' },
      { id: 1, ok: false, code: 'cancelled' },
    ]);
  });

  it('tells the time of a batch from where it began: not what it waited for the batch before it', async () => {
    const line = start(`export default { inputType: 'strings', async predict(inputs) {
      if (inputs[0] === 'slow') await new Promise((resolve) => setTimeout(resolve, 300)); return inputs; } };`);
    await line.hello();
    await Promise.all([line.ask('slow'), line.ask('quick')]);
    const [slow, quick] = line.frames.filter((frame) => frame.kind === 'result');
    expect(slow.serviceNs).toBeGreaterThan(299e6);
    // Both came together: from its arrival on it would be longer than the first's.
    expect(quick.serviceNs).toBeLessThan(slow.serviceNs);
  });

  it('passes on what is printed, and not all of too much', async () => {
    const line = start(`console.log('one'); console.error('two'); ${ECHO}
      setTimeout(() => { for (let i = 0; i < 10000; i++) console.log('many'); process.exit(7); }, 200);`);
    expect(await line.down()).toMatchObject({ reason: 'its process ended with exit code 7' });
    const texts = line.frames.flatMap((frame) => (frame.kind === 'printed' ? [frame.text] : []));
    expect(texts).toEqual(expect.arrayContaining(['one', 'two', 'many']));
    expect(texts.length).toBeLessThan(100);
    expect(texts.at(-1)).toMatch(/lines left out/);
  });

  it('gets no secrets of the environment, and its folder to work in', async () => {
    process.env.WINDJAMMER_TEST_SECRET = 'x';
    const line = start(`export default { inputType: 'strings',
      predict: () => [[process.cwd(), process.env.WINDJAMMER_TEST_SECRET ?? 'unset']] };`);
    await line.hello();
    delete process.env.WINDJAMMER_TEST_SECRET;
    const [answer] = await line.ask('a');
    expect(answer).toMatchObject({ output: JSON.stringify([folder, 'unset']) });
  });

  it.each<[string, string, string]>([
    ['does not parse', 'export default {', 'SyntaxError'],
    ['has no default export', 'export const x = 1;', 'no default export'],
    ['has no predict', `export default { inputType: 'strings' };`, 'neither predict nor predictOne'],
    ['takes what there is not', `export default { inputType: 'text', predict() {} };`, 'inputType: "text"'],
    [
      'takes something else',
      `export default { inputType: 'floats', predict() {} };`,
      'registered with strings',
    ],
    [
      'fails to load',
      `export default { inputType: 'strings', predict() {}, load() { throw new Error('no file'); } };`,
      'no file',
    ],
    ['ends', 'process.exit(3);', 'exit code 3'],
    ['never loads', 'await new Promise((r) => setTimeout(r, 1e6));', 'said nothing for 1 s'],
    ['blocks', 'for (;;);', 'said nothing for 1 s'],
    [
      'sends garbage',
      `import fs from 'node:fs'; fs.writeSync(3, 'HTTP/1.1 400 Bad'); await new Promise((r) => setTimeout(r, 1e6));`,
      'no frame',
    ],
    [
      'speaks another version',
      `import fs from 'node:fs'; fs.writeSync(3, Buffer.from([2,0,0,0,9,0])); await new Promise((r) => setTimeout(r, 1e6));`,
      'protocol version 9',
    ],
    [
      'closes its line',
      `import fs from 'node:fs'; fs.closeSync(3); await new Promise((r) => setTimeout(r, 1e6));`,
      'closed its line and went on',
    ],
  ])('is down once with the reason when its module %s', async (_what, text, reason) => {
    const line = start(
      text,
      { inputType: 'strings' },
      reason.includes('said nothing') ? SHORT_START : { closeMs: 300 },
    );
    expect((await line.down()).reason).toContain(reason);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(line.frames.filter(({ kind }) => kind === 'down')).toHaveLength(1);
    expect(line.frames.filter(({ kind }) => kind === 'hello')).toHaveLength(0);
  });

  it.each([
    ['/nowhere.js', 'cannot be read'],
    ['/tmp', 'is no file'],
    [new URL(import.meta.url).pathname, 'compile it, '],
  ])('does not start from %s', async (path, reason) => {
    host = new ProcessHost();
    const line = new Line(host.start({ path, model: 'm', version: '1', replica: '0' }));
    expect((await line.down()).reason).toContain(reason);
  });

  it('is down with the signal when it is killed in a batch', async () => {
    const line = start(`export default { inputType: 'strings', predict: () => new Promise(() => {}) };`);
    await line.hello();
    line.ask('a').catch(() => undefined);
    process.kill(host.pids()[0], 'SIGKILL');
    expect((await line.down()).reason).toBe('its process ended with signal SIGKILL');
  });

  it('is down when a batch blocks its event loop', async () => {
    const line = start(
      `export default { inputType: 'strings', predict() { for (;;); } };`,
      {},
      { batchMs: 500, closeMs: 300 },
    );
    await line.hello();
    line.ask('a').catch(() => undefined);
    expect((await line.down()).reason).toBe('its process did not answer a batch for 0.5 s');
  });

  it('is down when it runs out of its memory', async () => {
    const line = start(
      `const kept = []; export default { inputType: 'strings',
        predict() { for (;;) kept.push(new Array(1000).fill(kept.length)); } };`,
      { memoryMiB: 32 },
    );
    await line.hello();
    line.ask('a').catch(() => undefined);
    expect((await line.down()).reason).toMatch(/ended with .*heap out of memory/);
  });

  it('can be tried', async () => {
    host = new ProcessHost();
    expect(await tryModule({ path: written(ECHO) })).toMatchObject({ inputType: 'strings' });
    // As tsc writes it where package.json does not say that modules are ECMAScript's.
    const compiled = join(folder, 'compiled.cjs');
    writeFileSync(
      compiled,
      `Object.defineProperty(exports, '__esModule', { value: true });
       exports.default = class { inputType = 'bytes'; predict(inputs) { return inputs; } };`,
    );
    expect(await tryModule({ path: compiled })).toMatchObject({ inputType: 'bytes' });
    await expect(tryModule({ path: written('throw new Error("broken")') })).rejects.toThrow('broken');
  });
});
