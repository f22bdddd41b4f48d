import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServedProcess } from './servedProcess.js';

const USERS = 2500;
const AT_A_TIME = 50;

describe('contexts of a server', () => {
  let folder: string;
  let served: ServedProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-contexts-'));
  });
  afterEach(async () => {
    await served?.end('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  const start = () =>
    ServedProcess.start(['--data-dir', folder, '--no-defaults', '--context-memory-mib', '1']);

  async function register(server: ServedProcess): Promise<void> {
    for (const output of ['1', '2']) {
      await server.admin('add_model', {
        model_name: `always-${output}`,
        model_version: '1',
        input_type: 'doubles',
        container_name: 'windjammer/constant',
        output,
      });
    }
  }

  async function registerApplication(server: ServedProcess): Promise<void> {
    await server.admin('add_app', {
      name: 'app',
      input_type: 'doubles',
      default_output: '"none"',
      latency_slo_micros: 1_000_000,
      context_ttl_days: 7,
      policy: { name: 'ucb1', parameters: { memory: null } },
    });
    await server.admin('add_model_links', { app_name: 'app', model_names: ['always-1', 'always-2'] });
  }

  /** So many calls, some at a time. */
  async function together(count: number, call: (at: number) => Promise<void>): Promise<void> {
    let next = 0;
    const lane = async () => {
      for (let at = next++; at < count; at = next++) await call(at);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, lane));
  }

  async function metric(server: ServedProcess, name: string): Promise<number> {
    const text = await (await fetch(`${server.query}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{application="app"\\} (\\S+)`, 'm').exec(text)?.[1]);
  }

  const judgedOf = async (server: ServedProcess, uid: string): Promise<number> => {
    const { state } = (await server.admin('export_state', { app_name: 'app', uid })) as {
      readonly state: { readonly judged: readonly number[] };
    };
    return state.judged[0] + state.judged[1];
  };

  it('are all kept through kill -9, a part of them in memory, and begin with what the application has learned', async () => {
    served = await start();
    await register(served);
    await registerApplication(served);
    const server = served;
    const query = async (at: number, label?: number) => {
      const uid = `user ${at}`;
      const { json } = await server.post(`${server.query}/app/predict`, { input: [at], uid });
      const { query_id, output } = json as { readonly query_id: string; readonly output: number };
      if (label === undefined) return output;
      const { json: outcome } = await server.post(`${server.query}/app/update`, { query_id, label, uid });
      expect(outcome).toEqual({ accepted: true, joined: 'query', durable: true });
      return output;
    };
    await together(USERS, async (at) => void (await query(at, 1)));
    // Those whom nobody judges cost the store nothing.
    await together(500, async (at) => void (await query(USERS + at)));
    expect(await metric(served, 'windjammer_contexts_kept')).toBe(USERS);
    expect(await metric(served, 'windjammer_contexts_held')).toBeLessThan(1500);
    expect(await metric(served, 'windjammer_context_bytes')).toBeLessThanOrEqual(2 ** 20);
    expect(await judgedOf(served, '')).toBe(USERS);
    const early = await judgedOf(served, 'user 0');
    const late = await judgedOf(served, `user ${USERS - 1}`);
    // The prior is 20 of each model, once the application has learned as much.
    expect(late).toBeGreaterThan(20);
    expect(await query(USERS + 1000)).toBe(1);
    expect(await served.end('SIGKILL')).toBe('SIGKILL');

    served = await start();
    expect(await judgedOf(served, '')).toBe(USERS);
    expect(await judgedOf(served, 'user 0')).toBe(early);
    expect(await judgedOf(served, `user ${USERS - 1}`)).toBe(late);
    const refused = await served.post(`${served.management}/admin/set_app`, {
      name: 'app',
      context_ttl_days: 0,
    });
    expect(refused.json).toMatchObject({ error: { code: 'invalid_value', field: 'context_ttl_days' } });
    await served.admin('delete_app', { name: 'app' });
    await registerApplication(served);
    expect(await judgedOf(served, 'user 0')).toBe(0);
  });
});
