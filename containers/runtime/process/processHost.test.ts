import { describe, expect, it } from 'vitest';
import { moduleContent } from '../../content/index.js';
import type { ItemResult } from '../../protocol/index.js';
import { tryModule } from './processHost.js';
import { ModuleLab } from './tests/moduleLab.js';
import { expectRefusal, itRunsModules, type ModuleLanguage } from './tests/moduleSuite.js';

const ECHO = `export default { inputType: 'strings', predict: (inputs) => inputs.map((one) => ({ said: one })) };`;

const JAVASCRIPT: ModuleLanguage = {
  contentOf: moduleContent,
  echo: ECHO,
  typed: `export default class {
    inputType = 'doubles'; inputLength = 2; maxBatchSize = 7;
    async load() { this.factor = 2; }
    async predict(inputs) { return inputs.map((x) => ({ output: this.factor * x[0] + x[1], scores: x })); }
  }`,
  oneByOne: [
    `export default { inputType: 'strings', predictOne(text) { if (text === 'bad') throw new TypeError('no'); return text; } };`,
    'TypeError: no',
  ],
  slow: `export default { inputType: 'strings', async predict(inputs) {
    await new Promise((resolve) => setTimeout(resolve, 100)); return inputs; } };`,
  silent: `console.log(process.pid); export default { inputType: 'strings', predict: () => new Promise(() => {}) };`,
  endless: `export default { inputType: 'strings', predict() { for (;;); } };`,
  closing: (
    file,
  ) => `import fs from 'node:fs'; export default { inputType: 'strings', predict: (inputs) => inputs,
    async close() { fs.writeFileSync(${JSON.stringify(file)}, 'x'); await new Promise(() => {}); } };
    setInterval(() => {}, 1000);`,
  environment: ([one, other]) => `export default { inputType: 'strings',
    predict: () => [[process.cwd(), process.env.${one} ?? null, process.env.${other} ?? null]] };`,
  parts: [
    ['own/part.mjs', 'export const VALUE = 1;'],
    ['own/model.mjs', `import './part.mjs'; ${ECHO}`],
  ],
  faults: {
    'does not parse': 'export default {',
    'has no predict': `export default { inputType: 'strings' };`,
    'takes what there is not': `export default { inputType: 'text', predict() {} };`,
    'takes something else': `export default { inputType: 'floats', predict() {} };`,
    'fails to load': `export default { inputType: 'strings', predict() {}, load() { throw new Error('nowhere'); } };`,
    ends: 'process.exit(3);',
    'never loads': 'await new Promise((r) => setTimeout(r, 1e6));',
    blocks: 'for (;;);',
    'sends garbage': `import fs from 'node:fs'; fs.writeSync(3, 'HTTP/1.1 400 Bad'); await new Promise((r) => setTimeout(r, 1e6));`,
    'speaks another version': `import fs from 'node:fs'; fs.writeSync(3, Buffer.from([2,0,0,0,9,0])); await new Promise((r) => setTimeout(r, 1e6));`,
    'closes its line': `import fs from 'node:fs'; fs.closeSync(3); await new Promise((r) => setTimeout(r, 1e6));`,
  },
  reasons: {
    'does not parse': 'SyntaxError',
    'has no predict': 'neither predict nor predictOne',
    'takes what there is not': 'inputType: "text"',
  },
};

describe('a model in a process', () => {
  const lab = new ModuleLab('process', '.mjs');
  const start = lab.start.bind(lab);
  itRunsModules(lab, JAVASCRIPT);

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

  it('is down once with the reason when its module has no default export', async () => {
    await expectRefusal(lab, 'export const x = 1;', 'no default export');
  });

  it.each([
    ['/nowhere.js', 'cannot be read'],
    ['/tmp', 'is no file'],
    [new URL(import.meta.url).pathname, 'compile it, '],
  ])('does not start from %s', async (path, reason) => {
    expect((await start('', { path }).down()).reason).toContain(reason);
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

  it('may be CommonJS as tsc writes it where package.json does not say that modules are ECMAScript’s', async () => {
    const compiled = lab.written(
      `Object.defineProperty(exports, '__esModule', { value: true });
       exports.default = class { inputType = 'bytes'; predict(inputs) { return inputs; } };`,
      'compiled.cjs',
    );
    expect(await tryModule({ path: compiled })).toMatchObject({ inputType: 'bytes' });
  });
});
