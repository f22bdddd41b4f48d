import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RedisServer } from '../redis/tests/redisServer.js';
import { RunningCommand } from './runningCommand.js';
import { ServedProcess } from './servedProcess.js';

/** Parity of a number; each with a fault of its own. */
const MODULES = {
  good: 'return String(numbers[0] % 2);',
  wrong: 'return numbers[0] % 10 < 3 ? "wrong" : String(numbers[0] % 2);',
  slow: 'await new Promise((resolve) => setTimeout(resolve, 400)); return String(numbers[0] % 2);',
  failing: 'if (numbers[0] % 2 === 1) throw new Error("odd"); return String(numbers[0] % 2);',
  dying: 'if (numbers[0] % 5 === 1) process.exit(1); return String(numbers[0] % 2);',
} as const;

type Module = keyof typeof MODULES;

/** Margins that some hundred queries can show; latency beyond what a busy machine does. */
const RULES = { steps: [0.3, 0.5], queries: 20, loss: 0.1, errors: 0.1, latency: 20 };
const AT_ONCE = 16;

describe('deploy --canary', () => {
  let folder: string;
  let served: ServedProcess;
  let next = 0;
  let defaults = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-canary-'));
    for (const [name, body] of Object.entries(MODULES)) {
      writeFileSync(
        join(folder, `${name}.mjs`),
        `export default class { inputType = 'doubles'; inputLength = 1; async predictOne(numbers) { ${body} } }\n`,
      );
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    next = 0;
    defaults = 0;
    served = await ServedProcess.start(['--no-defaults', '--data-dir', mkdtempSync(join(folder, 'data-'))]);
    await served.client().management.addApplication({
      name: 'app',
      input_type: 'doubles',
      default_output: 'none',
      latency_slo_micros: 1_000_000,
    });
    await windjammer(...deploying('good', '1'), '--app', 'app');
  });
  afterEach(() => served.end('SIGKILL'));

  /** To its end, which must be a good one. */
  async function windjammer(...words: string[]): Promise<string> {
    const command = new RunningCommand(words, { WINDJAMMER_MANAGEMENT_URL: served.management });
    expect([await command.ended(), command.errors]).toEqual([0, '']);
    return command.output;
  }

  const deploying = (module: Module, version: string) => [
    'deploy',
    join(folder, `${module}.mjs`),
    '--name',
    'parity',
    '--version',
    version,
  ];

  async function tries(module: Module): Promise<void> {
    const said = await windjammer(...deploying(module, '2'), '--canary', JSON.stringify(RULES));
    expect(said).toBe('parity 2 is up, and tried beside 1: windjammer canary show parity\n');
  }

  /** @returns versions that answered */
  async function ask(queries: number, isJudged = true, server = served): Promise<(string | undefined)[]> {
    const client = server.client();
    const one = async (): Promise<string | undefined> => {
      const number = next++;
      const { queryId, models, isDefault } = await client.predict('app', [number]);
      if (isDefault) defaults += 1;
      if (isJudged) await client.feedback('app', { queryId, label: String(number % 2) });
      return models[0]?.version;
    };
    const versions: (string | undefined)[] = [];
    while (versions.length < queries)
      versions.push(...(await Promise.all(Array.from({ length: AT_ONCE }, one))));
    return versions;
  }

  const canary = (server = served) => server.client().management.canary('parity');

  /** Asks until the candidate is judged. */
  async function judged(most: number, isJudged = true) {
    for (let asked = 0; asked < most; asked += AT_ONCE) {
      await ask(AT_ONCE, isJudged);
      const now = await canary();
      if (now.phase !== 'ramping') return now;
    }
    throw new Error(`nothing is known after ${most} queries: ${JSON.stringify(await canary())}`);
  }

  it('promotes a good version, across a restart in the midst', async () => {
    await tries('good');
    const versions = await ask(96);
    expect(new Set(versions)).toEqual(new Set(['1', '2']));
    const before = await canary();
    expect(before).toMatchObject({ phase: 'ramping', candidate_version: '2', incumbent_version: '1' });
    const compared = before.rails?.loss.candidate.queries ?? 0;
    expect(compared).toBeGreaterThan(48);

    const data = /--data-dir (\S+)/.exec(served.child.spawnargs.join(' '))?.[1] ?? '';
    await served.end('SIGTERM');
    served = await ServedProcess.start(['--no-defaults', '--data-dir', data]);
    expect((await canary()).rails?.loss.candidate.queries).toBeGreaterThanOrEqual(compared);

    expect(await judged(4000)).toMatchObject({ phase: 'promoted' });
    expect(defaults).toBe(0);
    expect(new Set(await ask(32))).toEqual(new Set(['2']));
    expect(await served.client().management.model('parity', '2')).toMatchObject({
      is_current_version: true,
      is_serving_version: true,
      canary: 'promoted',
    });
    const { events } = await served.client().management.events();
    expect(events.map(({ verb }) => verb)).toEqual(expect.arrayContaining(['add_model', 'canary_promoted']));
  });

  it.each<[Module, boolean, RegExp]>([
    ['wrong', true, /^loss: it loses/],
    ['slow', false, /^latency: it was late/],
    ['failing', false, /^errors: it failed/],
    ['dying', false, /^(errors: it failed|latency: it was late)/],
  ])('withdraws one that is %s, and says why', async (module, isJudged, reason) => {
    await tries(module);
    const ended = await judged(3000, isJudged);
    expect(ended).toMatchObject({ phase: 'withdrawn', reason: expect.stringMatching(reason) as string });
    // One that dies takes along what it was asked: until its deadline nobody knows that no answer will come. One that is slow may be late.
    if (module !== 'dying' && module !== 'slow') expect(defaults).toBe(0);
    expect(new Set(await ask(32))).toEqual(new Set(['1']));
    expect(served.errors + served.output).toContain('change: canary_withdrawn');
    const { events } = await served.client().management.events();
    expect(events.find(({ verb }) => verb === 'canary_withdrawn')).toMatchObject({
      automatic: true,
      about: { model: 'parity', version: '2' },
      after: { canary: 'withdrawn', serving_version: '1', reason: ended.reason },
    });
    const metrics = await (await fetch(`${served.query}/metrics`)).text();
    expect(metrics).toContain('windjammer_canary_state{model="parity",version="2",state="withdrawn"} 1');
    expect(await windjammer('canary', 'show', 'parity')).toMatch(/state +withdrawn/);
  });

  it('can be promoted, aborted and started again by hand', async () => {
    await tries('good');
    expect(await windjammer('canary', 'list')).toMatch(/parity +2 +1 +gets 30 % of the queries/);
    const refused = new RunningCommand([...deploying('good', '3'), '--canary'], {
      WINDJAMMER_MANAGEMENT_URL: served.management,
    });
    expect(await refused.ended()).not.toBe(0);
    expect(refused.errors).toMatch(/version '2' of model 'parity' is being tried: promote or abort it first/);
    await windjammer('canary', 'abort', 'parity');
    expect(new Set(await ask(32))).toEqual(new Set(['1']));
    expect(await canary()).toMatchObject({ phase: 'aborted', reason: 'somebody has aborted it' });
    await windjammer('canary', 'start', 'parity', '2', '--parameters', '{"steps": [0.5]}');
    expect(new Set(await ask(32))).toEqual(new Set(['1', '2']));
    await windjammer('canary', 'promote', 'parity');
    expect(new Set(await ask(32))).toEqual(new Set(['2']));
  });
});

