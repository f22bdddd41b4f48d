import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { pidsOf } from './modelProcesses.js';
import { ServedProcess } from './servedProcess.js';

const folder = mkdtempSync(join(tmpdir(), 'windjammer-deployed-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('a version is what was deployed: other files start no replica, and the failure says so', async () => {
  const module = join(folder, 'model.mjs');
  const write = (answer: number) =>
    writeFileSync(module, `export default { predictOne: () => ${answer}, inputType: 'doubles' };`);
  write(1);
  const args = ['--data-dir', join(folder, 'data'), '--no-defaults'];
  let served = await ServedProcess.start(args);
  await served.admin('add_app', {
    name: 'app',
    input_type: 'doubles',
    default_output: '0',
    latency_slo_micros: 2_000_000,
  });
  const version = { model_name: 'm', model_version: '1' };
  const model = {
    ...version,
    input_type: 'doubles',
    container_name: 'windjammer/process',
    model_data_path: module,
  };
  await served.admin('add_model', model);
  await served.admin('add_model_links', { app_name: 'app', model_names: ['m'] });
  const replicas = async () =>
    (await served.admin('get_all_containers', { verbose: true })) as {
      state: string;
      last_failure?: string;
    }[];
  const isUp = () =>
    expect
      .poll(async () => (await replicas()).map(({ state, last_failure }) => last_failure ?? state), {
        timeout: 10_000,
      })
      .toEqual(['up']);
  let asked = 0;
  const ask = async () => {
    // Another each time: the cache knows what was answered.
    const { json } = await served.post(`${served.query}/app/predict`, { input: [asked++] });
    return (json as { output: unknown }).output;
  };
  const failure = () =>
    expect.poll(async () => (await replicas())[0].last_failure ?? '', { timeout: 10_000 });
  await isUp();
  expect(await ask()).toBe(1);

  // The replica that runs goes on; the next one finds other files.
  write(2);
  expect(await ask()).toBe(1);
  for (const pid of pidsOf(module)) process.kill(pid, 'SIGKILL');
  await failure().toContain('model.mjs: the files have changed since this version was registered');
  expect(await ask()).toBe(0);
  await served.end('SIGTERM');

  served = await ServedProcess.start(args);
  await failure().toContain('the files have changed since');
  expect(served.errors).toContain('the files have changed since');
  await served.admin('add_model', { ...model, model_version: '2' });
  await expect.poll(ask, { timeout: 10_000 }).toBe(2);

  // The former files put back: the former version.
  write(1);
  await expect
    .poll(async () => (await replicas()).filter(({ state }) => state === 'up').length, { timeout: 40_000 })
    .toBe(2);
  await served.end('SIGTERM');
});
