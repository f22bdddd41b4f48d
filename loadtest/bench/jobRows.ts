import { Agent, request } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import { KeyedDraw } from '../../selection/index.js';
import { commandFile } from '../../services/cli/index.js';
import { deploySlowModel } from './batchingRows.js';
import type { Bench, Measured, Row } from './rows.js';
import { startWindjammer, type ProductProcess } from './serverProcess.js';
import { FIXED_MS, ITEM_MS } from './slowModel.js';

const SLOW = 'slow';
/** A fifth of the time of a model that takes 5 ms: there is much for a job to fill, and queries meet its lines all the time. */
const QUERIES_PER_SECOND = 40;
/** Legs alone, and as many beside a job, in turns. */
const PAIRS = 4;
/** More than are answered in a leg. */
const LINES = 30_000;

/** What people notice of a job in the background. */
export const JOB_ROWS: readonly Row[] = [
  { name: 'jobs', group: 'cluster', run: async (bench) => [await beside(bench)] },
];

async function beside({ options, file }: Bench): Promise<Measured> {
  const product = await startWindjammer(commandFile(), SLOW, ['--no-defaults']);
  try {
    await deploySlowModel(product, SLOW, file('slowModel.js'), 1);
    const load = new OpenLoad(product);
    await load.leg(options.warmUpSeconds, 0);
    const [alone, withJob]: [number[], number[]] = [[], []];
    let idle = 0;
    for (let pair = 1; pair <= PAIRS; pair++) {
      // The same arrivals on both sides, and who is first takes turns.
      const sides = pair % 2 === 1 ? [alone, withJob] : [withJob, alone];
      for (const side of sides) {
        const job = side === withJob ? await postJob(product) : undefined;
        side.push(...(await load.leg(options.legSeconds, pair)));
        if (job !== undefined && !(await endJob(product, job))) idle += 1;
      }
    }
    load.close();
    const [p99Alone, p99Beside] = [p99(alone), p99(withJob)];
    const title = `interactive queries beside a batch job: ${FIXED_MS} ms + ${ITEM_MS} ms an item, ${QUERIES_PER_SECOND}/s, p99 ${p99Beside.toFixed(1)} ms beside, ${p99Alone.toFixed(1)} ms alone`;
    return {
      title,
      sides: [],
      checks: [
        {
          what: 'interactive p99 beside a batch job over alone',
          figure: p99Beside / p99Alone,
          bound: 'atMost',
          floor: 1.1,
          unit: 'x',
          // A job that does nothing harms nobody.
          errors: load.errors + idle,
        },
      ],
    };
  } finally {
    await product.stop();
  }
}

/** Queries at random moments, whether those before have their answers or not. */
class OpenLoad {
  errors = 0;
  private readonly agent = new Agent({ keepAlive: true });
  private inputs = 0;

  constructor(private readonly product: ProductProcess) {}

  /** @returns what each query took from the moment that it was due, in ms */
  async leg(seconds: number, seed: number): Promise<number[]> {
    const draw = new KeyedDraw(seed).of('arrivals');
    const latencies: number[] = [];
    const open: Promise<void>[] = [];
    const startMs = performance.now();
    for (let atMs = 0; ;) {
      atMs -= (Math.log(1 - draw()) / QUERIES_PER_SECOND) * 1000;
      if (atMs > seconds * 1000) break;
      const dueMs = startMs + atMs;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await after(waitMs);
      open.push(this.ask(performance.now(), latencies));
    }
    await Promise.all(open);
    return latencies;
  }

  close(): void {
    this.agent.destroy();
  }

  private ask(sentMs: number, latencies: number[]): Promise<void> {
    return new Promise((resolve) => {
      const { url } = this.product;
      const options = { method: 'POST', agent: this.agent, headers: { 'content-type': 'application/json' } };
      const asked = request(url, options, (response) => {
        if (response.statusCode !== 200) this.errors += 1;
        response.on('end', () => {
          latencies.push(performance.now() - sentMs);
          resolve();
        });
        response.resume();
      });
      asked.on('error', () => {
        this.errors += 1;
        resolve();
      });
      asked.end(JSON.stringify({ input: [0.5, this.inputs++] }));
    });
  }
}

async function postJob({ url }: ProductProcess): Promise<string> {
  const lines = Array.from({ length: LINES }, (_, at) => `[1.5,${at}]\n`).join('');
  const response = await fetch(new URL(`/jobs?application=${SLOW}`, url), {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines,
  });
  if (response.status !== 202) throw new Error(`POST /jobs: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}

/** @returns whether it goes on once nobody else asks; its count of answers goes up in steps of many lines */
async function endJob({ url }: ProductProcess, id: string): Promise<boolean> {
  let answered = 0;
  for (let attempt = 0; answered === 0 && attempt < 300; attempt++) {
    await after(100);
    ({ answered } = (await (await fetch(new URL(`/jobs/${id}`, url))).json()) as { answered: number });
  }
  for (const [path, method] of [
    [`/jobs/${id}/cancel`, 'POST'],
    [`/jobs/${id}`, 'DELETE'],
  ]) {
    const response = await fetch(new URL(path, url), { method });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
  return answered > 0;
}

function p99(latencies: number[]): number {
  const sorted = latencies.sort((a, b) => a - b);
  return sorted[Math.floor(0.99 * sorted.length)];
}
