import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fileText } from '../policyFiles/tests/fileText.js';
import { ServedProcess } from './servedProcess.js';
import { windjammer } from './windjammerCommand.js';

const WAIT = { timeout: 60_000, interval: 50 };
const SLOW_WAIT = { timeout: 60_000, interval: 500 };
/** What others may wait while a policy misbehaves: moments. The watchdog takes a second, which would show. */
const MOMENT_MS = 900;
const SECONDS = 60_000;

/** A file that does what the query's context says, and otherwise asks the last model. */
const EVIL = fileText({
  select: `switch (query.context) {
      case 'loop': for (;;);
      case 'microtasks': { const again = () => Promise.resolve().then(again); again(); break; }
      case 'throw': throw new Error('on purpose');
      case 'stranger': return { arms: ['nobody'], propensity: 1 };
      case 'nan': return { arms: [state.arms[0]], propensity: NaN };
      case 'async': return Promise.resolve({ arms: [state.arms[0]], propensity: 1 });
      case 'mutate': state.arms.length = 0; break;
      case 'pollute': Object.prototype.arms = ['nobody']; break;
      case 'globals': globalThis.JSON = null; globalThis.Object = null; globalThis.console = null; break;
      case 'exit': process.exit(0);
      case 'heap': { const kept = []; for (;;) kept.push({ kept: [kept.length] }); }
      case 'buffers': { const kept = []; for (;;) kept.push(new Uint8Array(1 << 26).fill(1)); }
      case 'print': for (let at = 0; at < 100000; at++) console.log('again and again', at); break;
      case 'lost': Promise.reject({ [Symbol.for('nodejs.util.inspect.custom')](_, __, inspect) { inspect.constructor('return process')().exit(0); } }); break;
      case 'slow': for (let at = 0; at < 3e8; at++) Math.sqrt(at); break;
    }`,
});

