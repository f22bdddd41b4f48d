import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Content } from '../../../content/index.js';
import { tryModule } from '../processHost.js';
import type { ProcessLimits } from '../processLimits.js';
import type { ModuleLab } from './moduleLab.js';

/** The same modules in one language. */
export interface ModuleLanguage {
  readonly contentOf: (path: string) => Content;
  /** Takes strings, answers `{"said": …}`. */
  readonly echo: string;
  /** A class that takes two doubles, at most seven inputs a batch, and loads a factor of 2: answers 2 x0 + x1, with the input as scores. */
  readonly typed: string;
  /** Asked one by one: raises for `bad`, answers others as they are; and what the error is told as. */
  readonly oneByOne: readonly [text: string, message: string];
  /** Answers a batch after 0.1 s. */
  readonly slow: string;
  /** Prints its process id, and never answers. */
  readonly silent: string;
  /** Computes for ever. */
  readonly endless: string;
  /** Its `close` makes the file and never ends. */
  readonly closing: (file: string) => string;
  /** Answers with its working directory and what the environment has of two names, null for nothing. */
  readonly environment: (names: readonly [string, string]) => string;
  /** A part, and a module that imports it: their names and texts. */
  readonly parts: readonly (readonly [name: string, text: string])[];
  /** Modules that do not start, by what is wrong with them. */
  readonly faults: Readonly<Record<keyof typeof FAULTS, string>>;
  /** What it is told as where that depends on the language. */
  readonly reasons: Readonly<Record<'does not parse' | 'has no predict' | 'takes what there is not', string>>;
}

const FAULTS = {
  'does not parse': '',
  'has no predict': '',
  'takes what there is not': '',
  'takes something else': 'registered with strings',
  'fails to load': 'nowhere',
  ends: 'its process ended with exit code 3',
  'never loads': 'said nothing for 1 s',
  blocks: 'said nothing for 1 s',
  'sends garbage': 'no frame',
  'speaks another version': 'protocol version 9',
  'closes its line': 'closed its line and went on',
} as const;

/** Only where the limit is what a test is about: a loaded machine takes longer than that to start a process. */
export const SHORT_START: Partial<ProcessLimits> = { startMs: 1000, closeMs: 300 };

