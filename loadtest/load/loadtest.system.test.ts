import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandFile } from '../../services/cli/index.js';
import { RunningCommand } from '../../services/tests/runningCommand.js';
import type { RunResult } from '../result/index.js';

let folder: string;
let server: RunningCommand;
let url: string;
let management: string;

async function started(environment: NodeJS.ProcessEnv = {}): Promise<RunningCommand> {
  const words = ['serve', '--ephemeral', '--port', '0', '--management-port', '0'];
  return new RunningCommand(words, environment).ready();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-loadtest-'));
  server = await started();
  const [, query = '', admin = ''] = /serves on (\S+), management on (\S+), /.exec(server.output) ?? [];
  [url, management] = [query, admin];
  await ask('add_app', {
    name: 'patient',
    input_type: 'doubles',
    default_output: '-1',
    latency_slo_micros: 60_000_000,
  });
  await ask('add_model_links', { app_name: 'patient', model_names: ['noop'] });
}, 60_000);

afterAll(async () => {
  await server.end('SIGTERM');
  rmSync(folder, { recursive: true });
});

/** No query of its applications is late, whatever else the machine does. */
async function ask(verb: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${management}/admin/${verb}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** A machine that does much else may send late: what is tested here is not that. */
const ANY_LATENESS = ['--late-limit-ms', '10000'];

async function windjammer(...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [commandFile(), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output, errors };
}

async function loadtest(...args: readonly string[]): Promise<RunResult> {
  const { output, errors, code } = await windjammer('loadtest', '--url', url, ...args);
  expect(code, errors).toBe(0);
  return JSON.parse(output) as RunResult;
}

describe('an open loop', () => {
  it.each(['http', 'websocket', 'v2'] as const)('asks all that a trace has, by %s', async (mode) => {
    const seed = String(10 + mode.length);
    const trace = ['--app', 'patient', '--trace', 'poisson:200', '--duration', '1', '--seed', seed];
    const result = await loadtest(...trace, '--mode', mode, ...ANY_LATENESS);
    expect(result).toMatchObject({
      kind: 'loadtest',
      times: 'wall',
      endedEarly: null,
      defaults: 0,
      refusals: {},
    });
    expect(result.arrivals).toBe(result.answers);
    expect(result.arrivals).toBeGreaterThan(150);
    expect(result.load).toMatchObject({ loop: 'open', mode, processes: 1, unanswered: 0 });
    // The server has counted the same.
    expect(result.models.map(({ name, items }) => [name, items])).toEqual([['noop', result.arrivals]]);
    expect(result.windows.reduce((sum, { arrivals }) => sum + arrivals, 0)).toBe(result.arrivals);
  });

  it.each(['1', '2'])('warms up with queries that do not count, of %s processes', async (processes) => {
    const asked = [
      '--app',
      'patient',
      '--trace',
      'poisson:100',
      '--duration',
      '1',
      '--seed',
      `9${processes}`,
    ];
    const result = await loadtest(...asked, '--warm-up', '2', '--processes', processes, ...ANY_LATENESS);
    expect(result.arrivals).toBe(result.answers);
    expect(result.arrivals).toBeGreaterThan(60);
    expect(result.arrivals).toBeLessThan(150);
    expect(result.durationSeconds).toBeLessThan(2);
    // Nor does what the server did for them: some 400 more.
    expect(result.models.map(({ name, items }) => [name, items])).toEqual([['noop', result.arrivals]]);
    expect(result.cachedAnswers).toBe(0);
  });

  it('is shared by several processes, without one query more or less', async () => {
    const asked = [
      '--app',
      'noop',
      '--trace',
      'uniform:200',
      '--duration',
      '1',
      '--seed',
      '77',
      ...ANY_LATENESS,
    ];
    const answers = join(folder, 'shared.jsonl');
    const result = await loadtest(...asked, '--processes', '3', '--save-answers', answers);
    const lines = readFileSync(answers, 'utf8').trimEnd().split('\n');
    const numbers = lines
      .map((line) => (JSON.parse(line) as { number: number }).number)
      .sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: result.arrivals }, (_, at) => at));
    expect(result.arrivals).toBe(199);
  });

  it('mixes applications by weight, and judges what has a label', async () => {
    const mix = ['--app', 'digits=3', '--app', 'noop=1', '--trace', 'poisson:80', '--duration', '2'];
    const feedback = ['--feedback', '1', '--feedback-delay-ms', '5', '--feedback-lag', 'exponential'];
    const { applications, feedback: given } = await loadtest(
      ...mix,
      ...feedback,
      ...ANY_LATENESS,
      '--seed',
      '5',
    );
    const [digits, noop] = applications;
    expect(digits.arrivals).toBeGreaterThan(noop.arrivals * 1.5);
    expect(digits.accuracy?.labelled).toBe(digits.answers);
    expect(given.given).toBe(digits.answers);
    expect(digits.feedback.query).toBeGreaterThan(0);
  });

  it('ends and says so when it is late itself', async () => {
    const asked = [
      '--app',
      'noop',
      '--trace',
      'poisson:2000',
      '--duration',
      '20',
      '--late-limit-ms',
      '0.000001',
    ];
    const { code, output, errors } = await windjammer('loadtest', '--url', url, ...asked);
    expect(code).toBe(1);
    expect(errors).toMatch(/ended early: the load generator itself is late: 1 of 100 queries left/);
    expect((JSON.parse(output) as RunResult).durationSeconds).toBeLessThan(20);
  });
});

