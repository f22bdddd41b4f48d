import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ServedProcess } from './servedProcess.js';

const disk = mkdtempSync(join(tmpdir(), 'windjammer-disk-'));
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]).status === 0;

function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file);
  }
}

it.runIf(isMounted)('a full disk ends no server: changes are refused by name, queries answered', async () => {
  const args = ['--data-dir', join(disk, 'data')];
  const add = (served: ServedProcess, name: string) =>
    served.post(`${served.management}/admin/add_app`, {
      name,
      input_type: 'doubles',
      default_output: '0',
      latency_slo_micros: 100_000,
    });
  const ready = async (served: ServedProcess) => (await fetch(`${served.query}/readyz`)).text();
  const ask = async (served: ServedProcess) => {
    const asked = await served.post(`${served.query}/noop/predict`, { input: [1] });
    expect(asked).toMatchObject({ status: 200, json: { output: 0, default: false } });
    const { query_id } = asked.json as { query_id: string };
    return served.post(`${served.query}/noop/update`, { query_id, label: '0' });
  };
  const untilRefused = async (served: ServedProcess, prefix: string) => {
    const kept: string[] = [];
    for (let at = 0; at < 100; at++) {
      const { status, text } = await add(served, `${prefix}${at}`);
      if (status === 200) kept.push(`${prefix}${at}`);
      else {
        expect(status).toBe(507);
        expect(text).toContain('storage_full');
        return kept;
      }
    }
    throw new Error('nothing was refused');
  };
  try {
    let served = await ServedProcess.start(args);
    fill(join(disk, 'hog'));
    const kept = await untilRefused(served, 'a');
    expect(await ready(served)).toContain('"cause":"diskFull"');
    const metrics = await (await fetch(`${served.query}/metrics`)).text();
    expect(metrics).toContain('windjammer_store_failing{cause="diskFull"} 1');
    expect((await ask(served)).status).toBe(200);
    await served.end('SIGKILL');

    served = await ServedProcess.start(args);
    kept.push(...(await untilRefused(served, 'b')));
    expect((await ask(served)).status).toBe(200);
    rmSync(join(disk, 'hog'));
    await expect.poll(() => ready(served), { timeout: 10_000 }).toBe('{"status":"ready"}');
    expect((await add(served, 'healed')).status).toBe(200);
    await served.end('SIGKILL');

    served = await ServedProcess.start(args);
    const { json } = await served.post(`${served.management}/admin/get_all_applications`, {});
    expect((json as string[]).sort()).toEqual([...kept, 'digits', 'noop', 'healed'].sort());
    await served.end('SIGTERM');
  } finally {
    spawnSync('umount', ['--lazy', disk]);
    rmSync(disk, { recursive: true, force: true });
  }
});