/** What holds of a module in every language. */
export function itRunsModules(lab: ModuleLab, language: ModuleLanguage): void {
  it('says hello and answers a batch', async () => {
    const line = lab.start(language.echo);
    expect(await line.hello()).toMatchObject({
      model: 'm',
      version: '1',
      replica: '0',
      inputType: 'strings',
      maxBatchSize: 1024,
      credits: 2,
    });
    expect(await line.ask('a', 'ä', '\ufeff')).toEqual([
      { id: 0, ok: true, output: '{"said":"a"}' },
      { id: 1, ok: true, output: '{"said":"ä"}' },
      { id: 2, ok: true, output: '{"said":"\ufeff"}' },
    ]);
  });

  it('may be a class with load, scores and typed inputs', async () => {
    const line = lab.start(language.typed);
    expect(await line.hello()).toMatchObject({ inputType: 'doubles', inputLength: 2, maxBatchSize: 7 });
    const good = new Uint8Array(new Float64Array([1, 3]).buffer);
    expect(await line.ask(good, good.subarray(0, 8), good.subarray(0, 7))).toEqual([
      { id: 0, ok: true, output: '5', scores: Float32Array.of(1, 3) },
      { id: 1, ok: false, code: 'invalidInput', message: 'the model takes 2 values, the input has 1' },
      { id: 2, ok: false, code: 'invalidInput', message: '7 bytes are no doubles' },
    ]);
  });

  it('is asked one by one where it wants that, and fails an input alone', async () => {
    const [text, message] = language.oneByOne;
    const line = lab.start(text);
    await line.hello();
    expect(await line.ask('a', 'bad', 'b')).toEqual([
      { id: 0, ok: true, output: 'a' },
      { id: 1, ok: false, code: 'modelError', message },
      { id: 2, ok: true, output: 'b' },
    ]);
  });

  it('skips what is cancelled before it begins', async () => {
    const line = lab.start(language.slow);
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

  it('is closed by its own close, which may take its time, but not for ever', async () => {
    const marker = join(lab.folder, 'closed');
    const line = lab.start(language.closing(marker), {}, { closeMs: 1000 });
    await line.hello();
    await lab.close();
    expect(existsSync(marker)).toBe(true);
  });

  it('gets no secrets of the environment but what it is to have, and its folder to work in', async () => {
    process.env.WINDJAMMER_TEST_SECRET = 'x';
    process.env.WINDJAMMER_TEST_TOKEN = 'y';
    const text = language.environment(['WINDJAMMER_TEST_SECRET', 'WINDJAMMER_TEST_TOKEN']);
    const line = lab.start(text, { environment: ['WINDJAMMER_TEST_TOKEN'] });
    await line.hello();
    delete process.env.WINDJAMMER_TEST_SECRET;
    delete process.env.WINDJAMMER_TEST_TOKEN;
    expect(await line.ask('a')).toMatchObject([{ output: JSON.stringify([lab.folder, null, 'y']) }]);
    const { reason } = await lab.startAlso(text, { environment: ['NOWHERE_SET'] }).down();
    expect(reason).toContain('environment: NOWHERE_SET is not set');
  });

  it.each(Object.entries(language.faults) as [keyof typeof FAULTS, string][])(
    'is down once with the reason when its module %s',
    async (fault, text) => {
      const reason: string =
        fault in language.reasons
          ? language.reasons[fault as keyof ModuleLanguage['reasons']]
          : FAULTS[fault];
      await expectRefusal(lab, text, reason);
    },
  );

  it('is down with the signal when it is killed in a batch', async () => {
    const line = lab.start(language.silent);
    await line.hello();
    line.ask('a').catch(() => undefined);
    await vi.waitFor(() => expect(line.printed('stdout')).not.toEqual([]));
    process.kill(Number(line.printed('stdout')[0]), 'SIGKILL');
    expect((await line.down()).reason).toBe('its process ended with signal SIGKILL');
  });

  it('is down when a batch does not end', async () => {
    const line = lab.start(language.endless, {}, { batchMs: 500, closeMs: 300 });
    await line.hello();
    line.ask('a').catch(() => undefined);
    expect((await line.down()).reason).toBe('its process did not answer a batch for 0.5 s');
  });

  it('starts from no other files than those that were registered', async () => {
    const paths = language.parts.map(([name, text]) => lab.written(text, name));
    const path = paths[paths.length - 1];
    const contentHash = language.contentOf(path).hash;
    await lab.start('', { path, contentHash }).hello();
    await lab.close();
    const [[part, text]] = language.parts;
    lab.written(text.replace('1', '2'), part);
    const { reason } = await lab.start('', { path, contentHash }).down();
    expect(reason).toContain('the files have changed since this version was registered');
  });

  it('can be tried', async () => {
    const path = lab.written(language.echo);
    expect(await tryModule(lab.source(path))).toMatchObject({ inputType: 'strings' });
    const broken = lab.written(language.faults['fails to load']);
    await expect(tryModule(lab.source(broken), 'strings')).rejects.toThrow('nowhere');
  });
}

/** It never says hello, and that it is down once, whatever comes behind. */
export async function expectRefusal(lab: ModuleLab, text: string, reason: string): Promise<void> {
  const limits = reason.includes('said nothing') ? SHORT_START : { closeMs: 300 };
  const line = lab.start(text, { inputType: 'strings' }, limits);
  expect((await line.down()).reason).toContain(reason);
  await new Promise((resolve) => setTimeout(resolve, 400));
  const kinds = line.frames.map(({ kind }) => kind).filter((kind) => kind !== 'printed');
  expect(kinds).toEqual(['down']);
}
