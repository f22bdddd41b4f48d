import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { commandFile } from '../cli/index.js';
import { builtInModelPath } from '../../containers/models/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { pidsOf } from './modelProcesses.js';
import { NodeProcess } from './nodeProcess.js';
import { ServedProcess } from './servedProcess.js';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'windjammer-upload-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const mayMount = spawnSync('unshare', ['--mount', 'true']).status === 0;

function deploy(served: ServedProcess, cwd: string, ...words: readonly string[]) {
  const args = [commandFile(), 'deploy', ...words, '--management-url', served.management];
  return spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
}

function sourcesAt(place: string): string {
  mkdirSync(join(place, 'models/own'), { recursive: true });
  mkdirSync(join(place, 'common'), { recursive: true });
  writeFileSync(join(place, 'common/factor.mjs'), 'export const factor = 3;');
  writeFileSync(
    join(place, 'models/own/triple.mjs'),
    "import { factor } from '../../common/factor.mjs';\n" +
      "export default { inputType: 'doubles', predictOne: (x) => x[0] * factor };",
  );
  return place;
}

/** What `deploy` is told of it. */
const TRIPLE = ['models/own/triple.mjs', '--name', 'triple', '--version', '1', '--upload'] as const;

const app = (name: string, type: string) => ({
  name,
  input_type: type,
  default_output: '-1',
  latency_slo_micros: 5_000_000,
});

/** In sh, three times as much. */
const PROGRAM =
  'echo \'{"ready": true}\'\nwhile read -r line; do id=${line#*:}; x=${line#*[}; ' +
  'echo "{\\"id\\": ${id%%,*}, \\"output\\": $((3 * ${x%%[!0-9]*}))}"; done\n';

let asked = 0;
async function triple(served: ServedProcess): Promise<unknown> {
  const x = ++asked;
  const { json } = await served.post(`${served.query}/triple/predict`, { input: [x] });
  const { output, default_explanation: reason } = json as { output: number; default_explanation?: string };
  return reason ?? output / x;
}