describe('a canary of two frontends that share a store', () => {
  it('is judged by both together', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-canary-'));
    const redis = await RedisServer.start();
    const servers: ServedProcess[] = [];
    try {
      for (let at = 0; at < 2; at++) {
        const data = join(folder, `frontend-${at}`);
        servers.push(await ServedProcess.start(['--no-defaults', '--store', redis.url, '--data-dir', data]));
      }
      const [one, other] = servers.map((server) => server.client());
      await one.management.addApplication({
        name: 'app',
        input_type: 'doubles',
        default_output: 'none',
        latency_slo_micros: 1_000_000,
      });
      const constant = {
        model_name: 'm',
        input_type: 'doubles',
        container_name: 'windjammer/constant',
      } as const;
      await one.management.addModel({ ...constant, model_version: '1', output: 'right' });
      await one.management.addLinks('app', ['m']);
      await one.management.addModel({ ...constant, model_version: '2', output: 'wrong', canary: RULES });
      const phases = async (): Promise<string[]> =>
        Promise.all([one, other].map(async (client) => (await client.management.canary('m')).phase));
      for (let at = 0; at < 1000 && (await phases()).includes('ramping'); at++) {
        for (const client of [one, other]) {
          const { queryId } = await client.predict('app', [at]);
          await client.feedback('app', { queryId, label: 'right' });
        }
      }
      for (const client of [one, other]) {
        expect(await client.management.canary('m')).toMatchObject({ phase: 'withdrawn' });
        const told = async (): Promise<number> => {
          const { events } = await client.management.events();
          return events.filter(({ verb }) => verb === 'canary_withdrawn').length;
        };
        // The one that was first says it, a moment later, to both.
        await expect.poll(told, { timeout: 10_000 }).toBe(1);
      }
    } finally {
      await Promise.all(servers.map((server) => server.end('SIGKILL')));
      await redis.stop();
      rmSync(folder, { recursive: true });
    }
  });
});