it.each(['http', 'websocket'] as const)(
  'a closed loop asks again once it is answered, by %s',
  async (mode) => {
    const result = await loadtest(
      '--app',
      'noop',
      '--duration',
      '1',
      '--mode',
      mode,
      '--seed',
      String(mode.length),
    );
    expect(result.load).toMatchObject({ loop: 'closed', lateness: null });
    expect(result.answers).toBeGreaterThan(100);
    expect(result.arrivals - result.answers).toBe(0);
  },
  30_000,
);

it('finds the highest rate that keeps the objective', async () => {
  const asked = ['--app', 'patient', '--trace', 'poisson:7', '--duration', '1', '--find-limit', '20..40'];
  const { code, errors } = await windjammer('loadtest', '--url', url, ...asked, ...ANY_LATENESS);
  expect(errors).toMatch(/^20\.0 a second: .*kept\n40\.0 a second: .*kept\nat least 40\.0 a second\n/);
  expect(code).toBe(0);
});

it('reports, and sets runs side by side', async () => {
  const files = ['--report', 'run.html', '--csv', 'run.csv'];
  const result = await loadtest(
    '--app',
    'noop',
    '--trace',
    'poisson:100',
    '--duration',
    '1',
    ...files,
    ...ANY_LATENESS,
  );
  expect(readFileSync(join(folder, 'run.html'), 'utf8')).toContain('<title>Load test of poisson:100</title>');
  expect(readFileSync(join(folder, 'run.csv'), 'utf8')).toMatch(/^from_s,arrivals,answers,/);
  writeFileSync(join(folder, 'live.json'), JSON.stringify(result));
  const replayed = await windjammer('replay', '--app', 'noop', '--trace', 'poisson:100', '--duration', '1');
  writeFileSync(join(folder, 'virtual.json'), replayed.output);
  const { output, code } = await windjammer('report', 'live.json', 'virtual.json', '--html', 'both.html');
  expect(output).toMatch(
    /^ +live +virtual +ratio\n +load test +replay, simulated times\nqueries +\d+ +\d+ +1\.00\n/,
  );
  expect(readFileSync(join(folder, 'both.html'), 'utf8')).toContain('<title>Runs live and virtual</title>');
  expect(code).toBe(0);
});

it('keeps what it found when the server dies in the middle', async () => {
  const victim = await started();
  const [, address = ''] = /serves on (\S+),/.exec(victim.output) ?? [];
  const asked = ['--app', 'noop', '--trace', 'poisson:300', '--duration', '30', ...ANY_LATENESS];
  const ending = windjammer('loadtest', '--url', address, ...asked);
  for (;;) {
    const text = await (await fetch(`${address}/metrics`)).text();
    if (Number(/outcome="predicted",reason=""} (\d+)/.exec(text)?.[1] ?? 0) > 50) break;
  }
  await victim.end('SIGKILL');
  const { code, output, errors } = await ending;
  expect(code).toBe(1);
  expect(errors).toMatch(/ended early: the server has gone \(connect ECONNREFUSED/);
  const result = JSON.parse(output) as RunResult;
  expect(result.answers).toBeGreaterThan(50);
  expect(result.refusals.unreachable).toBeGreaterThan(0);
}, 60_000);

