import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RefusedError, UnreachableError, type HttpCalls } from '../client/index.js';
import { runBatchJob, type BatchJobOptions, type BatchJobResult } from './index.js';

type Body = Readonly<Record<string, unknown>>;

describe('a batch job', () => {
  let folder: string;
  let input: string;
  let output: string;
  let waits: number[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-batch-'));
    input = join(folder, 'in.jsonl');
    output = join(folder, 'out.jsonl');
    waits = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function job(
    answer: (body: Body, path: string) => unknown,
    options: Partial<BatchJobOptions> = {},
  ): Promise<BatchJobResult> {
    const calls = {
      post: (path: string, body: unknown) => Promise.resolve().then(() => answer(body as Body, path)),
    } as unknown as HttpCalls;
    return runBatchJob({
      application: 'digits',
      input,
      output,
      existing: 'refuse',
      concurrency: 3,
      retries: 2,
      timeoutMs: 1000,
      launchClass: 'bestEffort',
      calls,
      sleep: (ms) => {
        waits.push(ms);
        return Promise.resolve();
      },
      ...options,
    });
  }

  it('keeps -0 of inputs and of answers', async () => {
    writeFileSync(input, '[-0]\n');
    await job(({ input: value }) => ({ output: (value as number[])[0] }));
    expect(readFileSync(output, 'utf8')).toContain('"output":-0');
  });

  const doubled = ({ input: value }: Body): unknown => ({ output: (value as number[])[0] * 2 });
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, index) => `[${index}]\n`).join('');
  const written = (): Record<string, unknown>[] =>
    readFileSync(output, 'utf8')
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .sort((a, b) => Number(a.line) - Number(b.line));

  it('says of each wrong input which value is wrong, and goes on', async () => {
    writeFileSync(input, '[0, 2]\n[0, 1, 1]\n[0, 1]\n');
    const result = await job(({ input: value }) => {
      const values = value as number[];
      if (values.length !== 2)
        throw new RefusedError('wrong_length', 400, 'takes 2 elements, 3 came', 'input');
      if (values[1] > 1) throw new RefusedError('number_out_of_range', 400, 'from 0 to 1', 'input[1]');
      return { output: 7 };
    });
    expect(result).toMatchObject({ answered: 1, failed: 2 });
    expect(written()).toMatchObject([
      { line: 1, error: { code: 'number_out_of_range', field: 'input[1]', message: 'from 0 to 1' } },
      { line: 2, error: { code: 'wrong_length', field: 'input' } },
      { line: 3, output: 7 },
    ]);
  });

  it('asks for every line, as strict queries of its class, and says which answer is whose', async () => {
    writeFileSync(input, `\uFEFF[7]\r\n\n{"input": [8], "uid": "a", "strict": false}\n"x"`);
    const asked: unknown[] = [];
    const result = await job((body, path) => {
      asked.push([path, body]);
      return { output: body.input };
    });
    expect(result).toEqual({ answered: 3, failed: 0, kept: 0, retries: 0, isStopped: false });
    const common = { launch_class: 'bestEffort', strict: true };
    expect(asked).toEqual([
      ['/digits/predict', { ...common, input: [7] }],
      ['/digits/predict', { ...common, input: [8], uid: 'a' }],
      ['/digits/predict', { ...common, input: 'x' }],
    ]);
    expect(written().map(({ line, output: value }) => [line, value])).toEqual([
      [1, [7]],
      [3, [8]],
      [4, 'x'],
    ]);
  });

  it('has no more queries under way than it may', async () => {
    writeFileSync(input, lines(20));
    let [now, most] = [0, 0];
    await job(async (body) => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return doubled(body);
    });
    expect(most).toBe(3);
    expect(written().map(({ output: value }) => value)).toEqual(Array.from({ length: 20 }, (_, n) => 2 * n));
  });

  it('ends at once where it asks for a class that no line may have, but not for one that a line asks for', async () => {
    const above = new RefusedError('invalid_input', 400, 'above', 'launch_class');
    const refuse = (): never => {
      throw above;
    };
    writeFileSync(input, lines(20));
    await expect(job(refuse)).rejects.toMatchObject({ code: 'stopped', message: 'above' });
    writeFileSync(input, '{"input":[1],"launch_class":"critical"}\n{"input":[2]}\n');
    const ask = (body: Body): unknown => ((body.input as number[])[0] === 1 ? refuse() : doubled(body));
    const result = await job(ask, { existing: 'overwrite' });
    expect(result).toMatchObject({ answered: 1, failed: 1 });
  });

  it('tries again where there is no room, as long after as the server says, and then notes the error', async () => {
    writeFileSync(input, lines(2));
    let tries = 0;
    const result = await job(
      ({ input: value }) => {
        if ((value as number[])[0] === 0) throw new RefusedError('overload', 503, 'full', undefined, 700);
        if (++tries < 3) throw new RefusedError('default_deadline', 504, 'late');
        return { output: 1 };
      },
      { concurrency: 1 },
    );
    expect(result).toMatchObject({ answered: 1, failed: 1, retries: 4 });
    expect(waits).toEqual([700, 700, 100, 200]);
    expect(written()[0]).toMatchObject({ line: 1, error: { code: 'overload', message: 'full' } });
  });

  it('knows one end of a line alone: what else may end one stands in JSON as it is', async () => {
    writeFileSync(input, '["a\u2028b\u2029\u0085"]\r\n["c"]');
    const asked: unknown[] = [];
    await job((body) => {
      asked.push(body.input);
      return doubled({ input: [1] });
    });
    expect(asked).toEqual([['a\u2028b\u2029\u0085'], ['c']]);
  });

  it('notes bad lines and bad inputs at once, and goes on', async () => {
    writeFileSync(input, '[1\n{"uid": "a"}\n[2]\n[3]\n');
    const result = await job((body) => {
      if ((body.input as number[])[0] === 2)
        throw new RefusedError('invalid_input', 400, 'too short', 'input');
      return doubled(body);
    });
    expect(result).toMatchObject({ answered: 1, failed: 3, retries: 0 });
    expect(written()).toMatchObject([
      { line: 1, error: { code: 'invalid_line' } },
      { line: 2, error: { message: 'an object without \'input\'; give an input, or {"input": …}' } },
      { line: 3, error: { code: 'invalid_input', field: 'input' } },
      { line: 4, output: 6 },
    ]);
  });

  it('notes lines that can never be answered, whatever it is that they ask for, and goes on, when resumed, too', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const bad = ['{"input": [0], "version": "9"}', '{"input": [0], "launch_class": "critical"}', deep];
    writeFileSync(input, [...bad, '[4]'].map((line) => `${line}\n`).join(''));
    const answer = (body: Body): unknown => {
      JSON.stringify(body);
      if ('version' in body) throw new RefusedError('unknown_version', 404, 'no version 9', 'version');
      if (body.launch_class === 'critical') {
        throw new RefusedError('forbidden', 403, 'not with this key', 'launch_class');
      }
      return doubled(body);
    };
    expect(await job(answer)).toMatchObject({ answered: 1, failed: 3 });
    expect(written().map(({ error }) => (error as { code?: string } | undefined)?.code)).toEqual([
      'unknown_version',
      'forbidden',
      'invalid_line',
      undefined,
    ]);
    expect(await job(answer, { existing: 'resume' })).toMatchObject({ answered: 0, failed: 3, kept: 1 });
  });

  it.each([
    ['a server that is gone', () => new UnreachableError('no server answers'), 4],
    ['an application that there is not', () => new RefusedError('unknown_application', 404, 'none'), 0],
  ])('stops at %s, and goes on later where it was', async (_what, failure, retries) => {
    writeFileSync(input, lines(9));
    const broken = job((body) => {
      if ((body.input as number[])[0] >= 5) throw failure();
      return doubled(body);
    });
    await expect(broken).rejects.toMatchObject({ code: 'stopped' });
    expect(waits.length).toBeGreaterThanOrEqual(retries > 0 ? 2 : 0);
    const before = written().length;
    expect(before).toBeGreaterThanOrEqual(5);
    const asked: unknown[] = [];
    const result = await job(
      (body) => {
        asked.push(body.input);
        return doubled(body);
      },
      { existing: 'resume' },
    );
    expect(result).toMatchObject({ answered: 9 - before, kept: before });
    expect(asked).toHaveLength(9 - before);
    expect(written().map(({ output: value }) => value)).toEqual(Array.from({ length: 9 }, (_, n) => 2 * n));
  });

  it('asks again for lines with an error, and for one that was cut off', async () => {
    writeFileSync(input, lines(3));
    await job((body) => {
      if ((body.input as number[])[0] === 1) throw new RefusedError('model_error', 400, 'bad');
      return doubled(body);
    });
    const texts = readFileSync(output, 'utf8').trimEnd().split('\n');
    writeFileSync(
      output,
      texts
        .map((text) => `${text}\n`)
        .join('')
        .slice(0, -4),
    );
    const result = await job(doubled, { existing: 'resume' });
    expect(result.kept).toBeLessThanOrEqual(2);
    expect(written().map(({ line, output: value }) => [line, value])).toEqual([
      [1, 0],
      [2, 2],
      [3, 4],
    ]);
  });

  it('refuses outputs that are not its own', async () => {
    writeFileSync(input, lines(2));
    await job(doubled);
    await expect(job(doubled)).rejects.toThrow(
      /holds answers already: --resume goes on where it ends, --over/,
    );
    writeFileSync(input, '[5]\n[6]\n');
    await expect(job(doubled, { existing: 'resume' })).rejects.toThrow(
      /answer to another input than line \d of this file: it is the output of another job/,
    );
    appendFileSync(output, 'hello\n');
    await expect(job(doubled, { existing: 'resume' })).rejects.toThrow(
      /out\.jsonl:3: no answer of a batch job/,
    );
    await expect(job(doubled, { existing: 'overwrite' })).resolves.toMatchObject({ answered: 2 });
    await expect(job(doubled, { input: join(folder, 'none') })).rejects.toThrow(/ENOENT.*none/);
    await expect(job(doubled, { input: folder })).rejects.toThrow(/is a folder; name a file of JSON Lines/);
  });

  it('asks nothing more once it is told to stop, and keeps what comes', async () => {
    writeFileSync(input, lines(50));
    const stop = new AbortController();
    const result = await job(
      (body) => {
        if ((body.input as number[])[0] === 4) stop.abort();
        return doubled(body);
      },
      { signal: stop.signal },
    );
    expect(result.isStopped).toBe(true);
    expect(result.answered).toBeLessThan(12);
    expect(written()).toHaveLength(result.answered);
  });
});
