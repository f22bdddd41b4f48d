import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { ServedProcess } from './servedProcess.js';

let served: ServedProcess;
beforeAll(async () => {
  served = await ServedProcess.start(['--ephemeral']);
});
afterAll(() => served.end('SIGKILL'));

/** Latencies of good queries until it says so, at least 200: in ms, sorted. */
async function latencies(isOver: () => boolean): Promise<number[]> {
  const found: number[] = [];
  while (!isOver() || found.length < 200) {
    const startMs = performance.now();
    const response = await fetch(`${served.query}/noop/predict`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"input":[${found.length}]}`,
    });
    await response.arrayBuffer();
    found.push(performance.now() - startMs);
  }
  return found.sort((a, b) => a - b);
}

const p99 = (sorted: readonly number[]) => sorted[Math.floor(sorted.length * 0.99)];

/** What others wait beside a process that sends hostile bodies to one interface, or reads none of its answers. */
async function beside(kind: string, client = 'hostileBodies'): Promise<number> {
  const script = join(packageRoot(), `dist/services/tests/${client}.js`);
  const child = spawn(process.execPath, [script, kind, served.query, served.management], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let isOver = false;
  const ended = once(child, 'exit').then(() => (isOver = true));
  await once(child.stdout, 'data');
  const found = await latencies(() => isOver);
  await ended;
  return p99(found);
}

/** So much longer, and no more, may others wait. */
const MORE_MS = 50;

/** The two processors of a small machine are shared by server, attacker and whoever measures: their turns are not the server's. */
const NOISE = 3;

it.each(['rest', 'gzip', 'v2', 'management', 'websocket'])(
  'nobody waits for twenty hostile bodies of others: %s',
  { timeout: 120_000 },
  async (kind) => {
    const before = await beside('none');
    const hostile = await beside(kind);
    const busy = Math.max(before, await beside('none'));
    console.log(`p99 beside a busy process ${busy.toFixed(1)} ms, beside ${kind} ${hostile.toFixed(1)} ms`);
    expect(hostile).toBeLessThan(NOISE * busy + MORE_MS);
  },
);

it.each(['batches', 'v2', 'websocket', 'aborted'])(
  'nobody waits for twenty clients that read nothing: %s',
  { timeout: 120_000 },
  async (kind) => {
    const before = await beside('none', 'hostileReaders');
    const hostile = await beside(kind, 'hostileReaders');
    const busy = Math.max(before, await beside('none', 'hostileReaders'));
    console.log(`p99 beside a busy process ${busy.toFixed(1)} ms, beside ${kind} ${hostile.toFixed(1)} ms`);
    expect(hostile).toBeLessThan(NOISE * busy + MORE_MS);
  },
);
