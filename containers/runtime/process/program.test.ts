import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { programContent } from '../../content/index.js';
import type { InputType } from '../../protocol/index.js';
import { ProcessHost, tryModule } from './processHost.js';
import type { ProcessLimits } from './processLimits.js';
import type { ExecSource } from './processSource.js';
import { Line } from './tests/line.js';

/** Of a program that answers what `answer` says of a line: a text to be written, or nothing. */
const program = (answer: string, ready = '{"ready": true}'): string => `
  import { createInterface } from 'node:readline';
  const write = (text) => process.stdout.write(text + '\\n');
  const say = (value) => write(JSON.stringify(value));
  ${ready === '' ? '' : `write(${JSON.stringify(ready)});`}
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, input } = JSON.parse(line);
    ${answer}
  }
`;
const ECHO = program('say({ id, output: { said: input } });');

describe('a program that reads and writes lines of JSON', () => {
  let folder: string;
  let host: ProcessHost;
  let files = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-program-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(async () => {
    const pids = host.pids();
    await new Promise<void>((resolve) => host.close(resolve));
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  /** A command that runs a text with Node. */
  function node(text: string): string {
    const name = `program${files++}.mjs`;
    writeFileSync(join(folder, name), text);
    return `"${process.execPath}" ${name}`;
  }

  type More = { inputType?: InputType; inputLength?: number; contentHash?: string } & Partial<ExecSource>;

  function start(command: string, more: More = {}, limits: Partial<ProcessLimits> = {}): Line {
    host = new ProcessHost();
    const identity = { model: 'm', version: '1', replica: '0' };
    return new Line(
      host.start({ kind: 'exec', path: folder, command, inputType: 'strings', ...identity, limits, ...more }),
    );
  }

  it('says that it is ready, and answers', async () => {
    const line = start(node(ECHO));
    expect(await line.hello()).toMatchObject({ model: 'm', inputType: 'strings', maxBatchSize: 1024 });
    expect(await line.ask('a', 'ä\n"')).toEqual([
      { id: 0, ok: true, output: '{"said":"a"}' },
      { id: 1, ok: true, output: '{"said":"ä\\n\\""}' },
    ]);
  });

  it('may be a script of the shell', async () => {
    writeFileSync(
      join(folder, 'length.sh'),
      `#!/bin/sh
echo '{"ready": true, "input_length": 1, "max_batch_size": 3}'
while read -r line; do
  id=\${line#'{"id":'}
  echo "{\\"id\\": \${id%%,*}, \\"output\\": \${#line}}"
done
`,
    );
    chmodSync(join(folder, 'length.sh'), 0o755);
    const line = start('./length.sh');
    expect(await line.hello()).toMatchObject({ inputLength: 1, maxBatchSize: 3 });
    expect(await line.ask('x', 'y')).toEqual([
      { id: 0, ok: true, output: '20' },
      { id: 1, ok: true, output: '20' },
    ]);
  });

  it.each<[InputType, Uint8Array, string]>([
    ['integers', new Uint8Array(Int32Array.of(-2, 3).buffer), '[-2,3]'],
    ['floats', new Uint8Array(Float32Array.of(0.5, NaN).buffer), '[0.5,null]'],
    ['doubles', new Uint8Array(Float64Array.of(0.1, 1e300).buffer), '[0.1,1e+300]'],
    ['bytes', Uint8Array.of(0, 255, 1), '"AP8B"'],
  ])('gets %s as JSON', async (inputType, bytes, shown) => {
    const line = start(node(ECHO), { inputType });
    await line.hello();
    expect(await line.ask(bytes)).toEqual([{ id: 0, ok: true, output: `{"said":${shown}}` }]);
  });

  it('answers in any order, with scores, and fails an input by itself', async () => {
    const line = start(
      node(
        `${program(`
        waiting.push({ id, input });
        if (waiting.length < 5) continue;
        for (const one of waiting.splice(0).reverse()) {
          if (one.input === 'bad') say({ id: one.id, error: 'no such word' });
          else if (one.input === 'neither') say({ id: one.id });
          else if (one.input === 'scores') say({ id: one.id, output: 1, scores: 'x' });
          else say({ id: one.id, output: one.input, scores: [1, 0] });
        }`).replace('write = ', 'waiting = [], write = ')}`,
      ),
    );
    await line.hello();
    expect(await line.ask('a', 'bad', 'neither', 'scores', 'b')).toEqual([
      { id: 0, ok: true, output: 'a', scores: Float32Array.of(1, 0) },
      { id: 1, ok: false, code: 'modelError', message: 'ProgramError: no such word' },
      {
        id: 2,
        ok: false,
        code: 'modelError',
        message: "LineError: the program's answer has neither output nor error",
      },
      {
        id: 3,
        ok: false,
        code: 'modelError',
        message: "LineError: scores: the program's answer must have a list of numbers there",
      },
      { id: 4, ok: true, output: 'b', scores: Float32Array.of(1, 0) },
    ]);
  });

  it('may say NaN and the infinities, which JSON has no word for', async () => {
    const line = start(
      node(program('write(`{"id": ${id}, "output": [NaN, -Infinity, 1, "NaN"], "scores": [NaN]}`);')),
    );
    await line.hello();
    expect(await line.ask('a')).toEqual([
      { id: 0, ok: true, output: '[null,null,1,"NaN"]', scores: Float32Array.of(0) },
    ]);
  });

  it('goes on with whatever else it prints, which comes to the log', async () => {
    const line = start(
      node(
        program(`
          write('garbage'); write('[1]'); write('"text"'); write('null'); say({ id: 99, output: 1 }); write('');
          console.error('to stderr');
          if (input === 'broken') write(\`{"id": \${id}, "output": \`);
          say({ id, output: input });
          say({ id, output: 'twice' });`),
      ).replace('"', 'echo "a banner"; "'),
    );
    await line.hello();
    expect(await line.ask('a', 'broken')).toEqual([
      { id: 0, ok: true, output: 'a' },
      {
        id: 1,
        ok: false,
        code: 'modelError',
        message: expect.stringContaining('the program\'s answer is no JSON: {"id": 2, "output":') as string,
      },
    ]);
    await vi.waitFor(() => expect(line.printed('stdout')).toContain('{"id":2,"output":"twice"}'));
    expect(line.printed('stdout')).toEqual(
      expect.arrayContaining(['a banner', 'garbage', '[1]', '"text"', 'null']),
    );
    expect(line.printed('stderr')).toContain('to stderr');
    expect(await line.ask('b')).toMatchObject([{ output: 'b' }]);
  });

  it('ends when its input ends, with its folder to work in and no secrets', async () => {
    process.env.WINDJAMMER_TEST_SECRET = 'x';
    process.env.WINDJAMMER_TEST_TOKEN = 'y';
    const line = start(
      `${node(program('say({ id, output: [process.env.WINDJAMMER_TEST_SECRET ?? null, process.env.WINDJAMMER_TEST_TOKEN] });'))}; pwd > ended`,
      { environment: ['WINDJAMMER_TEST_TOKEN'] },
    );
    await line.hello();
    delete process.env.WINDJAMMER_TEST_SECRET;
    delete process.env.WINDJAMMER_TEST_TOKEN;
    expect(await line.ask('a')).toMatchObject([{ output: '[null,"y"]' }]);
    await new Promise<void>((resolve) => host.close(resolve));
    expect(readFileSync(join(folder, 'ended'), 'utf8')).toBe(`${folder}\n`);
  });

  it.each<[string, () => string, string]>([
    ['is not there', () => './no-such-program', './no-such-program: the shell has found no such program'],
    ['may not be run', () => `touch plain; ./plain`, 'the shell may not run it'],
    ['ends', () => 'exit 3', 'its process ended with exit code 3'],
    ['is killed', () => 'kill -9 $$', 'its process ended with signal SIGKILL'],
    [
      'never is ready',
      () => 'cat',
      'said nothing for 1 s from its start: a program\'s first line is {"ready": true}',
    ],
    [
      'says a wrong length',
      () => node(program('', '{"ready": true, "input_length": "x"}')),
      'says input_length: "x"',
    ],
    [
      'says a wrong size',
      () => node(program('', '{"ready": true, "max_batch_size": 0}')),
      'says max_batch_size: 0',
    ],
    [
      'closes its output',
      () => 'exec >&-; sleep 1000',
      'Program error: the program closed its output and went on',
    ],
    [
      'writes a line without end',
      () => 'tr "\\0" x < /dev/zero',
      'wrote a line of more than 33554432 characters',
    ],
  ])('is down once with the reason when it %s', async (_what, command, reason) => {
    const line = start(command(), {}, reason.includes('said nothing') ? { startMs: 1000, closeMs: 300 } : {});
    expect((await line.down()).reason).toContain(reason);
    expect(line.frames.map(({ kind }) => kind).filter((kind) => kind !== 'printed')).toEqual(['down']);
  });

  it.each<[string, string, string]>([
    ['ends', 'process.exit(7);', 'its process ended with exit code 7'],
    ['throws', 'throw new TypeError("no");', 'its process ended with exit code 1: TypeError: no'],
    ['never answers', '', 'its process did not answer a batch for 0.5 s'],
    ['blocks', 'for (;;);', 'its process did not answer a batch for 0.5 s'],
    [
      'closes its input',
      'process.stdin.destroy(); setInterval(() => {}, 1000);',
      'did not answer a batch for 0.5 s',
    ],
    ['answers for others', 'say({ id: id + 1, output: 1 });', 'did not answer a batch for 0.5 s'],
    ['answers without end', 'for (;;) write("x".repeat(1000));', 'did not answer a batch for 0.5 s'],
  ])('is down in a batch when it %s', async (_what, answer, reason) => {
    const line = start(node(program(answer)), {}, { batchMs: 500, closeMs: 300 });
    await line.hello();
    line.ask('a').catch(() => undefined);
    expect((await line.down()).reason).toContain(reason);
  });

  it.runIf(process.platform === 'linux')('ends with whatever it has started', async () => {
    const line = start(`sleep 1000 & echo $!; ${node(ECHO)}`, {}, { closeMs: 300 });
    await line.hello();
    const pid = Number(line.printed('stdout')[0]);
    expect(() => process.kill(pid, 0)).not.toThrow();
    await new Promise<void>((resolve) => host.close(resolve));
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
  });

  it.each(['yes', 'tr "\\0" x < /dev/zero'])('answers while %s prints without end', async (printer) => {
    const line = start(`${printer} >&2 & ${node(ECHO)}`, {}, { closeMs: 300 });
    await line.hello();
    for (let round = 0; round < 10; round++) {
      expect(await line.ask(`${round}`)).toMatchObject([{ ok: true }]);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(line.printed('stderr').length).toBeLessThan(100);
  });

  it.runIf(process.platform === 'linux')('is down when it takes more than its memory', async () => {
    const line = start(node(program('const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1));')), {
      memoryMiB: 150,
    });
    await line.hello();
    line.ask('a').catch(() => undefined);
    expect((await line.down()).reason).toMatch(/Memory error: \d+ MiB resident, more than memory_mib 150$/);
  });

  it.each<[string, More, string]>([
    ['a folder that is not there', { path: '/nowhere' }, '/nowhere: cannot be read'],
    ['a file in place of a folder', { path: new URL(import.meta.url).pathname }, 'is no folder'],
    ['no command', { command: ' ' }, 'command: is empty'],
  ])('does not start from %s', async (_what, more, reason) => {
    const line = start('true', more);
    expect((await line.down()).reason).toContain(reason);
  });

  it('starts from no other files than those that were registered', async () => {
    const command = node(ECHO);
    const contentHash = programContent(folder, command).hash;
    await start(command, { contentHash }).hello();
    await new Promise<void>((resolve) => host.close(resolve));
    writeFileSync(join(folder, `program${files - 1}.mjs`), `${ECHO}\n`);
    const { reason } = await start(command, { contentHash }).down();
    expect(reason).toContain('the files have changed since this version was registered');
  });

  it('can be tried, with what it takes', async () => {
    host = new ProcessHost();
    const source = { kind: 'exec', path: folder, command: node(ECHO) } as const;
    expect(await tryModule(source, 'bytes')).toMatchObject({ inputType: 'bytes' });
    await expect(tryModule(source)).rejects.toThrow(
      'a program does not say what it takes: give --input-type',
    );
  });
});

/** Nobody may be there to hear of its end. */
function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
}
