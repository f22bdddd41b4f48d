import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import { packageRoot } from '../../simulator/files/index.js';
import { NodeProcess } from '../tests/nodeProcess.js';
import { RunningCommand } from '../tests/runningCommand.js';
import { ServedProcess } from '../tests/servedProcess.js';
import { windjammerProgram } from './program.js';

/** A shell says 130 of what SIGINT has ended by itself, too. */
const ENDED_BY: Readonly<Record<string, readonly unknown[]>> = {
  SIGINT: [130, 'SIGINT'],
  SIGTERM: [143, 'SIGTERM'],
  SIGHUP: [129, 'SIGHUP'],
};
const AT_ONCE_MS = 2000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-interrupts-'));
  writeFileSync(at('lines'), '[1]\n[2]\n[3]\n');
  writeFileSync(at('m.mjs'), "export default { inputType: 'doubles', predictOne: () => 1 };");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);

/** Takes connections and never says a word. */
class SilentServer {
  asked = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => (this.asked += 1));
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

/** It ends by itself, soon: it asks nobody, and what it computes is small. A command that may take long belongs to the others. */
const SHORT = 'short';

interface Long {
  /** What it is told, besides addresses of servers. */
  readonly words: (url: string) => readonly string[];
  /** What shows that it is at work: it has asked a server that never answers, or has computed for a while. */
  readonly until: 'asked' | 'computing';
}

const asking = (...words: readonly string[]): Long => ({ words: () => words, until: 'asked' });
const given = (words: Long['words']): Long => ({ words, until: 'asked' });
const computing = (words: Long['words']): Long => ({ words, until: 'computing' });

/**
 * Every command there is. A new one fails the test below until it stands here: with words that make it run for as long as it may, or as
 * `SHORT`; commands that serve have tests of their own.
 */
const COMMANDS: Readonly<Record<string, Long | typeof SHORT | 'serves'>> = {
  serve: 'serves',
  node: 'serves',
  'config check': SHORT,
  'config print': SHORT,
  'config schema': SHORT,
  doctor: SHORT,
  predict: asking('noop', '--input', '[1]'),
  feedback: asking('noop', '--query-id', 'q', '--label', '1'),
  batch: given(() => ['noop', '--input', at('lines'), '--output', at('answers')]),
  'job list': asking(),
  'job show': asking('j'),
  'job cancel': asking('j'),
  'job remove': asking('j'),
  'job results': given(() => ['j', '--follow', '--output', at('results')]),
  deploy: given(() => [at('m.mjs'), '--name', 'm', '--version', '1', '--app', 'a']),
  'app add': asking('a', '--input-type', 'doubles', '--default-output', '0'),
  'app set': asking('a', '--slo-micros', '1000'),
  'app delete': asking('a'),
  'app list': asking(),
  'app show': asking('a'),
  'model add': asking(
    'm',
    '--version',
    '1',
    '--input-type',
    'doubles',
    '--container',
    'constant',
    '--output',
    '1',
  ),
  'model delete': asking('m', '1'),
  'model list': asking(),
  'model show': asking('m', '1'),
  'model set-version': asking('m', '1'),
  'model scale': asking('m', '1', '2'),
  'model replicas': asking(),
  'canary list': asking(),
  'canary show': asking('m'),
  'canary start': asking('m', '2'),
  'canary promote': asking('m'),
  'canary abort': asking('m'),
  'policy list': SHORT,
  'policy test': SHORT,
  'link add': asking('a', 'm'),
  'link delete': asking('a', 'm'),
  'link list': asking('a'),
  'state export': asking('a'),
  'state rollback': asking('a'),
  'state reset': asking('a'),
  'state pin': asking('a'),
  'state unpin': asking('a'),
  'queue list': asking(),
  'queue show': asking('f'),
  'queue retry': asking('--all'),
  'queue drop': asking('--all'),
  events: asking('--follow'),
  'key add': asking('k', '--scope', 'predict'),
  'key list': asking(),
  'key remove': asking('k'),
  'key generate': SHORT,
  backup: given(() => [at('backup')]),
  restore: SHORT,
  'cluster status': asking(),
  'cluster nodes': asking(),
  'cluster drain': asking('n'),
  'cluster undrain': asking('n'),
  'cluster repair': given((url) => ['--from', url]),
  'import sklearn': SHORT,
  'import xgboost': SHORT,
  'import lightgbm': SHORT,
  'import onnx': SHORT,
  test: computing(() => [
    join(packageRoot(), builtInModelPath('digits-rbf-svm')),
    '--gpus',
    'h200,h100,a100,v100,t4',
  ]),
  'gpu run': SHORT,
  'gpu calibrate': computing(() => []),
  'gpu check': SHORT,
  'gpu devices': SHORT,
  'gpu disasm': SHORT,
  'gpu idempotent': SHORT,
  'gpu occupancy': SHORT,
  'gpu profile': SHORT,
  'gpu top': asking(),
  'gpu record': given(() => [at('timeline.json')]),
  'gpu replay': SHORT,
  completion: SHORT,
  record: given(() => [at('arrivals')]),
  evaluate: SHORT,
  loadtest: asking('--app', 'noop'),
  report: SHORT,
  replay: computing(() => ['--trace', 'poisson:2000', '--duration', '100000']),
};