it('keeps what the others have counted when one of its processes is killed', async () => {
  const asked = [
    '--app',
    'patient',
    '--trace',
    'poisson:200',
    '--processes',
    '2',
    '--duration',
    '60',
    ...ANY_LATENESS,
  ];
  const child = spawn(process.execPath, [commandFile(), 'loadtest', '--url', url, ...asked], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  const parts = (): number[] =>
    readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number);
  const answered = async (): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/application="patient",outcome="predicted",reason=""} (\d+)/.exec(text)?.[1] ?? 0);
  };
  const before = await answered();
  while ((await answered()) < before + 100) await new Promise((resolve) => setTimeout(resolve, 50));
  const [killed, other] = parts();
  process.kill(killed, 'SIGKILL');
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code).toBe(1);
  expect(errors).toMatch(
    /ended early: a load process has ended \(SIGKILL\): what 1 of 2 processes have counted is missing/,
  );
  expect((JSON.parse(output) as RunResult).answers).toBeGreaterThan(10);
  expect(() => process.kill(other, 0)).toThrow('ESRCH');
}, 60_000);

it('a recording can be replayed and asked again', async () => {
  const recording = windjammer('record', 'trace.jsonl', '--management-url', management, '--duration', '3');
  let isOver = false;
  void recording.finally(() => (isOver = true));
  for (let seed = 31; !isOver; seed++) {
    const asked = ['--app', 'noop', '--trace', 'uniform:100', '--seed', String(seed), ...ANY_LATENESS];
    await loadtest(...asked, '--duration', '1');
  }
  const { code, output, errors } = await recording;
  expect(code, errors).toBe(0);
  expect(output).toMatch(/^trace\.jsonl: \d+ arrivals\n$/);
  const [line] = readFileSync(join(folder, 'trace.jsonl'), 'utf8').split('\n');
  expect(JSON.parse(line)).toEqual({
    time_us: expect.any(Number) as number,
    application: 'noop',
    input_hash: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
  });
  const { arrivals } = await loadtest(
    '--trace',
    'trace.jsonl',
    '--app',
    'noop',
    '--scale',
    '4',
    ...ANY_LATENESS,
  );
  expect(output).toContain(` ${arrivals} arrivals`);
}, 30_000);

it.each([
  [
    'no server',
    ['--url', 'http://127.0.0.1:1', '--app', 'noop'],
    /no server answers at http:\/\/127\.0\.0\.1:1; start one/,
  ],
  [
    'another address',
    ['--url', 'nowhere', '--app', 'noop'],
    /^windjammer: "nowhere" is no address of a server/,
  ],
  ['no application', [], /--app: say which application to ask: there are digits, noop, patient/],
  [
    'an application that there is not',
    ['--app', 'none'],
    /--app: the server has no application 'none', only digits, noop, patient/,
  ],
  [
    'feedback over v2',
    ['--app', 'noop', '--mode', 'v2', '--feedback', '1'],
    /--feedback: the Open Inference Protocol has none/,
  ],
  ['a scale without a trace', ['--app', 'noop', '--scale', '2'], /--scale: it is for a --trace/],
  ['a weight that is none', ['--app', 'noop=0'], /expected NAME or NAME=WEIGHT, with a weight above 0/],
  ['a range that is none', ['--app', 'noop', '--find-limit', '9..1'], /expected LOW\.\.HIGH/],
  ['a comparison with nothing', ['--app', 'noop', '--compare', 'none.json'], /--compare: none\.json: ENOENT/],
  ['a report without a folder', ['--app', 'noop', '--report', 'none/x.html'], /--report: .*none/],
  [
    'a mode that there is not',
    ['--app', 'noop', '--mode', 'grpc'],
    /Allowed choices are http, websocket, v2/,
  ],
])('fails with 1 and a message on %s', async (_what, args, message) => {
  const place = args[0] === '--url' ? [] : ['--url', url];
  const { code, output, errors } = await windjammer('loadtest', ...place, ...args);
  expect(errors).toMatch(message);
  expect(output).toBe('');
  expect(code).toBe(1);
});

it('says what the server says of a key that it does not know', async () => {
  const { output: key } = await windjammer('key', 'generate');
  const guarded = await started({ WINDJAMMER_ADMIN_KEY: key.trim() });
  try {
    const [, address = ''] = /serves on (\S+),/.exec(guarded.output) ?? [];
    const { code, output, errors } = await windjammer('loadtest', '--url', address, '--app', 'noop');
    expect(errors).toMatch(/^windjammer: 401 key_required: /);
    expect(output).toBe('');
    expect(code).toBe(1);
  } finally {
    await guarded.end('SIGTERM');
  }
}, 60_000);
