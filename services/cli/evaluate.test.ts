import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoggedFeedback, PolicyEvaluation } from '../../selection/index.js';
import { startEmbedded } from '../tests/embeddedServer.js';
import { runCommand } from './tests/runCommand.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-evaluate-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const LINE = { time_us: 1, application: 'app', policy: 'exp3', linked: ['a', 'b'], propensity: 0.5 };

function file(name: string, lines: readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join('\n'));
  return path;
}

/** 'a' errs on one of ten, 'b' on five. */
function evenLines(count: number): object[] {
  return Array.from({ length: count }, (_, at) => {
    const arm = at % 2 === 0 ? 'a' : 'b';
    return { ...LINE, losses: { [arm]: at % 20 < (arm === 'a' ? 2 : 10) ? 1 : 0 } };
  });
}

function evaluate(...args: readonly string[]) {
  return runCommand(['evaluate', ...args]);
}

describe('windjammer evaluate', () => {
  it('prints estimates with intervals, from several files', async () => {
    const [one, two] = [file('one.jsonl', evenLines(400)), file('two.jsonl', evenLines(400))];
    const asked = ['--log', one, '--log', two, '--policy', 'static', '--parameters', '{"model":"a"}'];
    const { status, stdout } = await evaluate(...asked);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^as it was served +0\.3000 +0\.2682 to 0\.3318$/m);
    for (const name of ['inverse propensity', 'clipped', 'self-normalised']) {
      expect(stdout).toMatch(new RegExp(`^${name} +0\\.1000 +0\\.0\\d+ to 0\\.1\\d+$`, 'm'));
    }
    expect(stdout).toMatch(/^doubly robust +0\.1\d+ +0\.\d+ to 0\.\d+$/m);
    expect(stdout).toContain("800 judged queries, worth 400 of 'static'\n");
    const learning = await evaluate('--log', one, '--policy', 'thompson', '--json');
    const found = JSON.parse(learning.stdout) as PolicyEvaluation;
    expect(found).toMatchObject({ application: 'app', kind: 'replay', judged: 400, unsupported: 0 });
    expect(found.estimates.replay?.mean).toBeLessThan(0.25);
  });

  it('judges a policy from a file as one of the server', async () => {
    const log = file('own.jsonl', evenLines(400));
    const example = 'docs/examples/policies/softmax.mjs';
    const { stdout } = await evaluate('--log', log, '--policy-file', example, '--json');
    const found = JSON.parse(stdout) as PolicyEvaluation;
    expect(found).toMatchObject({ policy: 'softmax', kind: 'replay', judged: 400, unsupported: 0 });
    expect(found.estimates.replay?.mean).toBeLessThan(0.25);
    const bad = await evaluate('--log', log, '--policy-file', example, '--parameters', '{"temperature":0}');
    expect(bad.stderr).toMatch(/temperature must be a number from 0\.001 to 10/);
    for (const both of [[], ['--policy', 'exp3', '--policy-file', example]])
      expect((await evaluate('--log', log, ...both)).stderr).toMatch(/give either --policy or --policy-file/);
  });

  it('takes a state as it is exported, which learns no more', async () => {
    const state = {
      policy: 'exp3',
      version: 3,
      state: {
        schema: 1,
        policy: 'exp3',
        eta: 0.05,
        gamma: 0.05,
        floor: 0.001,
        arms: ['a', 'b'],
        logWeights: [0, -5],
      },
    };
    const path = join(folder, 'state.json');
    writeFileSync(path, JSON.stringify(state));
    const log = file('state.jsonl', evenLines(400));
    const { stdout } = await evaluate('--log', log, '--policy', 'exp3', '--state', path, '--json');
    const { kind, estimates } = JSON.parse(stdout) as PolicyEvaluation;
    expect(kind).toBe('fixed');
    // 0.975 of its queries and what weights leave go to 'a'.
    expect(estimates.ips?.mean).toBeCloseTo(0.1 + 0.4 * (0.025 + 0.95 / (1 + Math.exp(5))), 2);
  });

  it('says when weights cannot be those of the draws', async () => {
    const log = file(
      'wrong.jsonl',
      evenLines(800).map((line) => ({ ...line, propensity: 0.9 })),
    );
    const { stdout } = await evaluate('--log', log, '--policy', 'static');
    expect(stdout).toMatch(/^weights have the mean 0\.5\d\d and not 1: /m);
  });

  it('reads contexts that have what elsewhere ends a line', async () => {
    const log = file(
      'separators.jsonl',
      evenLines(400).map((line) => ({ ...line, context: 'a\u2028b\u2029' })),
    );
    expect((await evaluate('--log', log, '--policy', 'exp3')).stdout).toMatch(/^replay /m);
  });

  it('ends at a line without an end, which no memory could hold', async () => {
    const { status, stderr } = await evaluate('--log', '/dev/zero', '--policy', 'exp3');
    expect(status).toBe(1);
    expect(stderr).toBe('--log: /dev/zero:1 has more than 16777216 bytes: it is no feedback log');
  });

  it('refuses by name', async () => {
    const log = file('log.jsonl', evenLines(200));
    const others = file('others.jsonl', [
      ...evenLines(100),
      { ...LINE, application: 'other', losses: { a: 0 } },
    ]);
    const trace = file('trace.jsonl', [{ time_us: 0, application: 'app', input_hash: '00' }]);
    const unknown = file('unknown.jsonl', [
      { ...LINE, policy: 'lints', propensity: undefined, losses: { a: 0 } },
    ]);
    const refusals: readonly (readonly [readonly string[], RegExp])[] = [
      [['--log', log, '--policy', 'best'], /^there is no policy 'best': choose one of static, /],
      [['--log', log, '--policy', 'static', '--parameters', '{'], /^--parameters is no JSON/],
      [['--log', log, '--policy', 'exp3', '--parameters', '{"eta":-1}'], /^eta must be/],
      [['--log', log, '--policy', 'static', '--parameters', '{"model":"c"}'], /^unknown_arm: .*it has a, b/],
      [['--log', log, '--policy', 'static', '--arms', 'a,,b'], /^--arms: give names of models/],
      [['--log', log, '--policy', 'majority'], /^several_answers: /],
      [['--log', others, '--policy', 'static'], /^no_such_application: .*--app; it has app, other$/],
      [
        ['--log', log, '--policy', 'static', '--app', 'x'],
        /^no_such_application: the log has nothing of 'x'/,
      ],
      [['--log', others, '--policy', 'static', '--app', 'other'], /^few_effective_samples: /],
      [['--log', trace, '--policy', 'static'], /^bad_line: .*trace\.jsonl:1 has no losses/],
      [['--log', unknown, '--policy', 'static'], /^no_propensities: 1 of 1 .*policy lints/],
      [['--log', join(folder, 'none'), '--policy', 'static'], /^--log: cannot read .*none: ENOENT/],
      [['--log', folder, '--policy', 'static'], /^--log: cannot read .*EISDIR/],
      [['--log', file('empty', []), '--policy', 'static'], /^--log: there is no judged query in it/],
      [['--log', log, '--policy', 'exp3', '--state', join(folder, 'none')], /^cannot read /],
    ];
    for (const [args, message] of refusals) {
      const { status, stderr, stdout } = await evaluate(...args);
      expect(stderr).toMatch(message);
      expect([status, stdout]).toEqual([1, '']);
    }
  });

  it('judges a policy from what a server wrote down', async () => {
    const server = await startEmbedded();
    const url = ['--url', `http://127.0.0.1:${server.queryAddress.port}`];
    const admin = ['--management-url', `http://127.0.0.1:${server.managementAddress.port}`];
    const ask = async (...args: readonly string[]): Promise<string> => {
      const { status, stdout, stderr } = await runCommand(args);
      if (status !== 0) throw new Error(stderr);
      return stdout;
    };
    try {
      const app = ['--input-type', 'doubles', '--default-output', '-', '--policy', 'epsilonGreedy'];
      await ask('app', 'add', 'pair', ...app, '--policy-parameters', '{"epsilon":1}', ...admin);
      for (const output of ['1', '2']) {
        const constant = ['--version', '1', '--input-type', 'doubles', '--container', 'windjammer/constant'];
        await ask('model', 'add', `m${output}`, ...constant, '--output', output, ...admin);
        await ask('link', 'add', 'pair', `m${output}`, ...admin);
      }
      while (server.replicas().some(({ state }) => state !== 'up')) {
        await new Promise((next) => setTimeout(next, 5));
      }
      const base = `http://127.0.0.1:${server.queryAddress.port}/pair`;
      const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
        const answer = await fetch(`${base}/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        expect(answer.status).toBe(200);
        return (await answer.json()) as Record<string, unknown>;
      };
      // Standard output is caught one command at a time: the recording is asked for as the command does it.
      const gone = new AbortController();
      const recording = await fetch(
        `http://127.0.0.1:${server.managementAddress.port}/admin/record_arrivals`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ seconds: 3600, feedback: true }),
          signal: gone.signal,
        },
      );
      const reader = (recording.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      for (let at = 0; at < 150; at++) {
        const { query_id } = await post('predict', { input: [at], features: { hour: at % 24 } });
        await post('update', { query_id, label: '1' });
      }
      let text = '';
      const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      while (text.split('\n').filter((line) => line !== '').length < 150) {
        text += decoder.decode((await reader.read()).value, { stream: true });
      }
      gone.abort();
      const path = join(folder, 'served.jsonl');
      writeFileSync(path, text);
      const [first] = readFileSync(path, 'utf8').trim().split('\n');
      expect(JSON.parse(first) as LoggedFeedback).toMatchObject({
        application: 'pair',
        policy: 'epsilonGreedy',
        features: { hour: 0 },
        linked: ['m1', 'm2'],
        propensity: 0.5,
      });
      const judged = ['evaluate', '--log', path, '--policy', 'static', '--json', '--parameters'];
      for (const [model, loss] of [
        ['m1', 0],
        ['m2', 1],
      ] as const) {
        const found = JSON.parse(await ask(...judged, JSON.stringify({ model }))) as PolicyEvaluation;
        expect(found.estimates.selfNormalised?.mean).toBe(loss);
      }
      const early = await runCommand([
        'record',
        join(folder, 'f'),
        '--feedback',
        '--duration',
        '0.05',
        ...admin,
      ]);
      expect(early.stderr).toBe('no query was judged: there is nothing to write');
      const both = await runCommand(['record', join(folder, 'f'), '--feedback', '--inputs', ...admin]);
      expect(both.stderr).toMatch(/^--inputs is for arrivals/);
      expect(await ask('predict', 'pair', '--input', '[1]', ...url)).toContain('query_id');
    } finally {
      await server.stop({ noticeMs: 0, graceMs: 1000 });
    }
  });
});
