import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandFile } from '../cli/index.js';
import { WindjammerClient } from '../client/index.js';
import { FileLedger } from '../jobs/index.js';
import { chunked } from '../jobs/tests/jobLedger.js';
import { ServedProcess } from './servedProcess.js';

const PREDICTION = { output: 0, default: false };

interface ErrorBody {
  readonly error: { readonly code: string; readonly field?: string; readonly message: string };
}

function command(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [commandFile(), ...args], (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, out, err }),
    );
  });
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts).toString('utf8');
}

describe('batch jobs in a server', () => {
  let served: ServedProcess;
  let client: WindjammerClient;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-batch-'));
    served = await ServedProcess.start(['--ephemeral', '--jobs-mib', '1']);
    client = new WindjammerClient({ queryUrl: served.query, managementUrl: served.management });
  });
  afterAll(async () => {
    await served.end('SIGTERM');
    rmSync(folder, { recursive: true });
  });

  async function refusal(path: string, init: RequestInit): Promise<readonly [number, string, string?]> {
    const response = await fetch(`${served.query}${path}`, init);
    const { error } = (await response.json()) as ErrorBody;
    return error.field === undefined
      ? [response.status, error.code]
      : [response.status, error.code, error.field];
  }

  it('answers every line in its place, errors among them', async () => {
    const input = '[1]\n\n{"input":[2],"priority":1}\nnot JSON\n{"no":1}\n["x"]\n{"input":[1],"version":"9"}';
    const created = await client.jobs.create('noop', input);
    expect(created).toMatchObject({
      state: 'running',
      lines: 6,
      application: 'noop',
      launch_class: 'bestEffort',
    });
    const results = (await textOf(client.jobs.results(created.job_id, true))).trim().split('\n');
    expect(results.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { line: 1, ...PREDICTION },
      { line: 3, ...PREDICTION },
      { line: 4, error: { code: 'not_json' } },
      { line: 5, error: { code: 'missing_field', field: 'input' } },
      { line: 6, error: { code: 'wrong_type', field: 'input[0]' } },
      { line: 7, error: { code: 'unknown_version', field: 'version' } },
    ]);
    expect(await client.jobs.show(created.job_id)).toMatchObject({ state: 'done', answered: 6, failed: 4 });
    expect((await client.jobs.list()).map(({ job_id: id }) => id)).toContain(created.job_id);
    await client.jobs.remove(created.job_id);
    await expect(client.jobs.show(created.job_id)).rejects.toMatchObject({
      status: 404,
      code: 'unknown_job',
    });
  });

  it('is there for the command line, which goes where its job is', async () => {
    const [input, output] = [join(folder, 'in.jsonl'), join(folder, 'out.jsonl')];
    writeFileSync(input, Array.from({ length: 500 }, (_, at) => `[${at}]\n`).join(''));
    const where = ['--url', served.query];
    const run = await command('batch', 'noop', '--input', input, '--output', output, '--durable', ...where);
    expect(run).toMatchObject({ code: 0, out: `500 answered; ${output}\n` });
    const lines = readFileSync(output, 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual(
      lines.map((_, at) => at + 1),
    );
    const id = /job (\S+);/.exec(run.err)?.[1] ?? '';
    const again = await command('job', 'results', id, ...where);
    expect(again.out).toBe(readFileSync(output, 'utf8'));
    expect((await command('job', 'list', ...where)).out).toContain(id);
    expect((await command('job', 'remove', id, ...where)).code).toBe(0);
    expect(await command('job', 'show', id, ...where)).toMatchObject({
      code: 1,
      err: expect.stringContaining('unknown_job') as string,
    });
  });

  it('refuses by name', async () => {
    const lines = (text: string | ReadableStream, type = 'application/x-ndjson') => ({
      method: 'POST',
      body: text,
      headers: { 'content-type': type },
    });
    expect(await refusal('/jobs', lines('[1]'))).toEqual([400, 'missing_field', 'application']);
    expect(await refusal('/jobs?application=none', lines('[1]'))).toEqual([
      404,
      'unknown_application',
      'application',
    ]);
    expect(await refusal('/jobs?application=noop&class=fast', lines('[1]'))).toEqual([
      400,
      'invalid_value',
      'class',
    ]);
    expect(await refusal('/jobs?application=noop', lines('[1]', 'text/csv'))).toEqual([
      415,
      'unsupported_media_type',
      'Content-Type',
    ]);
    expect(await refusal('/jobs?application=noop', lines('[1]\n\ud800'.concat('x'.repeat(2 ** 21))))).toEqual(
      [507, 'storage_full'],
    );
    expect(await refusal('/jobs', { method: 'PUT' })).toEqual([405, 'method_not_allowed']);
    expect(await refusal('/jobs/none/results', {})).toEqual([404, 'unknown_job', 'id']);
    expect(await refusal('/jobs/..%2F..%2Fetc', { method: 'DELETE' })).toEqual([404, 'unknown_job', 'id']);
    expect(await refusal('/jobs/x/results?follow=perhaps', {})).toEqual([400, 'invalid_value', 'follow']);
    expect(await refusal('/jobs/x/cancel', {})).toEqual([405, 'method_not_allowed']);
    expect(await client.jobs.list()).toEqual([]);
  });

  it('keeps nothing of an upload that breaks off, and serves others beside one that never ends', async () => {
    const upload = (bytes: string) => {
      const outgoing = request(`${served.query}/jobs?application=noop`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
      });
      outgoing.on('error', () => undefined);
      outgoing.write(bytes);
      return outgoing;
    };
    const open = upload('[1]\n');
    upload('[1]\n[2]\n').destroy();
    expect((await client.predict('noop', [1])).output).toBe(0);
    expect(await client.jobs.list()).toEqual([]);
    open.destroy();
  });

  it('stops when it is cancelled', async () => {
    const created = await client.jobs.create('noop', '[1]\n'.repeat(50_000));
    const cancelled = await client.jobs.cancel(created.job_id);
    expect(cancelled.state).toBe('cancelled');
    expect(cancelled.answered).toBeLessThan(50_000);
    const kept = (await textOf(client.jobs.results(created.job_id, true))).split('\n').length - 1;
    expect(kept).toBeLessThanOrEqual((await client.jobs.show(created.job_id)).answered);
    await client.jobs.remove(created.job_id);
  });
});

