import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { commandFile } from '../cli/index.js';
import { pidsOf } from './modelProcesses.js';
import { ServedProcess } from './servedProcess.js';

interface Prediction {
  readonly output: unknown;
  readonly default: boolean;
  readonly default_explanation?: string;
}

function ran(...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: packageRoot() }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${args.join(' ')}: ${stdout}${stderr}`));
    });
  });
}

describe('the model in TypeScript of the documentation', () => {
  let folder: string;
  let module: string;
  let served: ServedProcess;
  beforeAll(async () => {
    // A project of its own, with the package as a dependency.
    folder = mkdtempSync(join(tmpdir(), 'windjammer-spam-'));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageRoot(), join(folder, 'node_modules/windjammer'));
    copyFileSync(join(packageRoot(), 'docs/examples/spam/spam.mts'), join(folder, 'spam.mts'));
    module = join(folder, 'spam.mjs');
    const tsc = join(packageRoot(), 'node_modules/typescript/bin/tsc');
    await ran(tsc, '--module', 'nodenext', '--target', 'es2022', '--strict', join(folder, 'spam.mts'));
    served = await ServedProcess.start(['--ephemeral']);
    await served.admin('add_app', {
      name: 'mail',
      input_type: 'strings',
      default_output: 'unknown',
      latency_slo_micros: 5_000_000,
    });
    const cli = commandFile();
    const where = ['--management-url', served.management];
    const said = await ran(
      cli,
      'deploy',
      module,
      '--name',
      'spam',
      '--version',
      '1',
      '--app',
      'mail',
      ...where,
    );
    expect(said).toBe('spam 1 is up and current, linked to mail.\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function predict(input: string): Promise<Prediction> {
    const { json } = await served.post(`${served.query}/mail/predict`, { input });
    return json as Prediction;
  }

  it('is what the page shows', () => {
    const page = readFileSync(join(packageRoot(), 'docs/guides/models.md'), 'utf8');
    expect(page).toContain(readFileSync(join(folder, 'spam.mts'), 'utf8'));
  });

  it('answers through REST', async () => {
    expect(await predict('Winner! Click for a free prize')).toMatchObject({ output: 'spam', default: false });
    expect(await predict('Thanks for the meeting')).toMatchObject({ output: 'ham', default: false });
  });

  it('refuses a module that is not there at registration', async () => {
    const { status, text } = await served.post(`${served.management}/admin/add_model`, {
      model_name: 'other',
      model_version: '1',
      input_type: 'strings',
      container_name: 'windjammer/process',
      model_data_path: '/nowhere.js',
    });
    expect(status).toBe(400);
    expect(text).toContain('invalid_model');
  });

  it('loses no query when its process is killed under load, and comes back', async () => {
    const [pid] = pidsOf(module);
    const answers: Promise<Prediction>[] = [];
    for (let round = 0; round < 40; round++) {
      for (let one = 0; one < 10; one++) answers.push(predict(`free prize ${round} ${one}`));
      if (round === 10) process.kill(pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const answer of await Promise.all(answers)) {
      if (answer.default) expect(answer.default_explanation).toMatch(/./);
      else expect(answer.output).toBe('spam');
    }
    await expect
      .poll(async () => predict(`winner ${performance.now()}`), { timeout: 20_000 })
      .toMatchObject({ default: false, output: 'spam' });
    const containers = await served.admin('get_all_containers', { verbose: true });
    expect(JSON.stringify(containers)).toContain('its process ended with signal SIGKILL');
  });

  it('leaves no process behind when the server is killed', async () => {
    // One, and after a loss one more that tries what may have caused it.
    expect(pidsOf(module)).not.toEqual([]);
    await served.end('SIGKILL');
    await expect.poll(() => pidsOf(module), { timeout: 10_000 }).toEqual([]);
  });
});
