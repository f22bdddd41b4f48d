import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServedProcess } from './servedProcess.js';

interface Prediction {
  readonly output: { readonly version: string; readonly x: number };
  readonly default: boolean;
  readonly default_explanation?: string;
}

interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A model that says which version answered, and that takes a while. */
function moduleOf(version: string, serviceMs: number): string {
  return `export default {
  inputType: 'doubles',
  inputLength: 1,
  maxBatchSize: 32,
  async predict(inputs) {
    await new Promise((resolve) => setTimeout(resolve, ${serviceMs}));
    return inputs.map(([x]) => ({ version: '${version}', x }));
  },
};
`;
}

describe('change under load', () => {
  let folder: string;
  let served: ServedProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-changes-'));
  });
  afterEach(async () => {
    if (served?.hasExited === false) await served.end('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  function send(url: string, method: string, body: unknown, agent?: Agent): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        url,
        { method, agent, headers: { 'content-type': 'application/json' } },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
          );
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async function addVersion(server: ServedProcess, version: string, more: object = {}): Promise<string> {
    const module = join(folder, `v${version}.mjs`);
    writeFileSync(module, moduleOf(version, 5));
    const { status, text } = await server.post(`${server.management}/admin/add_model`, {
      model_name: 'm',
      model_version: version,
      input_type: 'doubles',
      container_name: 'windjammer/process',
      model_data_path: module,
      ...more,
    });
    expect([status, text]).toEqual([200, expect.stringMatching(/^Success!/) as string]);
    return text;
  }

  interface Model {
    readonly replicas_up: number;
    readonly is_serving_version: boolean;
  }
  const model = async (server: ServedProcess, version: string): Promise<Model> =>
    (await server.admin('get_model', { model_name: 'm', model_version: version })) as Model;

  /** Asks again until it holds. */
  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds())) await new Promise((next) => setTimeout(next, 20));
  }

  async function startWithModel(...args: string[]): Promise<ServedProcess> {
    const server = await ServedProcess.start(['--data-dir', join(folder, 'data'), '--no-defaults', ...args]);
    await addVersion(server, '1', { num_replicas: 2 });
    await server.admin('add_app', {
      name: 'app',
      input_type: 'doubles',
      default_output: '"none"',
      latency_slo_micros: 3_000_000,
    });
    await server.admin('add_model_links', { app_name: 'app', model_names: ['m'] });
    await until(async () => (await model(server, '1')).replicas_up === 2);
    return server;
  }

  /** Processes of a version's replicas. */
  function pidsOf(version: string): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(folder, `v${version}.mjs`));
        } catch {
          return false;
        }
      })
      .map(Number);
  }

  /** Clients that ask for batches of four, each one after the other; every answer is looked at. */
  class Clients {
    answered = 0;
    readonly versions = new Set<string>();
    /** What should not be. */
    readonly wrong: string[] = [];
    private isStopped = false;
    private readonly running: Promise<void>[];

    constructor(private readonly server: ServedProcess) {
      this.running = Array.from({ length: 6 }, (_, client) => this.run(client));
    }

    async stop(): Promise<void> {
      this.isStopped = true;
      await Promise.all(this.running);
    }

    /** Until so many more are answered. */
    async more(count: number): Promise<void> {
      const target = this.answered + count;
      await until(() => Promise.resolve(this.answered >= target || this.wrong.length > 0));
    }

    private async run(client: number): Promise<void> {
      const agent = new Agent({ keepAlive: true });
      for (let i = 0; !this.isStopped; i++) {
        const xs = [0, 1, 2, 3].map((k) => client * 1e6 + i * 4 + k);
        const body = { input_batch: xs.map((x) => [x]), strict: true };
        try {
          const { status, text } = await send(`${this.server.query}/app/predict`, 'POST', body, agent);
          this.check(status, text, xs);
        } catch (error) {
          this.wrong.push(String(error));
        }
        this.answered += 1;
      }
      agent.destroy();
    }

    private check(status: number, text: string, xs: readonly number[]): void {
      const { batch_predictions: predictions } = JSON.parse(text) as {
        batch_predictions?: readonly Partial<Prediction>[];
      };
      const outputs = predictions?.map(({ output }) => output);
      const versions = new Set(outputs?.map((output) => output?.version));
      for (const version of versions) this.versions.add(version ?? 'none');
      const isRight = xs.every((x, at) => outputs?.[at]?.x === x);
      if (status !== 200 || versions.size !== 1 || !isRight) this.wrong.push(`${status} ${text}`);
    }
  }

  it('deploys, switches, rolls back, scales, unlinks and deletes with no failed query and no mix of versions in a client batch', async () => {
    served = await startWithModel();
    const server = served;
    const clients = new Clients(server);
    await clients.more(40);
    expect([...clients.versions]).toEqual(['1']);

    expect(await addVersion(server, '2')).toContain("Version '1' answers until a replica of it is up.");
    await until(async () => (await model(server, '2')).is_serving_version);
    await clients.more(40);
    expect([...clients.versions]).toEqual(['1', '2']);

    clients.versions.clear();
    await server.admin('set_model_version', { model_name: 'm', model_version: '1' });
    await clients.more(40);
    expect([...clients.versions].sort().at(0)).toBe('1');
    clients.versions.clear();
    await clients.more(20);
    expect([...clients.versions]).toEqual(['1']);

    await server.admin('delete_versioned_model', { model_name: 'm', model_version: '2' });
    for (const count of [3, 1, 2]) {
      await server.admin('set_num_replicas', { model_name: 'm', model_version: '1', num_replicas: count });
      await until(async () => (await model(server, '1')).replicas_up === count);
      await clients.more(20);
    }
    // Another application comes and goes with its links beside it.
    const other = {
      name: 'other',
      input_type: 'doubles',
      default_output: '0',
      latency_slo_micros: 1_000_000,
    };
    await server.admin('add_app', other);
    await server.admin('add_model_links', { app_name: 'other', model_names: ['m'] });
    await clients.more(20);
    await server.admin('delete_model_links', { app_name: 'other', model_names: ['m'] });
    await server.admin('delete_app', { name: 'other' });
    await clients.more(20);
    await clients.stop();
    expect(clients.wrong).toEqual([]);
    expect(pidsOf('2')).toEqual([]);
  });

  it('keeps its process and every answer while v2 and v3 are deployed and containers are killed', async () => {
    served = await startWithModel();
    const server = served;
    const clients = new Clients(server);
    await clients.more(20);
    for (const version of ['2', '3']) {
      await addVersion(server, version, { num_replicas: 2 });
      await until(async () => (await model(server, version)).replicas_up === 2);
      await clients.more(20);
      for (let kill = 0; kill < 2; kill++) {
        process.kill(pidsOf(version)[0], 'SIGKILL');
        await clients.more(10);
        await until(async () => (await model(server, version)).replicas_up === 2);
      }
    }
    await clients.stop();
    expect(clients.wrong).toEqual([]);
    expect([...clients.versions].sort()).toEqual(['1', '2', '3']);
    expect(server.hasExited).toBe(false);
  });

  it('leaves the old version answering when the new one never comes up, and says so', async () => {
    served = await startWithModel();
    const server = served;
    const clients = new Clients(server);
    const broken = join(folder, 'v2.mjs');
    writeFileSync(broken, 'throw new Error("no weights");');
    const { text } = await server.post(`${server.management}/admin/add_model`, {
      model_name: 'm',
      model_version: '2',
      input_type: 'doubles',
      container_name: 'windjammer/process',
      model_data_path: broken,
    });
    expect(text).toContain("Version '1' answers until a replica of it is up.");
    const replica = async () =>
      (await server.admin('get_container', { model_name: 'm', model_version: '2', replica_id: 0 })) as {
        readonly last_failure?: string;
      };
    await until(async () => (await replica()).last_failure !== undefined);
    expect((await replica()).last_failure).toContain('no weights');
    await clients.more(40);
    await clients.stop();
    expect([clients.wrong, [...clients.versions]]).toEqual([[], ['1']]);
    const ready = async (path: string) => (await send(`${server.query}${path}`, 'GET', undefined)).status;
    expect(await ready('/v2/models/m/ready')).toBe(200);
    expect(await ready('/v2/models/m/versions/2/ready')).toBe(503);
    expect(await ready('/readyz')).toBe(200);
  });

  it('is ready as a server once a model is up, and for each model by its own replicas', async () => {
    served = await ServedProcess.start(['--data-dir', join(folder, 'data'), '--no-defaults']);
    let server = served;
    const ready = async (path: string) => (await send(`${server.query}${path}`, 'GET', undefined)).status;
    // Nothing is registered: nothing to wait for.
    expect(await ready('/readyz')).toBe(200);
    const broken = join(folder, 'v0.mjs');
    writeFileSync(broken, 'throw new Error("no weights");');
    await server.admin('add_model', {
      model_name: 'broken',
      model_version: '0',
      input_type: 'doubles',
      container_name: 'windjammer/process',
      model_data_path: broken,
    });
    await server.end('SIGTERM');
    served = await ServedProcess.start(['--data-dir', join(folder, 'data'), '--no-defaults']);
    server = served;
    expect(await ready('/readyz')).toBe(503);
    expect(await ready('/v2/health/ready')).toBe(503);
    expect(await ready('/healthz')).toBe(200);
    await addVersion(server, '1');
    await until(async () => (await ready('/readyz')) === 200);
    expect(await ready('/v2/models/m/ready')).toBe(200);
    expect(await ready('/v2/models/broken/ready')).toBe(503);
    await server.admin('set_num_replicas', { model_name: 'm', model_version: '1', num_replicas: 0 });
    await until(async () => (await ready('/v2/models/m/ready')) === 503);
    expect(await ready('/readyz')).toBe(200);
    await server.admin('set_num_replicas', { model_name: 'm', model_version: '1', num_replicas: 1 });
    await until(async () => (await ready('/v2/models/m/ready')) === 200);
  });

  it('keeps replicas, scales and the version that answers through a restart', async () => {
    served = await startWithModel();
    await addVersion(served, '2', { min_replicas: 1, max_replicas: 3, warm_up: false });
    const server = served;
    await until(async () => (await model(server, '2')).is_serving_version);
    await served.admin('set_model_version', { model_name: 'm', model_version: '1' });
    const everything = async (of: ServedProcess): Promise<unknown> => ({
      applications: await of.admin('get_all_applications', { verbose: true }),
      // Warm-ups are measured anew.
      models: ((await of.admin('get_all_models', { verbose: true })) as object[]).map((one) => ({
        ...one,
        one_input_micros: undefined,
      })),
      containers: await of.admin('get_all_containers', { verbose: false }),
    });
    const before = await everything(served);
    await served.end('SIGKILL');
    served = await ServedProcess.start(['--data-dir', join(folder, 'data'), '--no-defaults']);
    expect(await everything(served)).toEqual(before);
  });

  it('drains on SIGTERM under 200 requests a second: unready first, what it took answered, later ones told, exit 0 in time', async () => {
    served = await startWithModel('--drain-notice-ms', '400', '--drain-grace-ms', '5000');
    const server = served;
    const events: { readonly atMs: number; readonly kind: string }[] = [];
    const note = (kind: string) => events.push({ atMs: performance.now(), kind });
    let x = 0;
    const open: Promise<void>[] = [];
    const one = async (): Promise<void> => {
      try {
        // A connection each, as a load balancer's next client would.
        const { status, headers } = await send(`${server.query}/app/predict`, 'POST', {
          input: [x++],
          strict: true,
        });
        note(status === 503 && headers.connection !== 'close' ? '503 without close' : String(status));
      } catch (error) {
        note((error as NodeJS.ErrnoException).code ?? String(error));
      }
    };
    const load = setInterval(() => open.push(one()), 5);
    await until(() => Promise.resolve(events.length > 100));
    const readiness = async (): Promise<void> => {
      while (!server.hasExited) {
        try {
          note(`ready ${(await send(`${server.query}/readyz`, 'GET', undefined)).status}`);
        } catch {
          return;
        }
        await new Promise((next) => setTimeout(next, 10));
      }
    };
    const readied = readiness();
    const signalledMs = performance.now();
    const code = await server.end('SIGTERM');
    const tookMs = performance.now() - signalledMs;
    clearInterval(load);
    await Promise.all([...open, readied]);
    served = undefined;
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(400 + 5000);
    const first = (kind: string): number => events.findIndex((event) => event.kind === kind);
    const kinds = [...new Set(events.map(({ kind }) => kind))].sort();
    expect(kinds).toEqual(
      ['200', '503', 'ECONNREFUSED', 'ECONNRESET', 'ready 200', 'ready 503'].filter((kind) =>
        kinds.includes(kind),
      ),
    );
    // Unready, then refusing, then gone.
    expect(first('ready 503')).toBeGreaterThan(-1);
    expect(first('503')).toBeGreaterThan(first('ready 503'));
    // Reset: the kernel had taken a connection that the process had not when it closed its port.
    for (const gone of ['ECONNREFUSED', 'ECONNRESET'].map(first))
      if (gone >= 0) expect(gone).toBeGreaterThan(first('503'));
    // Answers went on between the two.
    const between = events.slice(first('ready 503'), first('503'));
    expect(between.filter(({ kind }) => kind === '200').length).toBeGreaterThan(10);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops at %s while its first replicas are still loading',
    async (signal) => {
      const module = join(folder, 'loading.mjs');
      const marker = join(folder, 'started');
      const loads = `await new Promise((resolve) => setTimeout(resolve, 3_600_000));`;
      const text = moduleOf('1', 0).replace('maxBatchSize', `async load() { ${loads} },\n  maxBatchSize`);
      writeFileSync(
        module,
        `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(marker)}, '');\n${text}`,
      );
      const args = ['--data-dir', join(folder, 'data'), '--no-defaults'];
      served = await ServedProcess.start(args);
      await served.admin('add_model', {
        model_name: 'm',
        model_version: '1',
        input_type: 'doubles',
        container_name: 'windjammer/process',
        model_data_path: module,
        start_timeout_ms: 3_600_000,
      });
      await served.end('SIGKILL');
      rmSync(marker, { force: true });
      served = undefined;
      const again = new ServedProcess(args);
      await until(() => Promise.resolve(existsSync(marker)));
      expect(await again.end(signal)).toBe(0);
    },
  );

  it('stops at once at the second signal', async () => {
    served = await startWithModel('--drain-notice-ms', '600000');
    const server = served;
    server.signal('SIGTERM');
    const status = async () => (await send(`${server.query}/readyz`, 'GET', undefined)).status;
    await until(async () => (await status()) === 503);
    // Within half a second it counts as the same signal, which npm passes on.
    await new Promise((next) => setTimeout(next, 600));
    expect(await server.end('SIGTERM')).toBe(130);
    served = undefined;
  });
});
