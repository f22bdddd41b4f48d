import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { launchChromium } from '../dashboard/tests/chromium.js';
import { installPackage, packPackage } from './packedPackage.js';
import { ServedProcess } from './servedProcess.js';

const MOST_BYTES = 120e6;

/** What a user of `windjammer/client` writes, for Node and for browsers. */
const CONSUMER = `
import { RefusedError, WebSocketClient, WindjammerClient, type Prediction } from 'windjammer/client';

export async function ask(pixels: Float32Array): Promise<readonly Prediction[]> {
  const client = new WindjammerClient({ queryUrl: 'http://127.0.0.1:1337', apiKey: 'wj_1' });
  const answers = await client.predictBatch('digits', [pixels, [1, 2, 3]], { deadlineMs: 50, launchClass: 'critical' });
  const socket = await WebSocketClient.connect('ws://127.0.0.1:1337/ws', { format: 'binary' });
  const { queryId } = await socket.predict('digits', pixels, { strict: true });
  const { joined }: { joined: 'query' | 'cache' | 'evaluated' | 'queued' | 'repeated' | 'pinned' | 'none' } =
    await socket.feedback('digits', { queryId, label: 7 });
  const [{ linked_models: models }] = await client.management.applications();
  await client.management.addModel({
    input_type: 'floats', container_name: 'windjammer/constant', model_name: models[0] ?? joined, model_version: '1',
  });
  for await (const piece of client.jobs.results('1')) console.log(piece.byteLength);
  return answers.filter((one): one is Prediction => !(one instanceof RefusedError));
}

export async function wrong(client: WindjammerClient): Promise<void> {
  // @ts-expect-error an application has a name
  await client.management.addApplication({ input_type: 'floats' });
  // @ts-expect-error there is no such class
  await client.predict('digits', [1], { launchClass: 'royal' });
}
`;

/** On disk, as `du` counts. */
function diskBytes(path: string): number {
  const entry = lstatSync(path);
  const own = entry.blocks * 512;
  if (!entry.isDirectory()) return own;
  return readdirSync(path).reduce((sum, name) => sum + diskBytes(join(path, name)), own);
}