describe('deploy, to a server that has other files', () => {
  it('sends them: they serve when those here are gone, also after a restart and from a backup', async () => {
    const sources = sourcesAt(join(folder, 'client'));
    const home = join(folder, 'server');
    mkdirSync(home);
    const args = ['--data-dir', join(home, 'data'), '--no-defaults'];
    let served = await ServedProcess.start(args);
    await served.admin('add_app', app('triple', 'doubles'));
    const done = deploy(
      served,
      join(sources, 'models'),
      ...['own/triple.mjs', '--name', 'triple', '--version', '1', '--app', 'triple', '--upload'],
    );
    expect(done.stderr).toBe('');
    expect(done.stdout).toContain('triple 1 is up and current, linked to triple');
    rmSync(sources, { recursive: true });
    expect(await triple(served)).toBe(3);
    // Another replica starts from what was sent.
    const [pid] = pidsOf('triple.mjs');
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => triple(served), { timeout: 20_000 }).toBe(3);
    await served.end('SIGTERM');
    served = await ServedProcess.start(args);
    expect(await triple(served)).toBe(3);
    const backup = join(folder, 'all.backup');
    const words = (...of: readonly string[]) =>
      spawnSync(process.execPath, [commandFile(), ...of], { encoding: 'utf8' });
    expect(words('backup', backup, '--management-url', served.management).status).toBe(0);
    await served.end('SIGTERM');
    rmSync(home, { recursive: true });
    const other = join(folder, 'other');
    expect(words('restore', backup, '--data-dir', other).stdout).toContain('the files of 1 models');
    served = await ServedProcess.start(['--data-dir', other, '--no-defaults']);
    expect(await triple(served)).toBe(3);
    await served.end('SIGTERM');
  });

  it('keeps modules in Python, programs and losses over restarts, and goes back and forth between their versions', async () => {
    const sources = join(folder, 'kinds');
    mkdirSync(join(sources, 'program'), { recursive: true });
    writeFileSync(
      join(sources, 'three.py'),
      'from lib import three\npredict_one = three\ninput_type = "doubles"\n',
    );
    writeFileSync(join(sources, 'lib.py'), 'def three(x):\n    return 3 * x[0]\n');
    writeFileSync(
      join(sources, 'three.mjs'),
      "export default { inputType: 'doubles', predictOne: (x) => 3 * x[0] };",
    );
    writeFileSync(join(sources, 'program/three.sh'), PROGRAM);
    const args = ['--data-dir', join(folder, 'kindsData'), '--no-defaults'];
    let served = await ServedProcess.start(args);
    await served.admin('add_app', { ...app('triple', 'doubles'), loss: { name: 'absolute', scale: 2 } });
    const words = ['--name', 'triple', '--app', 'triple', '--upload', '--version'];
    for (const [version, of] of Object.entries({
      js: ['three.mjs'],
      py: ['three.py', '--python', '/usr/bin/python3'],
      sh: ['program', '--command', 'sh three.sh'],
    })) {
      expect(deploy(served, sources, ...of, ...words, version).stderr).toBe('');
      expect(await triple(served)).toBe(3);
    }
    // Its command names nothing here.
    const none = ['program', '--command', `sh ${join(sources, 'program/three.sh')}`];
    expect(deploy(served, sources, ...none, ...words, 'none').stderr).toContain('there is nothing to send');
    rmSync(sources, { recursive: true });
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await served.end(signal);
      served = await ServedProcess.start(args);
      for (const version of ['py', 'js', 'sh']) {
        await served.admin('set_model_version', { model_name: 'triple', model_version: version });
        const answers = async () =>
          (
            (await served.admin('get_model', { model_name: 'triple', model_version: version })) as {
              is_serving_version: boolean;
            }
          ).is_serving_version;
        await expect.poll(answers, { timeout: 20_000 }).toBe(true);
        expect(await triple(served)).toBe(3);
      }
      expect(await served.admin('get_application', { name: 'triple' })).toMatchObject({
        loss: { name: 'absolute', scale: 2 },
      });
    }
    await served.end('SIGTERM');
  });

  it('tries them from a copy of what is sent: what would be missing there is told before the server hears of it', async () => {
    const sources = join(folder, 'apart');
    for (const place of ['models', 'node_modules/three'])
      mkdirSync(join(sources, place), { recursive: true });
    const write = (name: string, text: string) => writeFileSync(join(sources, name), text);
    write('above.py', 'def three(x):\n    return 3 * x[0]\n');
    write(
      'models/by_path.py',
      'import os, sys\nsys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))\n' +
        'from above import three\npredict_one = three\ninput_type = "doubles"\n',
    );
    write('models/broken.py', 'predict_one = 3 +\n');
    write('node_modules/three/index.cjs', 'module.exports = (x) => 3 * x[0];');
    write('node_modules/three/package.json', '{"name":"three","main":"index.cjs"}');
    write(
      'models/packaged.mjs',
      "import three from 'three';\nexport default { inputType: 'doubles', predictOne: three };",
    );
    write('models/run.sh', '. ./lib.sh\n');
    write('models/lib.sh', PROGRAM);
    const served = await ServedProcess.start(['--data-dir', join(folder, 'apartData'), '--no-defaults']);
    await served.admin('add_app', app('triple', 'doubles'));
    const python = ['--python', '/usr/bin/python3'];
    const words = (version: string) => ['--name', 'triple', '--app', 'triple', '--version', version];
    const by = (version: string, ...more: readonly string[]) =>
      deploy(served, sources, 'models/by_path.py', ...python, ...words(version), ...more);

    const refused = by('1', '--upload');
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("No module named 'above'");
    expect(refused.stderr).toContain('takes along what it imports from its own folder');
    expect(refused.stderr).not.toContain('windjammer-copy-');
    expect(await served.admin('get_all_models', {})).toEqual([]);
    // The server sees the same folder: it may stay there.
    const warned = by('1');
    expect(warned.status).toBe(0);
    expect(warned.stderr).toMatch(/^Warning: .*by_path\.py does not start from the files alone/);
    expect(await triple(served)).toBe(3);

    const broken = deploy(served, sources, 'models/broken.py', ...python, ...words('2'), '--upload');
    expect(broken.stderr).toContain(join(sources, 'models/broken.py'));
    expect(broken.stderr).toContain('SyntaxError');
    // Packages are the server's to have.
    expect(deploy(served, sources, 'models/packaged.mjs', ...words('3')).stderr).toBe('');
    expect(await triple(served)).toBe(3);
    const program = ['models', '--command', 'sh run.sh', ...words('4'), '--upload'];
    expect(deploy(served, sources, ...program).stderr).toContain('name what is missing there, too');
    program[2] = 'sh run.sh lib.sh';
    expect(deploy(served, sources, ...program).status).toBe(0);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('windjammer-copy-'))).toEqual([]);
    await served.end('SIGTERM');
  });

  it.runIf(mayMount)('finds out by itself that it must send them', async () => {
    const sources = sourcesAt(join(folder, 'hidden'));
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    // The server sees an empty folder there, as one on another machine would see none.
    const words = [commandFile(), 'serve', '--port', '0', '--management-port', '0', '--data-dir', 'data'];
    const child = spawn(
      'unshare',
      ['--mount', 'sh', '-c', 'mount -t tmpfs none "$0" && exec "$@"', sources, process.execPath, ...words],
      { cwd: elsewhere, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C');
    const [, query, management] = /serves on (\S+), management on (\S+), /.exec(output) ?? [];
    const served = Object.assign(Object.create(ServedProcess.prototype) as ServedProcess, {});
    Object.defineProperties(served, { query: { value: query }, management: { value: management } });
    await served.admin('add_app', app('triple', 'doubles'));
    const module = ['models/own/triple.mjs', '--name', 'triple', '--version', '1', '--app', 'triple'];
    const done = deploy(served, sources, ...module);
    expect(done.stderr).toBe('');
    expect(await triple(served)).toBe(3);
    // A kernel model; its folder in the package is there for both, and is not sent.
    await served.admin('add_app', app('svm', 'floats'));
    const kernel = (version: string, ...more: readonly string[]) =>
      deploy(
        served,
        sources,
        ...[
          join(packageRoot(), builtInModelPath('digits-linear-svm')),
          '--name',
          'svm',
          '--version',
          version,
          '--app',
          'svm',
          ...more,
        ],
      );
    expect(kernel('1').stderr).toBe('');
    const sent = () =>
      readdirSync(join(elsewhere, 'data/uploads')).filter((name) => name.endsWith('.json')).length;
    expect(sent()).toBe(1);
    expect(kernel('2', '--upload').stderr).toBe('');
    expect(sent()).toBe(2);
    const { json } = await served.post(`${served.query}/svm/predict`, { input: new Array(784).fill(0.5) });
    expect(json).toMatchObject({ default: false });
    // What cannot be sent is told with what could be.
    const nothing = deploy(
      served,
      sources,
      ...[
        'models',
        '--command',
        'echo \'{"ready": true}\'; cat > /dev/null',
        '--name',
        'quiet',
        '--version',
        '1',
      ],
      ...['--input-type', 'doubles'],
    );
    expect(nothing.status).toBe(1);
    expect(nothing.stderr).toContain(`the server cannot use ${join(sources, 'models')}`);
    expect(nothing.stderr).toContain('--upload');
    writeFileSync(join(sources, 'above.py'), 'def three(x):\n    return 3 * x[0]\n');
    writeFileSync(
      join(sources, 'models/by_path.py'),
      'import os, sys\nsys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))\n' +
        'from above import three as predict_one\ninput_type = "doubles"\n',
    );
    const bound = deploy(served, sources, 'models/by_path.py', '--name', 'bound', '--version', '1');
    expect(bound.status).toBe(1);
    expect(bound.stderr).toContain('the server has other files');
    expect(bound.stderr).toContain("No module named 'above'");
    // What a package says of a module stays here.
    mkdirSync(join(sources, 'package'));
    writeFileSync(join(sources, 'package/package.json'), '{"type":"module"}');
    writeFileSync(
      join(sources, 'package/m.js'),
      "export default { inputType: 'doubles', predictOne: () => 1 };",
    );
    const typed = deploy(served, sources, 'package/m.js', '--name', 'typed', '--version', '1');
    expect(typed.status).toBe(1);
    expect(typed.stderr).toContain('call it .mjs');
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  it('goes on where the server was killed amid a bundle', async () => {
    const sources = sourcesAt(join(folder, 'again'));
    const args = ['--data-dir', join(folder, 'killed'), '--no-defaults'];
    let served = await ServedProcess.start(args);
    const uploads = join(folder, 'killed/uploads');
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('{"files":[{"name":"m.mjs","size":100}]}\nhalf')),
    });
    const hash = 'a'.repeat(64);
    const sending = fetch(`${served.management}/admin/add_bundle?content_hash=${hash}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body,
      duplex: 'half',
    }).catch(() => undefined);
    const unfinished = () => {
      try {
        return readdirSync(uploads).filter((name) => name.startsWith('.new-')).length;
      } catch {
        return 0;
      }
    };
    await expect.poll(unfinished, { timeout: 10_000 }).toBe(1);
    await served.end('SIGKILL');
    await sending;
    served = await ServedProcess.start(args);
    expect(unfinished()).toBe(0);
    await served.admin('add_app', app('triple', 'doubles'));
    expect(deploy(served, sources, ...TRIPLE, '--app', 'triple').stderr).toBe('');
    expect(await triple(served)).toBe(3);
    await served.end('SIGTERM');
  });

  it.runIf(mayMount)(
    'is told that the disk of the server is full, and costs nobody else anything',
    async () => {
      const disk = mkdtempSync(join(tmpdir(), 'windjammer-upload-disk-'));
      expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=80m', 'tmpfs', disk]).status).toBe(0);
      try {
        const sources = sourcesAt(join(folder, 'full'));
        const served = await ServedProcess.start(['--data-dir', join(disk, 'data'), '--no-defaults']);
        const hog = openSync(join(disk, 'hog'), 'w');
        for (let at = 0; at < 40; at++) writeSync(hog, Buffer.alloc(1 << 20));
        closeSync(hog);
        const refused = deploy(served, sources, ...TRIPLE);
        expect(refused.status).toBe(1);
        expect(refused.stderr).toMatch(/\d+ MiB are free, and the bundle needs \d+ MiB/);
        await served.admin('add_app', app('triple', 'doubles'));
        rmSync(join(disk, 'hog'));
        expect(deploy(served, sources, ...TRIPLE, '--app', 'triple').stderr).toBe('');
        expect(await triple(served)).toBe(3);
        await served.end('SIGTERM');
      } finally {
        spawnSync('umount', [disk]);
        rmSync(disk, { recursive: true, force: true });
      }
    },
  );

  it('brings them to the nodes of a cluster, and to servers that share a store', async () => {
    const redis = await RedisServer.start();
    const node = await NodeProcess.start('n1', ['--join', redis.url, '--data-dir', join(folder, 'n1')]);
    const words = ['models/own/triple.mjs', '--name', 'triple', '--app', 'triple', '--upload', '--version'];
    const shared = (name: string, prefix: string, ...more: readonly string[]) =>
      ServedProcess.start([
        ...['--store', redis.url, '--redis-prefix', prefix, '--no-defaults', ...more],
        ...['--data-dir', join(folder, name)],
      ]);
    const asked = (served: ServedProcess) => expect.poll(() => triple(served), { timeout: 30_000 }).toBe(3);
    const sources = sourcesAt(join(folder, 'shared'));
    const running: ServedProcess[] = [];
    try {
      for (const [prefix, more] of [
        ['windjammer', ['--only-nodes']],
        ['alone', []],
      ] as const) {
        const first = await shared(`${prefix}-a`, prefix, ...more);
        const second = await shared(`${prefix}-b`, prefix, ...more);
        running.push(first, second);
        await first.admin('add_app', app('triple', 'doubles'));
        expect(deploy(first, sources, ...words, '1').stderr).toBe('');
        rmSync(join(folder, `${prefix}-a/uploads`), { recursive: true, force: true });
        await asked(first);
        await asked(second);
      }
    } finally {
      for (const served of running) await served.end('SIGKILL');
      await node.end('SIGKILL');
      await redis.stop();
    }
  });
});
