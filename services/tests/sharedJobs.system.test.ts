import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WindjammerClient } from '../client/index.js';
import { RedisServer } from '../redis/tests/redisServer.js';
import { NodeProcess } from './nodeProcess.js';
import { ServedProcess } from './servedProcess.js';

const SOON = { timeout: 60_000, interval: 50 };
const APPLICATION = 'app';

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts).toString('utf8');
}

const clientOf = ({ query: queryUrl, management: managementUrl }: ServedProcess) =>
  new WindjammerClient({ queryUrl, managementUrl });

/** Answers with what it is asked, and takes its time. */
const ECHO = `export default {
  inputType: 'doubles',
  predict: async (inputs) => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return inputs.map(([first]) => first);
  },
};`;

async function register(at: ServedProcess, model: Readonly<Record<string, string>>): Promise<void> {
  await at.admin('add_app', {
    name: APPLICATION,
    input_type: 'doubles',
    default_output: 'none',
    latency_slo_micros: 10_000_000,
  });
  await at.admin('add_model', { model_name: 'm', model_version: '1', input_type: 'doubles', ...model });
  await at.admin('add_model_links', { app_name: APPLICATION, model_names: ['m'] });
}

async function servedBy(...frontends: readonly ServedProcess[]): Promise<void> {
  await vi.waitFor(async () => {
    for (const one of frontends)
      expect((await clientOf(one).predict(APPLICATION, new Float64Array([1]))).isDefault).toBe(false);
  }, SOON);
}

describe('batch jobs of frontends that share a Redis', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-shared-jobs-'));
  let redis: RedisServer;
  let a: ServedProcess;
  let b: ServedProcess;
  const start = (name: string) =>
    ServedProcess.start(['--store', redis.url, '--data-dir', join(folder, name), '--no-defaults']);

  beforeAll(async () => {
    redis = await RedisServer.start();
    [a, b] = await Promise.all([start('a'), start('b')]);
    await register(a, { container_name: 'windjammer/constant', output: 'yes' });
    await servedBy(a, b);
  });
  afterAll(async () => {
    await Promise.all([a.end('SIGTERM'), b.end('SIGTERM')]);
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are the same at each of them: state, results as a stream, cancel, delete', async () => {
    const [first, second] = [clientOf(a).jobs, clientOf(b).jobs];
    const { job_id: id } = await first.create(APPLICATION, '[1]\n'.repeat(1000));
    const results = (await textOf(second.results(id, true))).trim().split('\n');
    expect(results.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual(
      Array.from({ length: 1000 }, (_, at) => at + 1),
    );
    expect(await first.show(id)).toEqual(await second.show(id));
    expect(await second.show(id)).toMatchObject({ state: 'done', answered: 1000, failed: 0 });
    expect((await second.list()).map((job) => job.job_id)).toEqual([id]);
    await second.remove(id);
    await expect(first.show(id)).rejects.toMatchObject({ status: 404, code: 'unknown_job' });
    const { job_id: long } = await second.create(APPLICATION, '[1]\n'.repeat(30_000));
    expect((await first.cancel(long)).state).toBe('cancelled');
    expect((await second.show(long)).state).toBe('cancelled');
    await first.remove(long);
    await expect(second.cancel(long)).rejects.toMatchObject({ status: 404 });
    expect(await second.list()).toEqual([]);
  });

  it('leave nothing of an upload that breaks off', async () => {
    const outgoing = request(`${a.query}/jobs?application=${APPLICATION}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
    });
    outgoing.on('error', () => undefined);
    outgoing.write('[1]\n'.repeat(100_000));
    outgoing.destroy();
    await clientOf(a).predict(APPLICATION, new Float64Array([1]));
    expect(await clientOf(b).jobs.list()).toEqual([]);
  });

  it('are taken while Redis is away, and answered once it is back, also by another frontend', async () => {
    await redis.kill();
    const { jobs } = clientOf(a);
    const { job_id: id } = await jobs.create(APPLICATION, '[1]\n[2]\n[3]\n');
    expect(await jobs.show(id)).toMatchObject({ state: 'running', lines: 3, answered: 0 });
    const listed = await fetch(`${b.query}/jobs`);
    expect([listed.status, listed.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await listed.json()).toMatchObject({ error: { code: 'redis_away' } });
    for (const [path, method] of [
      [`/jobs/${id}`, 'GET'],
      [`/jobs/${id}/results`, 'GET'],
      [`/jobs/${id}/cancel`, 'POST'],
      [`/jobs/${id}`, 'DELETE'],
    ]) {
      const answer = await fetch(`${b.query}${path}`, { method });
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '1']);
    }
    const metrics = await (await fetch(`${a.query}/metrics`)).text();
    expect(metrics).toContain('windjammer_jobs{state="spooled"} 1\n');
    await redis.run();
    await vi.waitFor(async () => expect((await clientOf(b).jobs.show(id)).state).toBe('done'), SOON);
    expect(await textOf(clientOf(b).jobs.results(id))).toBe(await textOf(jobs.results(id)));
    expect((await clientOf(b).jobs.list()).map((job) => job.job_id)).toEqual([id]);
    await jobs.remove(id);
  });

  it('outlive the frontend that took them', async () => {
    const { job_id: id } = await clientOf(b).jobs.create(APPLICATION, '[1]\n'.repeat(20_000));
    await b.end('SIGKILL');
    expect((await textOf(clientOf(a).jobs.results(id, true))).split('\n')).toHaveLength(20_001);
    expect(await clientOf(a).jobs.show(id)).toMatchObject({ state: 'done', answered: 20_000 });
    b = await start('b');
    await clientOf(b).jobs.remove(id);
  });
});

describe('batch jobs of frontends that share a node', () => {
  it('leave room to the queries of each of them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-shared-room-'));
    const module = join(folder, 'echo.mjs');
    writeFileSync(module, ECHO);
    const redis = await RedisServer.start();
    const start = (name: string) =>
      ServedProcess.start([
        ...['--store', redis.url, '--only-nodes', '--no-defaults'],
        ...['--data-dir', join(folder, name)],
      ]);
    const [node, a, b] = await Promise.all([
      NodeProcess.start('n1', ['--join', redis.url, '--data-dir', join(folder, 'n1')]),
      start('a'),
      start('b'),
    ]);
    try {
      await register(a, { container_name: 'windjammer/process', model_data_path: module });
      await servedBy(a, b);
      const { jobs } = clientOf(a);
      const lines = Array.from({ length: 20_000 }, (_, at) => `[${at}]\n`);
      const { job_id: id } = await jobs.create(APPLICATION, lines.join(''));
      let isOver = false;
      let asked = 0;
      // As many as it takes for one to be on its way always, also where this test has to wait for its turn.
      const queries = Promise.all(
        Array.from({ length: 16 }, async () => {
          while (!isOver) await clientOf(b).predict(APPLICATION, new Float64Array([--asked]));
        }),
      );
      // What was under way when the queries began ends; from then on the job has its trickle.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const before = (await jobs.show(id)).answered;
      await new Promise((resolve) => setTimeout(resolve, 3000));
      expect((await jobs.show(id)).answered - before).toBeLessThanOrEqual(2 * 128);
      isOver = true;
      await queries;
      await vi.waitFor(
        async () => expect((await jobs.show(id)).answered).toBeGreaterThan(before + 1000),
        SOON,
      );
      await jobs.cancel(id);
    } finally {
      await Promise.all([a.end('SIGKILL'), b.end('SIGKILL'), node.end('SIGKILL')]);
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
