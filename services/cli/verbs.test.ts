import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { builtInModelPath } from '../../containers/models/index.js';
import type { EmbeddedServer } from '../main.js';
import { startEmbedded } from '../tests/embeddedServer.js';
import { failureText } from './commandError.js';
import { windjammerProgram } from './program.js';

describe('windjammer', () => {
  let server: EmbeddedServer;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-verbs-'));
    server = await startEmbedded();
  });
  afterAll(async () => {
    await server.stop({ noticeMs: 0, graceMs: 1000 });
    rmSync(folder, { recursive: true });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Runs a command line; what it printed, or the line that it fails with. */
  async function run(...args: readonly string[]): Promise<string> {
    let output = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      output += String(chunk);
      return true;
    });
    const queryUrl = `http://127.0.0.1:${server.queryAddress.port}`;
    const managementUrl = `http://127.0.0.1:${server.managementAddress.port}`;
    const queries = ['predict', 'feedback'].includes(args[0]);
    try {
      const address = queries ? ['--url', queryUrl] : ['--management-url', managementUrl];
      await (await windjammerProgram(args)).parseAsync([...args, ...address], { from: 'user' });
    } catch (thrown) {
      return `FAILED ${failureText(thrown)}`;
    } finally {
      vi.restoreAllMocks();
    }
    return output;
  }

  async function runJson(...args: readonly string[]): Promise<unknown> {
    return JSON.parse(await run(...args, '--json')) as unknown;
  }

  /** Until every replica is up and no other is left. */
  async function allUp(): Promise<void> {
    while (server.replicas().some(({ state }) => state !== 'up'))
      await new Promise((next) => setTimeout(next, 5));
  }

  it('asks strictly, urgently and in a hurry', async () => {
    await run('app', 'add', 'severe', '--input-type', 'doubles', '--default-output', '-', '--strict');
    expect(await run('app', 'show', 'severe')).toMatch(/^strict +yes$/m);
    expect(await run('predict', 'severe', '--input', '[1]')).toMatch(/^FAILED .*No model is linked/);
    const hurry = ['--priority', '1', '--deadline-ms', '500', '--timeout-ms', '20000'];
    expect(await runJson('predict', 'severe', '--input', '[1]', '--no-strict', ...hurry)).toMatchObject({
      default_reason: 'no_linked_model',
    });
    await run('app', 'add', 'mild', '--input-type', 'doubles', '--default-output', '-');
    expect(await run('predict', 'mild', '--input', '[1]', '--strict')).toMatch(
      /^FAILED .*No model is linked/,
    );
    for (const name of ['severe', 'mild']) await run('app', 'delete', name);
  });

  it('gives models and queries a launch class, with what the server says of it', async () => {
    const app = ['--input-type', 'doubles', '--default-output', '-', '--launch-class', 'bestEffort'];
    await run('app', 'add', 'patient', ...app);
    const asked = ['predict', 'patient', '--input', '[1]', '--launch-class'];
    expect(await runJson(...asked, 'bestEffort')).toMatchObject({ default_reason: 'no_linked_model' });
    expect(await run(...asked, 'critical')).toMatch(
      /^FAILED .*launch_class 'critical' is above 'bestEffort'/,
    );
    await run('app', 'delete', 'patient');
    const folder = builtInModelPath('digits-linear-svm');
    const kernel = ['--version', '1', '--input-type', 'floats', '--path', folder];
    const container = ['--container', 'windjammer/kernel-model', '--launch-class', 'critical'];
    await run('model', 'add', 'urgent', ...kernel, ...container);
    expect(await run('model', 'show', 'urgent', '1')).toMatch(/^launch class +critical$/m);
    const constant = ['--version', '1', '--input-type', 'doubles', '--container', 'windjammer/constant'];
    expect(
      await run('model', 'add', 'fixed', ...constant, '--output', '1', '--launch-class', 'standard'),
    ).toMatch(/^FAILED .*launch_class is for container_name windjammer\/kernel-model only/);
    await allUp();
    const deployed = ['deploy', folder, '--name', 'urgent', '--version', '2', '--launch-class', 'bestEffort'];
    expect(await run(...deployed)).toBe('urgent 2 is up and current.\n');
    expect(await runJson('model', 'show', 'urgent', '2')).toMatchObject({ launch_class: 'bestEffort' });
    for (const version of ['1', '2']) await run('model', 'delete', 'urgent', version);
  });

  it('registers, shows, links, learns and deletes', async () => {
    const constant = ['--input-type', 'doubles', '--container', 'windjammer/constant'];
    expect(
      await run('app', 'add', 'pair', '--input-type', 'doubles', '--default-output', '-', '--policy', 'exp3'),
    ).toBe("Success! Application 'pair' is registered.\n");
    for (const output of ['1', '2']) {
      await run('model', 'add', `m${output}`, '--version', '1', ...constant, '--output', output);
    }
    expect(await runJson('model', 'add', 'm1', '--version', '2', ...constant, '--output', '3')).toEqual({
      // Whether it is up by now is the clock's affair.
      message: expect.stringMatching(/^Success! Model 'm1' version '2' is registered\./) as string,
    });
    await allUp();
    expect(await run('link', 'add', 'pair', 'm1', 'm2')).toMatch(/^Success!/);
    expect(await run('link', 'list', 'pair')).toBe('MODEL\nm1\nm2\n');
    expect(await run('model', 'set-version', 'm1', '1')).toBe("Success! Model 'm1' is at version '1'.\n");
    expect(await run('model', 'list')).toBe(
      'MODEL  VERSION      INPUT    CONTAINER            REPLICAS UP\n' +
        'm1     1 (current)  doubles  windjammer/constant  1 of 1\n' +
        'm1     2            doubles  windjammer/constant  1 of 1\n' +
        'm2     1 (current)  doubles  windjammer/constant  1 of 1\n',
    );
    expect(await run('app', 'list')).toBe(
      'NAME  INPUT    OBJECTIVE  POLICY  DEFAULT  MODELS\npair  doubles  100 ms     exp3    -        m1, m2\n',
    );
    expect(await run('model', 'show', 'm1', '1')).toMatch(/^output +1$/m);
    expect(await run('model', 'replicas', 'm2')).toMatch(/^m2 +1 +0 +up +0$/m);
    expect(await runJson('model', 'replicas', 'm2')).toMatchObject([{ model_name: 'm2', state: 'up' }]);

    for (let i = 0; i < 20; i++) {
      const { query_id: id } = (await runJson('predict', 'pair', '--input', `[${i}]`)) as {
        query_id: string;
      };
      expect(await run('feedback', 'pair', '--query-id', id, '--label', '2')).toBe(
        'Learned from the models that the query asked; it is on disk.\n',
      );
    }
    const { shares } = (await runJson('app', 'show', 'pair')) as { shares: Record<string, number> };
    expect(shares.m2).toBeGreaterThan(shares.m1);
    expect(await run('app', 'show', 'pair')).toMatch(/^model m2 +\d+\.\d % of the queries$/m);
    const file = join(folder, 'request.json');
    writeFileSync(file, '{"input":[1,2]}');
    const learned = await runJson('feedback', 'pair', '--file', file, '--label', '2', '--loss', '0.5');
    expect(learned).toMatchObject({ durable: true });

    const keyed = ['feedback', 'pair', '--file', file, '--label', '2', '--idempotency-key', 'mine'];
    expect(await runJson(...keyed)).toMatchObject({ durable: true });
    expect(await run(...keyed)).toBe('It had been judged before: nothing changed.\n');
    expect(await run('state', 'pin', 'pair')).toBe(
      "Success! The state of 'pair' is pinned: it learns nothing.\n",
    );
    expect(await run('feedback', 'pair', '--file', file, '--label', '2')).toBe(
      'The state is pinned: nothing was learned.\n',
    );
    expect(await run('state', 'unpin', 'pair')).toBe("Success! The state of 'pair' learns.\n");
    expect(await run('state', 'reset', 'pair')).toMatch(/is as before any feedback\.$/m);
    const afresh = (await runJson('app', 'show', 'pair')) as { shares: Record<string, number> };
    expect(afresh.shares).toEqual({ m1: 0.5, m2: 0.5 });
    expect(await run('state', 'export', 'pair')).toMatch(
      /^exp3, version \d+\n[^]*EARLIER VERSION +UNTIL\n\d+/,
    );
    expect(await run('state', 'rollback', 'pair')).toMatch(/is taken back to version \d+\.$/m);
    expect(((await runJson('app', 'show', 'pair')) as typeof afresh).shares.m2).toBeGreaterThan(0.5);
    expect(await run('state', 'export', 'pair', '--context', 'nobody')).toMatch(/^exp3, version 0\n/);
    expect(await run('queue', 'list')).toBe('This server has no queue: it learns from feedback at once.\n');

    expect(await run('link', 'delete', 'pair', 'm1')).toMatch(/^Success!/);
    expect(await runJson('link', 'list', 'pair')).toEqual(['m2']);
    expect(await run('model', 'delete', 'm1', '2')).toMatch(/^Success!/);
    expect(await run('app', 'delete', 'pair')).toBe("Success! Application 'pair' is deleted.\n");
    expect(await runJson('app', 'list')).toEqual([]);
  });

  it('asks and judges with features', async () => {
    const constant = ['--input-type', 'doubles', '--container', 'windjammer/constant'];
    const choice = ['--policy', 'linucb', '--policy-parameters', '{"features":["hour"]}'];
    await run('app', 'add', 'day', '--input-type', 'doubles', '--default-output', '-', ...choice);
    await run('model', 'add', 'm4', '--version', '1', ...constant, '--output', '4');
    await allUp();
    await run('link', 'add', 'day', 'm4');
    const input = ['day', '--input', '[1]'];
    expect(await runJson('predict', ...input, '--feature', 'hour=14')).toMatchObject({ output: 4 });
    expect(await run('feedback', ...input, '--label', '4', '--feature', 'hour=-2')).toMatch(/^Learned from/);
    const { state } = (await runJson('state', 'export', 'day')) as { state: { factors: number[][] } };
    // The number that came, beside the constant: sqrt(1 + 4 - (1 * -2)² / 2).
    expect(state.factors[0][2]).toBeCloseTo(Math.sqrt(3), 12);
    await run('app', 'delete', 'day');
    await run('model', 'delete', 'm4', '1');
  });

  it.each<[string, string[], RegExp]>([
    ['an unknown application', ['app', 'show', 'nobody'], /^404 unknown_application: .*nobody/],
    ['an unknown model', ['model', 'show', 'nobody', '1'], /^404 unknown_model: /],
    ['an unknown link', ['link', 'list', 'nobody'], /^404 unknown_application: /],
    ['a state of nobody', ['state', 'export', 'nobody'], /^404 unknown_application: /],
    ['an earlier state of nobody', ['state', 'rollback', 'nobody'], /^404 unknown_application: /],
    ['feedback that nobody queued', ['queue', 'show', 'x'], /^404 unknown_feedback: .*no queue/],
    ['neither an id nor all', ['queue', 'drop'], /give an id, or --all/],
    [
      'policy parameters that are no JSON',
      [...APP, '--policy-parameters', '{'],
      /^--policy-parameters is not JSON/,
    ],
    ['an unknown policy', [...APP, '--policy', 'guess'], /^400 invalid_policy: /],
    [
      'feedback on nothing',
      ['feedback', 'x', '--label', '1'],
      /^give one of --query-id, --input and --file$/,
    ],
    [
      'feedback on two things',
      ['feedback', 'x', '--label', '1', '--input', '[1]', '--query-id', 'q'],
      /^give one of --query-id, --input and --file$/,
    ],
    [
      'a loss of 2',
      ['feedback', 'x', '--label', '1', '--input', '[1]', '--loss', '2'],
      /^--loss must be a number from 0 to 1, not "2"$/,
    ],
    [
      'a loss of nothing',
      ['feedback', 'x', '--label', '1', '--input', '[1]', '--loss', ''],
      /^--loss must be a number from 0 to 1, not ""$/,
    ],
    [
      'no server',
      ['app', 'list', '--management-url', 'http://127.0.0.1:1'],
      /; start one with: windjammer serve$/,
    ],
    ['an address that is none', ['app', 'list', '--management-url', 'nonsense'], /^"nonsense" is no address/],
    ['a folder that is no model', ['deploy', '/tmp', '--name', 'x', '--version', '1'], /manifest\.json/],
    [
      'a deployment to nobody',
      ['deploy', builtInModelPath('digits-logistic'), '--name', 'x', '--version', '1', '--app', 'nobody'],
      /^404 unknown_application: /,
    ],
  ])('fails in one line on %s', async (_what, args, message) => {
    // The addresses of this test's server come first where the case gives its own.
    const own = args.includes('--management-url');
    const text = own ? await failure(args) : await run(...args);
    expect(text).toMatch(/^FAILED /);
    const line = text.slice('FAILED '.length);
    expect(line).toMatch(message);
    expect(line).not.toContain('\n');
    expect(await runJson('model', 'list')).not.toContainEqual(expect.objectContaining({ model_name: 'x' }));
  });

  async function failure(args: readonly string[]): Promise<string> {
    try {
      await (await windjammerProgram(args)).parseAsync(args, { from: 'user' });
    } catch (thrown) {
      return `FAILED ${failureText(thrown)}`;
    }
    return 'it did not fail';
  }

  it('scales a version, to a number or by load', async () => {
    const version = ['--version', '1', '--input-type', 'doubles', '--container', 'windjammer/constant'];
    await run('model', 'add', 'scaled', ...version, '--output', '1', '--replicas', '2', '--no-warm-up');
    await allUp();
    expect(await run('model', 'show', 'scaled', '1')).toMatch(/replicas up  2 of 2\nwarm-up +none\n$/);
    expect(await run('model', 'scale', 'scaled', '1', '1')).toBe(
      "Success! Model 'scaled' version '1' is to have 1 replica.\n",
    );
    await allUp();
    expect(await runJson('model', 'replicas', 'scaled')).toMatchObject([{ replica_id: 0, state: 'up' }]);
    expect(await run('model', 'scale', 'scaled', '1', '--min', '1', '--max', '3')).toMatch(
      /1 to 3 replicas, by load/,
    );
    expect(await run('model', 'show', 'scaled', '1')).toContain('1 of 1, by load 1 to 3');
    expect(await run('model', 'scale', 'scaled', '1')).toBe(
      'FAILED say how many: a number of replicas, or --min and --max',
    );
    expect(await run('model', 'scale', 'scaled', '1', '--max', '2')).toBe(
      'FAILED --max needs --min beside it: the load decides between both',
    );
    expect(await run('events', '--model', 'scaled')).toMatch(
      / add_model .* current_version: none → "1"\n.* set_num_replicas .* replicas: 2 → 1\n.* set_num_replicas .* range: none → {"minimum":1,"maximum":3}\n$/,
    );
    expect(await run('model', 'scale', 'scaled', '1', '--min', '3', '--max', '2')).toMatch(
      /^FAILED .*max_replicas must be min_replicas \(3\) or more, 2 came/,
    );
    await run('model', 'delete', 'scaled', '1');
  });

  it('deploys a model folder and a second version of it, and answers with it', async () => {
    const path = join(folder, 'model');
    cpSync(builtInModelPath('digits-logistic'), path, { recursive: true });
    await run(
      'app',
      'add',
      'digits',
      '--input-type',
      'floats',
      '--default-output',
      '-1',
      '--slo-micros',
      '60000000',
    );
    const args = ['deploy', path, '--name', 'mine', '--app', 'digits', '--version'];
    expect(await run(...args, '1')).toBe('mine 1 is up and current, linked to digits.\n');
    expect(await runJson(...args, '2')).toEqual({
      model_name: 'mine',
      model_version: '2',
      replica: 'up',
      app_name: 'digits',
      linked: false,
      warnings: [],
    });
    const sample = new URL('../../containers/models/samples/digit.json', import.meta.url).pathname;
    const answer = await runJson('predict', 'digits', '--file', sample);
    expect(answer).toMatchObject({ default: false, models: [{ name: 'mine', version: '2' }] });
    expect(await run(...args, '2')).toMatch(/^FAILED 409 model_exists: .* another version$/);
  });

  it('names a path at which there is nothing, and looks for no manifest in it', async () => {
    const nowhere = join(folder, 'nowhere.mjs');
    expect(await run('deploy', nowhere, '--name', 'n', '--version', '1')).toBe(
      `FAILED there is no file and no folder ${nowhere}`,
    );
    const program = await windjammerProgram(['test']);
    await expect(program.parseAsync(['test', nowhere], { from: 'user' })).rejects.toThrow(
      `there is no folder ${nowhere}`,
    );
  });

  it('says why a deployed model does not start', async () => {
    const path = join(folder, 'once.mjs');
    writeFileSync(
      path,
      `import { existsSync, writeFileSync } from 'node:fs';
       const marker = ${JSON.stringify(join(folder, 'tried'))};
       if (existsSync(marker)) throw new Error('only once');
       writeFileSync(marker, '');
       export default { inputType: 'doubles', predictOne: () => 1 };`,
    );
    const text = await run('deploy', path, '--name', 'broken', '--version', '1');
    expect(text).toMatch(
      /^FAILED broken 1 is registered and does not start: .*; remove it with: windjammer model delete broken 1$/,
    );
    expect(text).not.toContain('\n');
  });

  it('registers no model that no GPU can hold', async () => {
    const path = join(folder, 'huge');
    cpSync(builtInModelPath('digits-logistic'), path, { recursive: true });
    // In order as a folder, and larger than any device.
    const manifest = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as {
      buffers?: object[];
      limits: { deviceBytes: number };
    };
    const huge = { name: 'huge', element: 'f32', shape: [1_000_000, 1_000_000] };
    manifest.limits.deviceBytes = 1e13;
    manifest.buffers = [...(manifest.buffers ?? []), huge];
    writeFileSync(join(path, 'manifest.json'), JSON.stringify(manifest));
    const text = await run('deploy', path, '--name', 'huge', '--version', '1');
    expect(text).toMatch(/^FAILED 400 invalid_model: .*buffers 'huge': .* h200 has 143155 MiB$/);
  });
});

const APP = ['app', 'add', 'y', '--input-type', 'doubles', '--default-output', '-'];
