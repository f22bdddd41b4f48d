import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedProcess } from './servedProcess.js';

/** Of util-linux. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

/** One connection to each interface, which stays. */
const agents = new Map<string, Agent>();

function post(base: string, path: string, body: object): Promise<string> {
  const agent = agents.get(base) ?? new Agent({ keepAlive: true, maxSockets: 1 });
  agents.set(base, agent);
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(`${base}${path}`, { method: 'POST', agent, headers }, (response) => {
      let text = `${response.statusCode} ${response.headers['retry-after'] ?? ''} `;
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

const model = (name: string, container: string, path: string, type = 'floats') => ({
  model_name: name,
  model_version: '1',
  input_type: type,
  container_name: container,
  model_data_path: path,
});

describe.runIf(canLimit)('a server that has no file handle left', () => {
  let served: ServedProcess;
  beforeAll(async () => {
    served = await ServedProcess.start(['--ephemeral']);
  });
  afterAll(async () => {
    for (const agent of agents.values()) agent.destroy();
    await served.end('SIGKILL');
  });

  const limit = (handles: number) =>
    expect(spawnSync('prlimit', ['--pid', String(served.pid), `--nofile=${handles}:4096`]).status).toBe(0);

  it('says so to whatever opens files, answers queries, and goes on when there are some again', async () => {
    const query = (value: number) => post(served.query, '/noop/predict', { input: [value] });
    const add = (body: object) => post(served.management, '/admin/add_model', body);
    expect(await query(0)).toContain('200');
    await post(served.management, '/admin/get_all_models', {});
    const folder = 'containers/models/digits-linear-svm';
    const kernel = model('again', 'windjammer/kernel-model', folder);
    const module = model('own', 'windjammer/process', 'containers/models/samples/none.mjs', 'doubles');
    // What runs has as many as this; threads that start take more.
    limit(readdirSync(`/proc/${served.pid}/fd`).length);
    expect(await add(kernel)).toMatch(/^503 1 .*too_many_open_files/);
    expect(await query(1)).toMatch(/^200 .*"default":false/);
    limit(4096);
    expect(await add(kernel)).toMatch(/^200/);
    // What the files themselves lack is still told.
    expect(await add(module)).toMatch(/^400 .*invalid_model/);
    expect(await query(2)).toMatch(/^200 .*"default":false/);
  });
});
