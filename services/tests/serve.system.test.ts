import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { BUILT_IN_MODELS } from '../../containers/models/index.js';
import { ServedProcess } from './servedProcess.js';

interface Prediction {
  readonly query_id: string;
  readonly output: unknown;
  readonly default: boolean;
}

describe('windjammer serve', () => {
  let folder: string;
  let served: ServedProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-serve-'));
  });
  afterEach(async () => {
    await served?.end('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** Two constants under Exp3: feedback alone tells them apart. */
  async function registerPair(server: ServedProcess): Promise<void> {
    for (const output of ['1', '2']) {
      await server.admin('add_model', {
        model_name: `always-${output}`,
        model_version: '1',
        input_type: 'doubles',
        container_name: 'windjammer/constant',
        output,
      });
    }
    await server.admin('add_app', {
      name: 'pair',
      input_type: 'doubles',
      default_output: '"none"',
      latency_slo_micros: 1_000_000,
      policy: { name: 'exp3' },
    });
    await server.admin('add_model_links', { app_name: 'pair', model_names: ['always-1', 'always-2'] });
  }

  async function everything(server: ServedProcess): Promise<unknown> {
    return {
      applications: await server.admin('get_all_applications', { verbose: true }),
      models: await server.admin('get_all_models', { verbose: true }),
      own: await server.admin('get_state', { app_name: 'pair' }),
      user: await server.admin('get_state', { app_name: 'pair', uid: 'anna' }),
    };
  }

  it('keeps applications, models, links and learned weights through kill -9', async () => {
    served = await ServedProcess.start(['--data-dir', folder, '--no-defaults']);
    await registerPair(served);
    await served.admin('add_model', {
      model_name: 'always-1',
      model_version: '2',
      input_type: 'doubles',
      container_name: 'windjammer/constant',
      output: '1',
    });
    await served.admin('set_model_version', { model_name: 'always-1', model_version: '1' });
    const severe = { name: 'severe', input_type: 'doubles', default_output: '0', latency_slo_micros: 1000 };
    await served.admin('add_app', { ...severe, strict: true });
    for (let i = 0; i < 40; i++) {
      const uid = i % 4 === 0 ? 'anna' : undefined;
      const { json } = await served.post(`${served.query}/pair/predict`, { input: [i], uid });
      const { query_id } = json as Prediction;
      const feedback = await served.post(`${served.query}/pair/update`, { query_id, label: 1, uid });
      expect(feedback.json).toEqual({ accepted: true, joined: 'query', durable: true });
    }
    const before = await everything(served);
    const shares = (before as { own: { shares: Record<string, number> } }).own.shares;
    expect(shares['always-1']).toBeGreaterThan(shares['always-2']);
    expect(await served.end('SIGKILL')).toBe('SIGKILL');

    served = await ServedProcess.start(['--data-dir', folder, '--no-defaults']);
    expect(await everything(served)).toEqual(before);
    const { json } = await served.post(`${served.query}/pair/predict`, { input: [1] });
    expect(json).toMatchObject({ default: false });
    const strict = await served.post(`${served.query}/severe/predict`, { input: [1] });
    expect(strict.status).toBe(503);
  });

  it('drains on SIGTERM and exits with 0', async () => {
    served = await ServedProcess.start(['--ephemeral', '--no-defaults']);
    await registerPair(served);
    const { query } = served;
    const server = served;
    let answered = 0;
    let stopping = false;
    const clients = Array.from({ length: 8 }, async (_, client) => {
      for (let i = 0; ; i++) {
        let status: number;
        try {
          ({ status } = await server.post(`${query}/pair/predict`, { input: [client, i] }));
        } catch (error) {
          // Only once the drain has begun may a connection be refused or closed.
          if (!stopping) throw error;
          return;
        }
        expect(status === 200 || (stopping && status === 503)).toBe(true);
        answered += 1;
        if (answered === 400) {
          stopping = true;
          ended = server.end('SIGTERM');
        }
      }
    });
    let ended: Promise<unknown> | undefined;
    await Promise.all(clients);
    expect(await ended).toBe(0);
    served = undefined;
  });

  it('serves a real digit on its defaults', async () => {
    served = await ServedProcess.start(['--ephemeral']);
    expect(served.output).toContain(
      `application digits: floats, 100 ms, exp3 over ${BUILT_IN_MODELS.map((name) => `${name} v1`).join(', ')}`,
    );
    expect(served.output).toContain(`curl -s ${served.query}/digits/predict`);
    const sample = /--data @(\S+)/.exec(served.output)?.[1] ?? '';
    const request = JSON.parse(readFileSync(join(process.cwd(), sample), 'utf8')) as unknown;
    const { json } = await served.post(`${served.query}/digits/predict`, request);
    expect(json).toMatchObject({ output: 7, default: false });
    expect(packageRoot()).toBe(process.cwd());
  });

  it('says which port is taken', async () => {
    served = await ServedProcess.start(['--ephemeral', '--no-defaults']);
    const port = new URL(served.query).port;
    await expect(ServedProcess.start(['--ephemeral', '--no-defaults', '--port', port])).rejects.toThrow(
      /ended with 1: windjammer: cannot listen on 127\.0\.0\.1:\d+: the port is in use/,
    );
  });
});