function leavesOf(command: Command, path: readonly string[] = []): string[] {
  const below = command.commands.filter((one) => one.name() !== 'help');
  if (below.length === 0) return [path.join(' ')];
  return below.flatMap((one) => leavesOf(one, [...path, one.name()]));
}

function leafOf(program: Command, name: string): Command {
  return name.split(' ').reduce((command, part) => {
    const found = command.commands.find((one) => one.name() === part);
    if (found === undefined) throw new Error(`there is no command '${name}'`);
    return found;
  }, program);
}

/** Processor time that a process has taken, in hundredths of a second. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** The same, of a command that has only loaded what it runs, and more than that by far. */
const STARTED_TICKS = 200;

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1].split(' ')[1] === String(pid);
      } catch {
        return false;
      }
    })
    .map(Number);
}

const isThere = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** It ends at once by a signal, says so to whoever has started it, and leaves nothing. */
async function expectEnd(command: RunningCommand, signal: NodeJS.Signals): Promise<void> {
  const children = childrenOf(command.pid);
  const sentMs = performance.now();
  const by = await command.end(signal);
  expect(ENDED_BY[signal], `${by}: ${command.errors}`).toContain(by);
  expect(performance.now() - sentMs).toBeLessThan(AT_ONCE_MS);
  expect(command.errors).not.toMatch(/^ +at /m);
  await expect.poll(() => children.filter(isThere), { timeout: 5000 }).toEqual([]);
}

describe('a command that is told to stop', () => {
  it('is in the list, whatever it is called', async () => {
    expect(Object.keys(COMMANDS).sort()).toEqual(leavesOf(await windjammerProgram()).sort());
  });

  const long = Object.entries(COMMANDS).filter((one): one is [string, Long] => typeof one[1] === 'object');

  it.each(long)('ends at once: %s', async (name, { words, until }) => {
    const silent = new SilentServer();
    const url = await silent.listen();
    const options = leafOf(await windjammerProgram(name.split(' ')), name).options.map(
      ({ long: option }) => option,
    );
    const urls = ['--url', '--management-url'].filter((option) => options.includes(option));
    const command = new RunningCommand(
      [...name.split(' '), ...words(url), ...urls.flatMap((option) => [option, url])],
      {
        TMPDIR: folder,
      },
    );
    try {
      const isAtWork = (): boolean =>
        command.hasExited || (until === 'asked' ? silent.asked > 0 : ticksOf(command.pid) > STARTED_TICKS);
      await expect.poll(isAtWork, { timeout: 60_000 }).toBe(true);
      expect(command.hasExited, command.errors).toBe(false);
      await expectEnd(command, 'SIGINT');
    } finally {
      if (!command.hasExited) await command.end('SIGKILL');
      silent.close();
    }
    expect(
      readdirSync(folder).filter((one) => one.startsWith('windjammer-') || one.includes('.part')),
    ).toEqual([]);
    for (const output of ['backup', 'timeline.json', 'results']) expect(existsSync(at(output))).toBe(false);
  });

  it('leaves nothing of a model that it tries, which never says that it is ready', async () => {
    writeFileSync(at('slow.mjs'), 'await new Promise(() => setInterval(() => {}, 1000));');
    const words = ['deploy', at('slow.mjs'), '--name', 'slow', '--version', '1'];
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const command = new RunningCommand(words, { TMPDIR: folder });
      await expect.poll(() => childrenOf(command.pid).length, { timeout: 30_000 }).toBeGreaterThan(0);
      await expectEnd(command, signal);
      expect(readdirSync(folder).filter((one) => one.startsWith('windjammer-'))).toEqual([]);
    }
  });
});

