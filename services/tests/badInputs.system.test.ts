import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocketClient } from '../client/index.js';
import { ServedProcess } from './servedProcess.js';

const OBJECTIVE_US = 250_000;
const LENGTH_MS = 400;
const ROUNDS = 3;

/** Models that throw for a batch with an input below 0 in it, and what their batches cost. */
const MODELS = {
  batch: `async predict(xs) { if (xs.some((x) => x[0] < 0)) throw new RangeError('below 0'); await sleep(20); return xs.map((x) => x[0]); }`,
  input: `predict(xs) { return xs.map((x) => { if (x[0] < 0) throw new RangeError('below 0'); spin(0.3); return x[0]; }); }`,
  both: `predict(xs) { for (const x of xs) if (x[0] < 0) throw new RangeError('below 0'); spin(2 + 0.1 * xs.length); return xs.map((x) => x[0]); }`,
};

let folder: string;
let served: ServedProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'windjammer-bad-inputs-'));
  served = await ServedProcess.start(['--ephemeral', '--no-defaults']);
  for (const [name, predict] of Object.entries(MODELS)) {
    const module = join(folder, `${name}.mjs`);
    writeFileSync(
      module,
      `const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
       const spin = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
       export default { inputType: 'doubles', ${predict} };`,
    );
    await served.admin('add_app', {
      name,
      input_type: 'doubles',
      default_output: 'none',
      latency_slo_micros: OBJECTIVE_US,
    });
    await served.admin('add_model', {
      model_name: name,
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/process',
      model_data_path: module,
    });
    await served.admin('add_model_links', { app_name: name, model_names: [name] });
    await vi.waitUntil(async () => {
      const { json } = await served.post(`${served.query}/${name}/predict`, { input: [0] });
      return !(json as { default: boolean }).default;
    }, 30_000);
  }
}, 60_000);
afterAll(async () => {
  await served.end('SIGTERM');
  rmSync(folder, { recursive: true });
});

/** So many queries under way all the time, of which one in `badEvery` is bad. @returns good answers a second. */
class Load {
  private static loads = 0;
  private readonly number = ++Load.loads;
  answered = 0;
  wrong = 0;
  private next = 1;
  private isOver = false;

  constructor(
    private readonly client: WebSocketClient,
    private readonly application: string,
    private readonly badEvery: number,
  ) {}

  async run(inFlight: number): Promise<void> {
    await Promise.all(Array.from({ length: inFlight }, () => this.keepAsking()));
  }

  stop(): void {
    this.isOver = true;
  }

  private async keepAsking(): Promise<void> {
    while (!this.isOver) {
      const at = this.next++;
      const isBad = at % this.badEvery === 0;
      // No input twice: none comes from the cache.
      const input = (isBad ? -1 : 1) * (this.number * 1e7 + at);
      const answer = await this.client.predict(this.application, [input]);
      if (isBad && !answer.isDefault) this.wrong += 1;
      if (!isBad && !answer.isDefault) {
        if (answer.output === input) this.answered += 1;
        else this.wrong += 1;
      }
    }
  }
}

/** Good answers of the first of the loads. */
async function goodput(
  application: string,
  ...kinds: readonly { badEvery: number; inFlight: number }[]
): Promise<number> {
  const clients = await Promise.all(kinds.map(() => WebSocketClient.connect(served.query)));
  const loads = kinds.map(({ badEvery }, at) => new Load(clients[at], application, badEvery));
  const runs = Promise.all(loads.map((load, at) => load.run(kinds[at].inFlight)));
  await new Promise((resolve) => setTimeout(resolve, LENGTH_MS));
  const [{ answered }] = loads;
  for (const load of loads) load.stop();
  await runs;
  await Promise.all(clients.map((client) => client.close()));
  expect(loads.map(({ wrong }) => wrong)).toEqual(loads.map(() => 0));
  return answered;
}

const GOOD = { badEvery: Infinity, inFlight: 64 };
const MIXED = { badEvery: 5, inFlight: 64 };
const BAD = { badEvery: 1, inFlight: 16 };

describe('good inputs beside bad ones that predict throws for', () => {
  // What else the machine does can only make it less: a mechanism that is missing fails each time.
  it.each(Object.keys(MODELS))(
    'keep half of their throughput where it costs by %s',
    { retry: 2 },
    async (name) => {
      await goodput(name, GOOD);
      let [alone, mixed, beside] = [0, 0, 0];
      // By turns, so that a slow moment is everybody's.
      for (let round = 0; round < ROUNDS; round++) {
        alone += await goodput(name, GOOD);
        mixed += await goodput(name, MIXED);
        beside += await goodput(name, GOOD, BAD);
      }
      const told = `${name}: alone ${alone}, mixed ${mixed} (${(mixed / alone).toFixed(2)}), beside ${beside} (${(beside / alone).toFixed(2)})`;
      if (process.env['WINDJAMMER_TELL'] !== undefined) console.log(told);
      expect(mixed / alone, told).toBeGreaterThan(0.5);
      expect(beside / alone, told).toBeGreaterThan(0.5);
    },
  );
});
