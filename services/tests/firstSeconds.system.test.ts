import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { packageRoot } from '../../simulator/files/index.js';
import { BUILT_IN_MODELS, digitAt, loadDigits } from '../../containers/models/index.js';
import { COMPILED } from './compilationReport.js';
import { ServedProcess } from './servedProcess.js';

const QUERIES = 2000;
const EVERY_MS = 5;
const REPORT = pathToFileURL(join(packageRoot(), 'dist/services/tests/compilationReport.js')).href;

let served: ServedProcess | undefined;
afterEach(async () => {
  await served?.end('SIGINT');
});

interface Prediction {
  readonly default: boolean;
}

async function ask(url: string, body: string): Promise<Prediction> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body });
  return (await response.json()) as Prediction;
}

/** Asks every 5 ms, whatever becomes of the queries before. @returns how many got the default output. */
async function defaults(url: string, bodies: readonly string[]): Promise<number> {
  const answers: Promise<Prediction>[] = [];
  const beganMs = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(bodies.length, 1 + Math.floor((performance.now() - beganMs) / EVERY_MS));
      for (const body of bodies.slice(answers.length, due)) answers.push(ask(url, body));
      if (answers.length < bodies.length) return;
      clearInterval(timer);
      resolve();
    }, EVERY_MS);
  });
  return (await Promise.all(answers)).filter((answer) => answer.default).length;
}

// A stall of fresh servers comes each time, one of the host's does not.
const LIMITS = { timeout: 120_000, retry: 4 };

it('a fresh server answers from its first second on', LIMITS, async () => {
  const { heldOut } = loadDigits();
  const bodies = Array.from({ length: QUERIES }, (_, index) =>
    JSON.stringify({ input: [...digitAt(heldOut, (index * 7) % heldOut.count)] }),
  );
  served = await ServedProcess.start(['--ephemeral', '--cache-mib', '0'], {
    NODE_OPTIONS: `--import=${REPORT}`,
  });
  const url = `${served.query}/digits/predict`;
  const fresh = await defaults(url, bodies);
  expect(served.errors).not.toContain(COMPILED);
  // A host that is too slow for a server that has run for long can tell nothing of a fresh one.
  if (fresh > 0) expect(await defaults(url, bodies)).toBeGreaterThan(0);
});

it('no GPU node compiles what launches that may be killed need', async () => {
  const { heldOut } = loadDigits();
  served = await ServedProcess.start(['--ephemeral', '--cache-mib', '0', '--scheduling', 'killRestart'], {
    NODE_OPTIONS: `--import=${REPORT}`,
  });
  for (const model of BUILT_IN_MODELS) {
    for (const rows of [1, 3, 65]) {
      const data = Array.from({ length: rows }, (_, index) => [...digitAt(heldOut, index)]);
      const pixels = { name: 'pixels', datatype: 'FP32', shape: [rows, 784], data };
      const response = await fetch(`${served.query}/v2/models/${model}/infer`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-windjammer-launch-class': 'bestEffort' },
        body: JSON.stringify({ inputs: [pixels] }),
      });
      expect(response.status, await response.text()).toBe(200);
    }
  }
  expect(served.errors).not.toContain(COMPILED);
});