describe('with a server that answers', () => {
  let served: ServedProcess;
  beforeAll(async () => {
    served = await ServedProcess.start(['--ephemeral']);
    writeFileSync(
      at('sometimes.mjs'),
      "export default { inputType: 'doubles', predictOne: (x) => (x[0] > 12 ? new Promise(() => {}) : x[0]) };",
    );
    const deploy = new RunningCommand([
      ...[
        'deploy',
        at('sometimes.mjs'),
        '--name',
        'sometimes',
        '--version',
        '1',
        '--batch-timeout-ms',
        '15000',
      ],
      ...['--management-url', served.management],
    ]);
    expect(await deploy.ended(), deploy.errors).toBe(0);
    await served.admin('add_app', {
      name: 'sometimes',
      input_type: 'doubles',
      default_output: '-1',
      latency_slo_micros: 60_000_000,
    });
    await served.admin('add_model_links', { app_name: 'sometimes', model_names: ['sometimes'] });
  });
  afterAll(async () => void (await served.end('SIGKILL')));

  // Each its own: what hangs once is asked less willingly then.
  it.each([
    ['SIGINT', 13],
    ['SIGHUP', 14],
  ] as const)('batch keeps what was answered at %s, and goes on', async (signal, hanging) => {
    const [input, output] = [at(`${signal}.in`), at(`${signal}.out`)];
    writeFileSync(input, `[1]\n[2]\n[${hanging}]\n[3]\n`);
    const words = ['batch', 'sometimes', '--input', input, '--output', output, '--url', served.query];
    const command = new RunningCommand([...words, '--concurrency', '1']);
    const answered = (): number =>
      existsSync(output) ? readFileSync(output, 'utf8').split('\n').length - 1 : 0;
    await expect.poll(answered, { timeout: 30_000 }).toBe(2);
    await expectEnd(command, signal);
    expect(command.errors).toContain(`stopped; --resume goes on with ${output}`);
    expect(answered()).toBe(2);
    writeFileSync(input, '[1]\n[2]\n[4]\n[3]\n');
    const again = new RunningCommand([...words, '--resume']);
    expect(await again.ended(), again.errors).toBe(0);
    expect(answered()).toBe(4);
  });

  it.each(['SIGINT', 'SIGHUP'] as const)(
    'loadtest reports what it has found at %s, also with processes of its own',
    async (signal) => {
      const report = at(`${signal}.html`);
      const command = new RunningCommand([
        ...[
          'loadtest',
          '--url',
          served.query,
          '--app',
          'noop',
          '--trace',
          'poisson:200',
          '--duration',
          '600',
        ],
        // A busy machine is not what it is about.
        ...['--processes', '2', '--late-limit-ms', '60000'],
        ...['--report', report, '--save-answers', at(`${signal}.answers`)],
      ]);
      const answers = (): number =>
        readdirSync(folder)
          .filter((name) => name.startsWith(`${signal}.answers`))
          .reduce((total, name) => total + readFileSync(at(name), 'utf8').length, 0);
      await expect.poll(answers, { timeout: 60_000 }).toBeGreaterThan(0);
      await expectEnd(command, signal);
      const result = JSON.parse(command.output) as { endedEarly: string };
      expect(result.endedEarly).toBe('it was interrupted');
      expect(readFileSync(report, 'utf8')).toContain('</html>');
    },
  );

  it('record keeps whole lines of what has come', async () => {
    const command = new RunningCommand(['record', at('arrivals'), '--management-url', served.management]);
    // It has no name until all of it is there.
    const written = (): number => {
      const fds = `/proc/${command.pid}/fd`;
      for (const fd of command.hasExited ? [] : readdirSync(fds)) {
        try {
          if (readlinkSync(join(fds, fd)).endsWith('(deleted)')) return statSync(join(fds, fd)).size;
        } catch {
          // Closed meanwhile.
        }
      }
      return 0;
    };
    let asked = 0;
    const moreWritten = async () => {
      await served.post(`${served.query}/noop/predict`, { input: [++asked] });
      return written();
    };
    await expect.poll(moreWritten, { timeout: 30_000 }).toBeGreaterThan(0);
    await expectEnd(command, 'SIGINT');
    const lines = readFileSync(at('arrivals'), 'utf8').trim().split('\n');
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(command.output).toContain('arrivals');
  });

  it.each([
    ['events', ['--follow']],
    ['gpu', ['top', '--json', '--interval', '0.1']],
  ])('%s goes on until then, and has written whole lines', async (name, words) => {
    const command = new RunningCommand([name, ...words, '--json', '--management-url', served.management]);
    await expect.poll(() => command.output.split('\n').length, { timeout: 30_000 }).toBeGreaterThan(1);
    await expectEnd(command, 'SIGINT');
    for (const line of command.output.trim().split('\n'))
      expect(() => JSON.parse(line) as unknown).not.toThrow();
  });
});