describe('batch jobs of a data directory', () => {
  it('do not keep a server from starting where one of them is damaged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-job-damage-'));
    const ledger = await FileLedger.open(join(folder, 'jobs'), 2 ** 20);
    const of = { application: 'none', launchClass: 'bestEffort' } as const;
    const [bad, good] = [
      await ledger.create(of, chunked(['[1]'])),
      await ledger.create(of, chunked(['[2]'])),
    ];
    await ledger.stop();
    writeFileSync(join(folder, 'jobs', bad.id, 'job.json'), '{"descr');

    const served = await ServedProcess.start(['--data-dir', folder, '--no-defaults']);
    const where = ['--url', served.query];
    const listed = await command('job', 'list', ...where);
    expect(listed.out).toContain(good.id);
    expect(listed.err).toContain(`job ${bad.id} cannot be read`);
    expect(served.errors).toContain(bad.id);
    expect((await command('job', 'remove', bad.id, ...where)).code).toBe(0);
    expect((await command('job', 'list', ...where)).err).toBe('');
    await served.end('SIGTERM');
    rmSync(folder, { recursive: true });
  });
});

describe('batch jobs and keys', () => {
  it('are for those whose key covers their application', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-job-keys-'));
    const admin = (await command('key', 'generate')).out.trim();
    const keyFile = join(folder, 'admin');
    writeFileSync(keyFile, admin, { mode: 0o600 });
    const served = await ServedProcess.start(['--ephemeral', '--require-keys', '--admin-key-file', keyFile]);
    const where = { queryUrl: served.query, managementUrl: served.management };
    const owner = new WindjammerClient({ ...where, apiKey: admin });
    const key = async (scopes: ('predict' | 'metrics')[], applications?: string[]) => {
      const { key: text } = await owner.management.addKey({
        name: 'k',
        scopes,
        ...(applications === undefined ? {} : { applications }),
      });
      return new WindjammerClient({ ...where, apiKey: text });
    };
    const [noop, digits, metrics] = [
      await key(['predict'], ['noop']),
      await key(['predict'], ['digits']),
      await key(['metrics']),
    ];
    const { job_id: id } = await noop.jobs.create('noop', '[1]\n');
    expect(await textOf(noop.jobs.results(id, true))).toContain('"line":1');
    expect(await noop.jobs.list()).toHaveLength(1);
    expect(await digits.jobs.list()).toEqual([]);
    for (const act of [
      () => digits.jobs.show(id),
      () => digits.jobs.remove(id),
      () => digits.jobs.cancel(id),
      () => textOf(digits.jobs.results(id)),
    ]) {
      await expect(act()).rejects.toMatchObject({ status: 404 });
    }
    await expect(digits.jobs.create('noop', '[1]\n')).rejects.toMatchObject({ code: 'outside_key' });
    await expect(metrics.jobs.list()).rejects.toMatchObject({ code: 'missing_scope' });
    await expect(new WindjammerClient(where).jobs.list()).rejects.toMatchObject({ code: 'key_required' });
    await served.end('SIGTERM');
    rmSync(folder, { recursive: true });
  });
});