describe('a policy of the user’s own', () => {
  let served: ServedProcess;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-policy-'));
    served = await ServedProcess.start(['--data-dir', join(folder, 'data')]);
    for (const model of ['first', 'last'])
      await served.admin('add_model', {
        model_name: model,
        model_version: '1',
        input_type: 'doubles',
        labels: [],
        container_name: 'windjammer/constant',
        model_data_path: '',
        output: `"${model}"`,
        batch_size: -1,
      });
    await addApplication('plain', { policy: { name: 'static', parameters: {} } });
    await addApplication('own', { ...own(EVIL), latency_slo_micros: 200_000 });
    await follows('own');
  }, SECONDS);
  afterAll(async () => {
    await served.end('SIGTERM');
    rmSync(folder, { recursive: true });
  });

  function own(content: string): object {
    return { policy: { name: 'file', parameters: {} }, policy_file: { name: 'own.mjs', content } };
  }

  async function addApplication(name: string, more: object): Promise<void> {
    await served.admin('add_app', {
      name,
      input_type: 'doubles',
      default_output: '"default"',
      latency_slo_micros: 1_000_000,
      ...more,
    });
    await served.admin('add_model_links', { app_name: name, model_names: ['first', 'last'] });
  }

  async function ask(application: string, context = ''): Promise<{ output: unknown; queryId: string }> {
    const body = { input: [1], ...(context === '' ? {} : { context }) };
    const { json, text } = await served.post(`${served.query}/${application}/predict`, body);
    expect(text).not.toMatch(/"error"/);
    const { output, query_id: queryId } = json as { output: unknown; query_id: string };
    return { output, queryId };
  }

  /** Waits until the policy is followed. */
  async function follows(application: string): Promise<void> {
    await vi.waitFor(async () => expect((await ask(application)).output).toBe('last'), WAIT);
  }

  async function metric(line: RegExp): Promise<number> {
    const text = await (await fetch(`${served.query}/metrics`)).text();
    return Number(line.exec(text)?.[1] ?? 0);
  }

  /** Faults of these kinds, with bars between, that were counted. */
  async function faults(kinds: string): Promise<number> {
    const text = await (await fetch(`${served.query}/metrics`)).text();
    const line = new RegExp(
      `windjammer_policy_file_faults_total\\{application="own",kind="(?:${kinds})"\\} (\\d+)`,
      'g',
    );
    return [...text.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** The longest that a query of another application takes until `done`. */
  async function longestMeanwhile(done: Promise<unknown>): Promise<number> {
    let isDone = false;
    const ended = done.finally(() => (isDone = true));
    let longestMs = 0;
    while (!isDone) {
      const startMs = performance.now();
      expect((await ask('plain')).output).toBe('first');
      longestMs = Math.max(longestMs, performance.now() - startMs);
    }
    await ended;
    return longestMs;
  }

  it.each<[string, string]>([
    ['throw', 'threw'],
    ['stranger', 'bad_answer'],
    ['nan', 'bad_answer'],
    ['async', 'bad_answer'],
    ['mutate', 'threw'],
    ['pollute', 'threw'],
    ['exit', 'threw'],
    ['slow', 'late'],
    ['loop', 'stuck'],
    // Each of these takes memory: where that comes slowly, the watchdog is quicker than its limit.
    ['microtasks', 'ended|stuck'],
    ['heap', 'ended|stuck'],
    ['buffers', 'ended|stuck'],
  ])(
    'goes on with the first model where it does %s, says so, and is followed again',
    async (context, kinds) => {
      const before = await faults(kinds);
      const attack = async (): Promise<void> => {
        const { output } = await ask('own', context);
        // Microtasks run behind the answer of their turn.
        if (context !== 'microtasks') expect(output).toBe('first');
        await vi.waitFor(async () => {
          if ((await faults(kinds)) > before) return;
          // It may have been resting.
          await ask('own', context);
          throw new Error(`${context} is not counted as ${kinds}`);
        }, SLOW_WAIT);
        await follows('own');
      };
      expect(await longestMeanwhile(attack())).toBeLessThan(MOMENT_MS);
    },
    2 * SECONDS,
  );

  it.each(['globals', 'print', 'lost'])('is followed while it does %s', async (context) => {
    const restarts = () => metric(/windjammer_policy_file_restarts_total\{application="own"\} (\d+)/);
    const before = await restarts();
    const longestMs = await longestMeanwhile(ask('own', context));
    expect(longestMs).toBeLessThan(MOMENT_MS);
    await follows('own');
    expect(await restarts()).toBe(before);
    if (context === 'lost') expect(served.errors).toMatch(/a promise was rejected, and nobody heard/);
  });

  it('counts, logs, notes and shows in its readiness what failed', async () => {
    expect(await metric(/windjammer_policy_fallbacks_total\{application="own"\} (\d+)/)).toBeGreaterThan(5);
    expect(await metric(/windjammer_policy_file_restarts_total\{application="own"\} (\d+)/)).toBeGreaterThan(
      2,
    );
    expect(await metric(/windjammer_policy_file_up\{application="own"\} (\d+)/)).toBe(1);
    expect(served.errors).toMatch(/a policy from a file failed: queries go to the first model/);
    expect(served.errors).toMatch(/select did not return within 1 s/);
    const events = JSON.stringify(await served.admin('list_events', {}));
    expect(events).toMatch(/policy_failed/);
    await ask('own', 'throw');
    const ready = await (await fetch(`${served.query}/readyz`)).json();
    expect(ready).toMatchObject({
      status: 'ready',
      missing: [
        { what: 'policy', application: 'own', message: expect.stringMatching(/on purpose/) as string },
      ],
    });
  });

  it(
    'learns what it can, drops what it fails on, and loses nothing else to a loop',
    async () => {
      const content = fileText({
        select: `if (query.context === 'loop') for (;;);
        if (state.learned < 3) return { arms: [state.arms[0]], propensity: 1 };`,
        observe: `if (feedback.label === 'poison') throw new Error('not this one');
        if (feedback.label === 'loop') for (;;);`,
        more: 'isShared: true,',
      });
      await addApplication('learner', own(content));
      const feed = (label: string) => served.post(`${served.query}/learner/update`, { input: [1], label });
      const up = /windjammer_policy_file_up\{application="learner"\} (\d+)/;
      await vi.waitFor(async () => expect(await metric(up)).toBe(1), WAIT);
      expect((await ask('learner')).output).toBe('first');
      const labels = ['first', 'poison', 'last', 'loop', 'first'];
      for (const label of labels) {
        await vi.waitFor(async () => {
          const { status } = await feed(label);
          expect(status).toBe(200);
        }, WAIT);
      }
      await follows('learner');
      // It restarts, and what was learned is there.
      await ask('learner', 'loop');
      await follows('learner');
      await served.end('SIGTERM');
      served = await ServedProcess.start(['--data-dir', join(folder, 'data')]);
      await follows('learner');
      // The feedback that it loops on is not met again.
      expect(await metric(/windjammer_policy_file_restarts_total\{application="learner"\} (\d+)/)).toBe(0);
      await follows('own');
    },
    2 * SECONDS,
  );

  it(
    'has it combine and escalate, and goes on without it where that fails',
    async () => {
      const content = fileText({
        select: `if (query.context === 'cascade') return { arms: [state.arms[0]], propensity: 1 };
        return { arms: state.arms, propensity: 1 };`,
        more: `combine(state, asked, arrived, query) {
          if (query.context === 'throw') throw new Error('cannot');
          if (query.context === 'unsure') return { output: undefined, confidence: 0.1 };
          return { output: asked.map((one) => arrived.find(({ arm }) => arm === one)?.output).join(' and '), confidence: 0.5 };
        },
        escalate(state, asked, arrived, query) {
          return query.context === 'cascade' ? state.arms[asked.length] : undefined;
        },
        featureFault(state, features) {
          return 'hour' in features ? undefined : { name: Object.keys(features)[0], message: 'only hour is known' };
        },`,
      });
      await addApplication('several', own(content));
      const answered = async (context: string, more: object = {}): Promise<unknown> =>
        (await served.post(`${served.query}/several/predict`, { input: [1], context, ...more })).json;
      await vi.waitFor(
        async () =>
          expect(await answered('all')).toMatchObject({
            output: '"first" and "last"',
            confidence: 0.5,
            default: false,
          }),
        WAIT,
      );
      const both = [{ name: 'first' }, { name: 'last' }];
      expect(await answered('cascade')).toMatchObject({ output: '"first" and "last"', models: both });
      expect(await answered('throw')).toMatchObject({ output: 'first', default: false, models: both });
      expect(await answered('unsure')).toMatchObject({
        output: 'default',
        default: true,
        default_reason: 'low_confidence',
      });
      expect(await answered('all', { features: { hour: 3 } })).toMatchObject({
        output: '"first" and "last"',
      });
      expect(await answered('all', { features: { day: 3 } })).toMatchObject({
        error: { code: 'invalid_input', field: 'features.day', message: 'only hour is known' },
      });
    },
    SECONDS,
  );

  it(
    'is tried before it is taken',
    async () => {
      const refused = async (content: string, more: object = {}): Promise<string> =>
        (
          await served.post(`${served.management}/admin/add_app`, {
            name: 'refused',
            input_type: 'doubles',
            default_output: '0',
            latency_slo_micros: 1000,
            ...own(content),
            ...more,
          })
        ).text;
      expect(await refused('for (;;);')).toMatch(
        /invalid_policy.*did not come to an end within 5 s: it loops/,
      );
      expect(await refused('export default {')).toMatch(/own.mjs:1: /);
      expect(await refused(fileText({ observe: 'return Promise.resolve(state)' }))).toMatch(/is a promise/);
      expect(await refused('const kept = []; for (;;) kept.push(new Uint8Array(1 << 26).fill(1));')).toMatch(
        /256 are the most/,
      );
      expect(await refused(fileText({}), { loss: { name: 'mine' } })).toMatch(/there is no loss 'mine'/);
      expect(await refused(fileText({}), { policy_file: undefined })).toMatch(/send policy_file with it/);
      const other = { name: 'own.mjs', content: fileText({}), content_hash: 'f'.repeat(64) };
      expect(await refused(fileText({}), { policy_file: other })).toMatch(/was changed on its way/);
    },
    SECONDS,
  );

  it(
    'judges by a loss of the file',
    async () => {
      const content = `${fileText({ observe: 'return { ...state, learned: state.learned + (feedback.losses?.[selection.arms[0]] ?? 0) };' })}
      export const losses = { length: (output, label) => Math.min(1, Math.abs(output.length - label.length) / 10), none: () => NaN };`;
      await addApplication('judged', { ...own(content), loss: { name: 'length' } });
      await follows('judged');
      const { queryId } = await ask('judged');
      const { status } = await served.post(`${served.query}/judged/update`, {
        query_id: queryId,
        label: '12345',
      });
      expect(status).toBe(200);
      await served.admin('set_app', { name: 'judged', loss: { name: 'none' } });
      const again = await ask('judged');
      const { text } = await served.post(`${served.query}/judged/update`, {
        query_id: again.queryId,
        label: '1',
      });
      expect(text).toMatch(/unlearnable_feedback.*the loss 'none' of/);
    },
    SECONDS,
  );

  it(
    'goes on with a later file of the same policy, and begins anew only when told to',
    async () => {
      await addApplication('later', own(fileText({})));
      await follows('later');
      await served.post(`${served.query}/later/update`, { input: [1], label: '1' });
      const set = async (content: string, more: object = {}): Promise<string> =>
        (
          await served.post(`${served.management}/admin/set_app`, {
            name: 'later',
            policy_file: { name: 'later.mjs', content },
            ...more,
          })
        ).text;
      const first = fileText({ select: 'return { arms: [state.arms[0]], propensity: 1 };' });
      expect(await set(first)).toMatch(/^Success/);
      await vi.waitFor(async () => expect((await ask('later')).output).toBe('first'), WAIT);
      const renamed = fileText({}).replaceAll(`'own'`, `'another'`);
      expect(await set(renamed)).toMatch(/learned_state/);
      expect(await set(renamed, { forget_learned: true })).toMatch(/^Success/);
      await follows('later');
      expect(JSON.stringify(await served.admin('get_application', { name: 'later' }))).toMatch(
        /"policy":"another"/,
      );
    },
    SECONDS,
  );

  it(
    'travels from a shell',
    async () => {
      const file = join(folder, 'shell.mjs');
      writeFileSync(file, fileText({}));
      const address = ['--management-url', served.management];
      const added = await windjammer([
        'app',
        'add',
        'shell',
        '--input-type',
        'doubles',
        '--default-output',
        '0',
        '--policy-file',
        file,
        ...address,
      ]);
      expect(added.stderr).toBe('');
      const shown = await windjammer(['app', 'show', 'shell', ...address]);
      expect(shown.stdout).toMatch(/policy file +shell\.mjs \(own\)/);
    },
    SECONDS,
  );
});