describe('the package, installed into an empty folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-package-'));
  const root = join(folder, 'node_modules/windjammer');
  const bin = join(folder, 'node_modules/.bin/windjammer');
  const windjammer = (...args: string[]): string =>
    execFileSync(bin, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  beforeAll(() => {
    installPackage(packPackage(folder), folder);
    // The browser may have to be installed, too.
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('takes less than 120 MB with all that it needs', () => {
    expect(diskBytes(join(folder, 'node_modules'))).toBeLessThan(MOST_BYTES);
  });

  it('has of the laboratory what commands load, and nothing that only builds, tests and benches use', () => {
    for (const laboratory of ['simulator/laboratory', 'dist/simulator/laboratory']) {
      const loaded = ['calibration', 'launches', 'validatorModes'];
      expect(loaded).toEqual(expect.arrayContaining(readdirSync(join(root, laboratory))));
    }
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => /\.test\.|(^|\/)tests(\/|$)|\.map$|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    for (const absent of ['loadtest/experiments', 'deploy/buildIfChanged.cjs', 'node_modules'])
      expect(existsSync(join(root, absent)), absent).toBe(false);
  });

  it('serves and predicts', async () => {
    const served = await ServedProcess.start(['--ephemeral', '--seed', '1'], {}, { command: bin });
    try {
      const input = new Float32Array(784);
      expect(await served.client().predict('digits', input, { deadlineMs: 60_000 })).toMatchObject({
        isDefault: false,
      });
    } finally {
      expect(await served.end('SIGTERM')).toBe(0);
    }
  });

  it('calibrates by every set, judges launches in every mode, and replays', () => {
    const spec = join(root, 'simulator/gpu/reference/launches/saxpy__n-256-a-1-5.json');
    expect(windjammer('gpu', 'calibrate', '--only', 'saxpy__n-256')).toContain('saxpy');
    for (const [set, only, specs] of [
      ['validation', 'divergent', /^\d+ launch specs in /],
      ['heldOut', 'batched_32', /^\d+ launch specs in /],
    ] as const)
      expect(
        windjammer('gpu', 'calibrate', '--set', set, '--only', only, '--specs', join(folder, set)),
      ).toMatch(specs);
    for (const mode of ['strawman', 'ranges', 'compacted'])
      expect(windjammer('gpu', 'idempotent', spec, '--mode', mode)).toContain('"idempotent":');
    expect(windjammer('replay', '--help')).toContain('Usage: windjammer replay');
  });

  describe('windjammer/client', () => {
    const project = join(folder, 'consumer');
    const compile = (compilerOptions: object): string => {
      const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: false };
      const settings = { ...strict, target: 'ES2022', noEmit: true, ...compilerOptions };
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: settings, files: ['consumer.ts'] }),
      );
      const tsc = join(packageRoot(), 'node_modules/typescript/bin/tsc');
      try {
        return execFileSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' });
      } catch (error) {
        return (error as { readonly stdout: string }).stdout;
      }
    };

    beforeAll(() => {
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
      writeFileSync(join(project, 'consumer.ts'), CONSUMER);
    });

    it('has types for Node', () => {
      const typeRoots = [join(packageRoot(), 'node_modules/@types')];
      const node = { lib: ['ES2022'], types: ['node'], typeRoots };
      expect(compile({ ...node, module: 'node16', moduleResolution: 'node16' })).toBe('');
    });

    it('has types for browsers, which need no package', () => {
      const browser = { lib: ['ES2022', 'DOM'], types: [], customConditions: ['browser'] };
      expect(compile({ ...browser, module: 'esnext', moduleResolution: 'bundler' })).toBe('');
    });

    it('is imported by a program', () => {
      const program = `import * as client from 'windjammer/client'; console.log(Object.keys(client).sort().join());`;
      const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        cwd: folder,
        encoding: 'utf8',
      });
      expect(said).toBe(
        'ClientError,DEFAULT_MANAGEMENT_URL,DEFAULT_QUERY_URL,RefusedError,SecurityError,TimeoutError,' +
          'UnexpectedAnswerError,UnreachableError,WebSocketClient,WindjammerClient\n',
      );
    });
  });

  describe('windjammer/client in a browser', () => {
    let served: ServedProcess;
    let site: Server;
    let origin: string;

    beforeAll(async () => {
      const text = readFileSync(join(root, 'package.json'), 'utf8');
      const { exports } = JSON.parse(text) as { exports: Record<string, Record<string, string>> };
      const script = readFileSync(join(root, exports['./client'].browser));
      site = createServer((request, response) => {
        const isScript = request.url === '/client.js';
        response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
        response.end(isScript ? script : '<!doctype html><title>page</title>');
      }).listen(0, '127.0.0.1');
      await once(site, 'listening');
      origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
      served = await ServedProcess.start(['--ephemeral', '--allow-origin', origin]);
    });
    afterAll(async () => {
      site?.close();
      await served?.end('SIGTERM');
    });

    it('predicts and learns over HTTP and WebSocket, and says what it cannot do', async () => {
      const browser = await launchChromium();
      try {
        const page = await browser.newPage();
        await page.goto(origin);
        const seen: unknown = await page.evaluate(`(async () => {
          const { WindjammerClient, WebSocketClient, RefusedError } = await import('/client.js');
          const queryUrl = ${JSON.stringify(served.query)};
          const client = new WindjammerClient({ queryUrl });
          const said = {};
          const digit = new Float32Array(784);
          const one = await client.predict('digits', digit, { deadlineMs: 60000 });
          said.http = [one.isDefault, typeof one.output];
          said.learned = (await client.feedback('digits', { queryId: one.queryId, label: one.output })).joined;
          for (const format of ['binary', 'json']) {
            const socket = await WebSocketClient.connect(queryUrl, { format });
            const answers = await Promise.all([1, 2, 3].map(() => socket.predict('digits', digit, { deadlineMs: 60000 })));
            said[format] = answers.map(({ output, isDefault }) => !isDefault && typeof output === 'number');
            said[format + 'Error'] = await socket.predict('nobody', digit).catch((error) => [error instanceof RefusedError, error.code]);
            await socket.close();
          }
          said.refused = await client.predict('nobody', digit).catch((error) => [error instanceof RefusedError, error.code]);
          said.away = await new WindjammerClient({ queryUrl: 'http://127.0.0.1:9' }).predict('digits', digit).catch((error) => error.code);
          said.noSocket = await WebSocketClient.connect('ws://127.0.0.1:9').catch((error) => error.code);
          try { new WindjammerClient({ ca: 'PEM' }); } catch (error) { said.ca = error.name; }
          const { job_id: id } = await client.jobs.create('digits', JSON.stringify(Array.from(digit)) + '\\n');
          let lines = '';
          for await (const piece of client.jobs.results(id, true)) lines += new TextDecoder().decode(piece);
          said.job = typeof JSON.parse(lines).output;
          return said;
        })()`);
        expect(seen).toEqual({
          http: [false, 'number'],
          learned: 'query',
          binary: [true, true, true],
          binaryError: [true, 'unknown_application'],
          json: [true, true, true],
          jsonError: [true, 'unknown_application'],
          refused: [true, 'unknown_application'],
          away: 'unreachable',
          noSocket: 'unreachable',
          ca: 'TypeError',
          job: 'number',
        });
      } finally {
        await browser.close();
      }
      // The browser may have to be installed first.
    }, 600_000);
  });
});