describe('a server or node that drains', () => {
  const MODULE = "export default { inputType: 'doubles', predictOne: () => new Promise(() => {}) };";
  const HANGING = {
    name: 'hangs',
    input_type: 'doubles',
    default_output: '-1',
    latency_slo_micros: 60_000_000,
  };
  const MODEL = {
    model_name: 'hangs',
    model_version: '1',
    input_type: 'doubles',
    container_name: 'windjammer/process',
    warm_up: false,
  };

  /** A query that is never answered. */
  async function hang(served: ServedProcess): Promise<void> {
    writeFileSync(at('hangs.mjs'), MODULE);
    await served.admin('add_app', HANGING);
    await served.admin('add_model', { ...MODEL, model_data_path: at('hangs.mjs') });
    await served.admin('add_model_links', { app_name: 'hangs', model_names: ['hangs'] });
    await expect
      .poll(async () => JSON.stringify(await served.admin('get_all_containers', { verbose: true })), {
        timeout: 30_000,
      })
      .toContain('"up"');
    void served.post(`${served.query}/hangs/predict`, { input: [1] }).catch(() => undefined);
    const metrics = async () => (await fetch(`${served.query}/metrics`)).text();
    await expect
      .poll(metrics, { timeout: 10_000 })
      .toMatch(/^windjammer_in_flight_batches\{model="hangs".*\} 1$/m);
  }

  const SAME_SIGNAL_MS = 500;

  /** The second counts from half a second after the first on: under npm one arrives twice. */
  async function twice(
    command: RunningCommand | ServedProcess | NodeProcess,
    signal: NodeJS.Signals,
  ): Promise<void> {
    command.signal(signal);
    await expect.poll(() => command.output, { timeout: 10_000 }).toContain('Draining; again to stop at once');
    const drainingMs = performance.now();
    await expect
      .poll(() => performance.now() - drainingMs, { timeout: 5000 })
      .toBeGreaterThan(SAME_SIGNAL_MS + 100);
    expect(command.hasExited).toBe(false);
    const sentMs = performance.now();
    expect(await command.end(signal)).toBe(130);
    expect(performance.now() - sentMs).toBeLessThan(AT_ONCE_MS);
    expect(command.errors).not.toMatch(/^ +at /m);
  }

  it.each(['SIGINT', 'SIGTERM'] as const)('ends at once with the second %s', async (signal) => {
    const served = await ServedProcess.start(['--ephemeral', '--no-defaults', '--drain-grace-ms', '60000']);
    await hang(served);
    const children = childrenOf(served.pid);
    expect(children.length).toBeGreaterThan(0);
    await twice(served, signal);
    await expect.poll(() => children.filter(isThere), { timeout: 5000 }).toEqual([]);

    const node = await NodeProcess.start('n1', ['--drain-grace-ms', '60000']);
    const other = await ServedProcess.start([
      '--ephemeral',
      '--no-defaults',
      '--only-nodes',
      '--node',
      node.url,
    ]);
    try {
      await hang(other);
      await expect.poll(() => childrenOf(node.pid).length, { timeout: 30_000 }).toBeGreaterThan(0);
      const models = childrenOf(node.pid);
      await twice(node, signal);
      await expect.poll(() => models.filter(isThere), { timeout: 5000 }).toEqual([]);
    } finally {
      await other.end('SIGKILL');
    }
  });

  it('ends with its terminal, and with it what it has started', async () => {
    const served = await ServedProcess.start(['--ephemeral', '--no-defaults']);
    await hang(served);
    const children = childrenOf(served.pid);
    expect(ENDED_BY.SIGHUP).toContain(await served.end('SIGHUP'));
    await expect.poll(() => children.filter(isThere), { timeout: 5000 }).toEqual([]);
  });
});
