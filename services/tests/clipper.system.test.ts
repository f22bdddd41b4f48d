import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installDebianPackage } from '../../simulator/files/tests/debianPackage.js';
import { packageRoot } from '../../simulator/files/index.js';
import { RunningCommand } from './runningCommand.js';
import { ServedProcess } from './servedProcess.js';

/** Debian's, which python3-zmq belongs to: another python3 may come first on the path. */
const PYTHON = '/usr/bin/python3';
const TWIN = join(packageRoot(), 'containers/runtime/clipper/tests/twin_container.py');

interface Prediction {
  readonly output: unknown;
  readonly default: boolean;
  readonly default_explanation?: string;
}

/** A container in Python, as a user starts one of Clipper's. */
class PythonContainer {
  said = '';
  errors = '';
  readonly child: ChildProcess;
  readonly ended: Promise<number | NodeJS.Signals | null>;

  constructor(port: number, environment: Readonly<Record<string, string>>, model: string) {
    this.child = spawn(PYTHON, [TWIN, model], {
      env: { ...process.env, CLIPPER_IP: '127.0.0.1', CLIPPER_PORT: String(port), ...environment },
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.ended = new Promise((resolve) => this.child.once('exit', (code, by) => resolve(by ?? code)));
  }
}

describe('containers of Clipper in Python', () => {
  let folder: string;
  let served: ServedProcess;
  let port: number;
  const running: PythonContainer[] = [];

  async function serve(at = 0): Promise<void> {
    served = await ServedProcess.start([
      ...['--data-dir', join(folder, 'data'), '--no-defaults', '--hang-after-ms', '2000'],
      ...['--clipper-port', String(at)],
    ]);
    port = Number(/Containers built for Clipper dial in on 127\.0\.0\.1:(\d+)/.exec(served.output)?.[1]);
  }

  beforeAll(async () => {
    installDebianPackage('python3-zmq', () => spawnSync(PYTHON, ['-c', 'import zmq']).status === 0);
    folder = mkdtempSync(join(tmpdir(), 'windjammer-clipper-'));
    await serve();
  });
  afterAll(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await served.end('SIGTERM');
    rmSync(folder, { recursive: true });
  });

  function container(name: string, type: string, model: string, environment = {}): PythonContainer {
    const made = new PythonContainer(
      port,
      { CLIPPER_MODEL_NAME: name, CLIPPER_MODEL_VERSION: '1', CLIPPER_INPUT_TYPE: type, ...environment },
      model,
    );
    running.push(made);
    return made;
  }

  async function command(...words: string[]): Promise<string> {
    const ran = new RunningCommand([...words, '--management-url', served.management]);
    if ((await ran.ended()) !== 0) throw new Error(`${words.join(' ')}: ${ran.output}${ran.errors}`);
    return ran.output;
  }

  async function register(name: string, inputType: string): Promise<void> {
    const image = 'clipper/python-closure-container:develop';
    await command('model', 'add', name, '--version', '1', '--input-type', inputType, '--container', image);
    await served.admin('add_app', {
      name,
      input_type: inputType,
      default_output: 'none',
      latency_slo_micros: 10_000_000,
    });
    await command('link', 'add', name, name);
  }

  async function predict(name: string, input: unknown): Promise<Prediction> {
    return (await served.post(`${served.query}/${name}/predict`, { input })).json as Prediction;
  }

  const up = async (name: string): Promise<number> => {
    const { replicas_up: count } = (await served.admin('get_model', {
      model_name: name,
      model_version: '1',
    })) as { readonly replicas_up: number };
    return count;
  };
  const upIs = (name: string, count: number) =>
    expect.poll(() => up(name), { timeout: 30_000, interval: 100 }).toBe(count);

  it.each([
    ['integers', [1, -2, 2_147_483_647 - 2], 2_147_483_644],
    ['floats', [0.5, 0.25], 0.75],
    ['doubles', [1e300, 1], 1e300],
    ['bytes', Buffer.from([1, 2, 255]).toString('base64'), 2],
  ])('take %s', async (type, input, sum) => {
    await register(type, type);
    container(type, type, 'sum');
    await upIs(type, 1);
    expect(await predict(type, input)).toMatchObject({ default: false, output: sum });
  });

  it('take strings', async () => {
    await register('strings', 'strings');
    container('strings', 'strings', 'length');
    await upIs('strings', 1);
    expect(await predict('strings', 'añ😀')).toMatchObject({ default: false, output: 3 });
  });

  it('are deployed as the guide says', async () => {
    const page = readFileSync(join(packageRoot(), 'docs/guides/clipper.md'), 'utf8');
    const [block] = /(^ {4}.*\n)+/m.exec(page) ?? [''];
    const lines = block
      .trim()
      .split('\n')
      .map((line) => line.trim().split(' '));
    const [[, serve], ...commands] = lines;
    const start = commands.pop() ?? [];
    expect(serve).toBe('serve');
    for (const [program, ...words] of commands) {
      expect(program).toBe('windjammer');
      await command(...words);
    }
    expect(start.splice(-2)).toEqual(['python3', 'container.py']);
    const environment = Object.fromEntries(start.map((word) => word.split('=') as [string, string]));
    running.push(new PythonContainer(port, environment, 'sum'));
    await upIs('sum', 1);
    // Its objective is the usual one, which a busy machine may miss.
    await expect.poll(async () => (await predict('sum', [1, 2])).output, { timeout: 10_000 }).toBe(3);
  });

  it('are asked batches, two of them side by side', async () => {
    await register('pair', 'doubles');
    const both = [container('pair', 'doubles', 'sum'), container('pair', 'doubles', 'sum')];
    await upIs('pair', 2);
    const inputs = Array.from({ length: 400 }, (_, at) => [at, 0.5]);
    const answers = await Promise.all(inputs.map((input) => predict('pair', input)));
    expect(answers.map(({ output }) => output)).toEqual(inputs.map(([at]) => at + 0.5));
    for (const { said } of both) expect(said).toContain('batch of ');
  });

  it('of another RPC version are not served, and say why in their own log', async () => {
    await register('old', 'doubles');
    const old = container('old', 'doubles', 'sum', { TWIN_RPC_VERSION: '2' });
    await expect
      .poll(() => old.said, { timeout: 10_000 })
      .toContain('ERROR: a message in version 3, this container speaks 2');
    await expect.poll(() => served.errors).toContain('a container speaks another version of the RPC');
    expect(await up('old')).toBe(0);
  });

  it('lose no query when one is killed amid a batch', async () => {
    await register('killed', 'doubles');
    const first = container('killed', 'doubles', 'slow');
    await upIs('killed', 1);
    const asked = [1, 2, 3].map((at) => predict('killed', [at]));
    await expect.poll(() => first.said, { interval: 10 }).toContain('batch of ');
    first.child.kill('SIGKILL');
    container('killed', 'doubles', 'slow');
    for (const answer of await Promise.all(asked))
      expect(answer).toMatchObject({ output: 1, default: false });
    await upIs('killed', 1);
  });

  it('end themselves when their model raises, and are missed at once', async () => {
    await register('raising', 'doubles');
    const one = container('raising', 'doubles', 'fail');
    await upIs('raising', 1);
    const asked = predict('raising', [1]);
    expect(await one.ended).toBe(1);
    expect(one.errors).toContain('the model raised');
    await upIs('raising', 0);
    container('raising', 'doubles', 'sum');
    expect(await asked).toHaveProperty('default');
    await upIs('raising', 1);
  });

  it('that answer too much fail their batches, and are told apart from one that does not', async () => {
    await register('short', 'doubles');
    container('short', 'doubles', 'short');
    await upIs('short', 1);
    expect(await predict('short', [1])).toMatchObject({ default: true, default_reason: 'model_error' });
    await expect.poll(() => served.errors).toContain('its answer has 2 outputs, it was asked 1 inputs');
  });

  it('come back after the server was killed, and serve what they served', async () => {
    await upIs('pair', 2);
    const at = port;
    await served.end('SIGKILL');
    await serve(at);
    expect(port).toBe(at);
    await upIs('pair', 2);
    await upIs('strings', 1);
    expect(await predict('pair', [20, 22])).toMatchObject({ default: false, output: 42 });
  });
});
