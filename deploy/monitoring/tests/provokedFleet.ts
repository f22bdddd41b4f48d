import { Queue } from 'bullmq';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newKeyText } from '../../../services/access/index.js';
import { keyPrefix, openRedis, redisAddress } from '../../../services/redis/index.js';
import { RedisServer } from '../../../services/redis/tests/redisServer.js';
import type { ScrapeTarget } from '../../../services/telemetry/tests/prometheusServer.js';
import { NodeProcess } from '../../../services/tests/nodeProcess.js';
import { ServedProcess } from '../../../services/tests/servedProcess.js';

/** Ends with the input `end`, and then whenever it is started. */
const UNRULY = `
import { existsSync, writeFileSync } from 'node:fs';
const BROKEN = new URL('broken', import.meta.url);
if (existsSync(BROKEN)) process.exit(3);
export default { inputType: 'strings', predictOne: (text) => {
  if (text === 'end') { writeFileSync(BROKEN, ''); process.exit(3); }
  return text;
} };
`;

/** Takes 60 ms for each input. */
const SLOW = `
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export default { inputType: 'doubles', predictOne: async ([value]) => { await pause(60); return String(value); } };
`;

/** Takes 40 ms for each input. */
const STEADY = SLOW.replace('pause(60)', 'pause(40)');

/** Takes 20 ms for most inputs, and longer than anybody waits for a few. */
const MOODY = SLOW.replace('pause(60)', 'pause(value % 30 === 0 ? 300 : 20)');

/** Of the server that asks for keys. */
const MOST_CONNECTIONS = 4;

const CERTIFICATES = 'services/http/tests/certificates';

/** Servers of every kind, under a load that none minds, and what goes wrong with them. */
export class ProvokedFleet {
  private readonly loads: Promise<void>[] = [];
  private isEnding = false;
  private isHeldUp = false;
  private fresh = 0;

  private constructor(
    private readonly folder: string,
    /** Of its own, so that it can be filled; where the system lets us mount one. */
    private readonly disk: string | undefined,
    private readonly redis: RedisServer,
    /** Simulates GPUs, on which faults strike. */
    readonly gpu: ServedProcess,
    /** Of a cluster with `node`, over Redis. */
    readonly frontend: ServedProcess,
    private readonly node: NodeProcess,
    /** Asks for keys, over TLS. */
    private readonly secure: ServedProcess,
    private readonly key: string,
  ) {}

  static async start(): Promise<ProvokedFleet> {
    const folder = mkdtempSync(join(tmpdir(), 'windjammer-monitoring-'));
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]).status === 0;
    const redis = await RedisServer.start({ isDurable: false });
    const key = newKeyText();
    writeFileSync(join(folder, 'admin'), key, { mode: 0o600 });
    const [cert, certKey] = ['cert.pem', 'key.pem'].map((name) => join(folder, name));
    copyFileSync(join(CERTIFICATES, 'server.pem'), cert);
    copyFileSync(join(CERTIFICATES, 'server-key.pem'), certKey);
    const gpu = new ServedProcess([
      ...[
        '--data-dir',
        join(disk, 'data'),
        '--faults',
        '1,0.05',
        '--recovery',
        'verdicts',
        '--scheduling',
        'klevel',
        '--gpus',
        'k20c',
      ],
      // Nobody takes the spans there: queries are traced all the same.
      ...['--otlp-endpoint', 'http://127.0.0.1:9'],
    ]);
    const secure = new ServedProcess([
      ...['--ephemeral', '--no-defaults', '--tls-cert', cert, '--tls-key', certKey],
      ...['--require-keys', '--admin-key-file', join(folder, 'admin')],
      ...['--max-connections', String(MOST_CONNECTIONS)],
    ]);
    const node = new NodeProcess('node-a', ['--join', redis.url, '--gpus', 'none']);
    const frontend = new ServedProcess([
      ...['--store', redis.url, '--only-nodes', '--no-defaults', '--data-dir', join(folder, 'frontend')],
      // The least that there may be.
      ...['--feedback-spool-mib', '0.0009765625'],
    ]);
    const mounted = isMounted ? disk : undefined;
    const fleet = new ProvokedFleet(folder, mounted, redis, gpu, frontend, node, secure, key);
    try {
      for (const one of [gpu, secure, node, frontend]) await one.ready();
    } catch (error) {
      await fleet.stop();
      throw error;
    }
    return fleet;
  }

  get targets(): readonly ScrapeTarget[] {
    return [
      { name: 'gpus', address: new URL(this.gpu.query).host },
      { name: 'frontend', address: new URL(this.frontend.query).host },
      { name: 'secure', address: new URL(this.secure.query).host, isSecure: true, key: this.key },
    ];
  }

  get canFillDisk(): boolean {
    return this.disk !== undefined;
  }

  /** Registers what is asked and broken later, and asks what none minds. */
  async calm(): Promise<void> {
    const { gpu, frontend, folder } = this;
    writeFileSync(join(folder, 'unruly.mjs'), UNRULY);
    writeFileSync(join(folder, 'slow.mjs'), SLOW);
    writeFileSync(join(folder, 'steady.mjs'), STEADY);
    writeFileSync(join(folder, 'moody.mjs'), MOODY);
    await register(gpu, 'unruly', 'strings', 10_000, {
      container_name: 'windjammer/process',
      model_data_path: join(folder, 'unruly.mjs'),
    });
    await register(gpu, 'slow', 'doubles', 60_000, {
      container_name: 'windjammer/process',
      model_data_path: join(folder, 'slow.mjs'),
      batch_size: 1,
    });
    await register(gpu, 'moody', 'doubles', 100, {
      container_name: 'windjammer/process',
      model_data_path: join(folder, 'moody.mjs'),
    });
    await register(frontend, 'steady', 'doubles', 200, {
      container_name: 'windjammer/process',
      model_data_path: join(folder, 'steady.mjs'),
    });
    const urgent = { input_type: 'floats', default_output: '-1', latency_slo_micros: 500_000 };
    await gpu.admin('add_app', { ...urgent, name: 'urgent', launch_class: 'critical' });
    await gpu.admin('add_model_links', { app_name: 'urgent', model_names: ['digits-mlp'] });
    const idle = { name: 'idle', input_type: 'doubles', default_output: '-1', latency_slo_micros: 100_000 };
    await gpu.admin('add_app', idle);
    // Of the model that is asked for more than it can take, with less time than it takes then.
    await gpu.admin('add_app', { ...idle, name: 'hasty' });
    await gpu.admin('add_model_links', { app_name: 'hasty', model_names: ['slow'] });
    await register(frontend, 'shared', 'doubles', 5_000_000 / 1000, {
      container_name: 'windjammer/constant',
      output: '1',
    });
    this.load(async () => {
      await this.predict(gpu, 'noop', [this.fresh++ % 50]);
      await this.judged(frontend, 'shared');
      await this.judged(gpu, 'noop');
    });
  }

  /** Asks again and again, until the end. */
  load(turn: () => Promise<unknown>): void {
    this.loads.push(this.repeat(turn));
  }

  /** Whoever asks is answered, or not: servers go away. */
  async predict(at: ServedProcess, application: string, input: unknown): Promise<string> {
    try {
      const { json } = await at.post(`${at.query}/${application}/predict`, { input });
      return (json as { readonly query_id?: string } | undefined)?.query_id ?? '';
    } catch {
      return '';
    }
  }

  async judged(at: ServedProcess, application: string, input: unknown = [this.fresh++]): Promise<void> {
    const id = await this.predict(at, application, input);
    await at.post(`${at.query}/${application}/update`, { query_id: id, label: '1' }).catch(() => undefined);
  }

  /** Digits for applications of two classes, and what is refused. */
  loadGpus(): void {
    this.load(() => this.predict(this.gpu, 'urgent', this.digit()));
    this.load(() => this.judged(this.gpu, 'digits', this.digit()));
    this.load(async () => {
      await this.predict(this.gpu, 'digits', 'rubbish');
      await this.predict(this.gpu, 'nobody', [1]);
      await pause(100);
    });
  }

  /** Each is new: the cache spares the GPU none. */
  private digit(): readonly number[] {
    const number = this.fresh++;
    return Array.from({ length: 784 }, (_, at) =>
      at < 4 ? ((number >> (4 * at)) % 16) / 16 : (at % 17) / 17,
    );
  }

  /** An application without models. */
  loadIdle(): void {
    this.load(() => this.predict(this.gpu, 'idle', [1]));
  }

  /** More than the model takes, from one who waits and one who does not. */
  loadSlow(): void {
    for (let client = 0; client < 12; client++) {
      this.load(() => this.predict(this.gpu, 'slow', [this.fresh++]));
      this.load(() => this.predict(this.gpu, 'hasty', [this.fresh++]));
    }
  }

  /** A model that mostly keeps its objective. */
  loadMoody(): void {
    this.load(() => this.predict(this.gpu, 'moody', [this.fresh++]));
  }

  /** Of a frontend that stands still again and again, as where the host lacks processors, until `letGo`. */
  holdUp(): void {
    this.isHeldUp = true;
    for (let client = 0; client < 2; client++) {
      this.load(() => this.predict(this.frontend, 'steady', [this.fresh++]));
    }
    this.load(async () => {
      if (!this.isHeldUp || this.frontend.hasExited) return;
      this.frontend.signal('SIGSTOP');
      await pause(400);
      this.frontend.signal('SIGCONT');
      await pause(600);
    });
  }

  letGo(): void {
    this.isHeldUp = false;
  }

  /** A model that ends, and ends each time that it is started; a job for it, and such as are done. */
  async breakModel(): Promise<void> {
    await this.predict(this.gpu, 'unruly', 'end');
    await this.job('unruly', ['a', 'b']);
    await this.job(
      'noop',
      Array.from({ length: 20_000 }, (_, at) => [at]),
    );
    await this.job(
      'digits',
      Array.from({ length: 600 }, () => this.digit()),
    );
  }

  private async job(application: string, inputs: readonly unknown[]): Promise<void> {
    const jobs = await fetch(`${this.gpu.query}/jobs?application=${application}`, {
      method: 'POST',
      headers: { 'content-type': 'application/jsonl' },
      body: inputs.map((input) => `${JSON.stringify({ input })}\n`).join(''),
    });
    if (!jobs.ok) throw new Error(await jobs.text());
  }

  /** Something that is no feedback, among what is queued. */
  async spoilFeedback(): Promise<void> {
    const queue = this.feedbackQueue();
    await queue.add('x', { anything: 1 }, { jobId: 'bad' });
    await queue.close();
  }

  /** Whoever learns gets nothing more. */
  async holdFeedback(): Promise<void> {
    const queue = this.feedbackQueue();
    await queue.pause();
    await queue.close();
  }

  async killNode(): Promise<void> {
    await this.node.end('SIGKILL');
  }

  /** It stands still first, with a change under way. */
  async killRedis(): Promise<void> {
    process.kill(this.redis.pid, 'SIGSTOP');
    const change = this.frontend.admin('set_app', { name: 'shared', default_output: '-2' });
    change.catch(() => undefined);
    await pause(1500);
    await this.redis.kill();
  }

  fillDisk(): void {
    if (this.disk === undefined) return;
    const { bavail, bsize } = statfsSync(this.disk);
    // Nearly: a full one is something else.
    writeFileSync(join(this.disk, 'hog'), Buffer.alloc(bavail * bsize - 4 * 2 ** 20));
  }

  /** In the place of the certificate one that ends soon. */
  replaceCertificate(): void {
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(this.folder, name));
    const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '3'];
    const { status, stderr } = spawnSync('openssl', [...words, '-keyout', key, '-out', cert]);
    if (status !== 0) throw new Error(stderr.toString());
    this.secure.signal('SIGHUP');
  }

  /** More than there is room for, and somebody without a key. */
  async knock(): Promise<void> {
    const { hostname, port } = new URL(this.secure.query);
    const sockets = Array.from({ length: 5 * MOST_CONNECTIONS }, () => connect(Number(port), hostname));
    for (const socket of sockets) socket.on('error', () => undefined);
    await Promise.all(sockets.slice(MOST_CONNECTIONS).map((socket) => once(socket, 'close')));
    for (const socket of sockets) socket.destroy();
    const url = `${this.secure.query}/metrics`;
    await new Promise<void>((resolve, reject) => {
      request(url, { rejectUnauthorized: false }, (response) => response.resume().on('end', resolve))
        .on('error', reject)
        .end();
    });
  }

  async killServer(): Promise<void> {
    await this.gpu.end('SIGKILL');
  }

  async stop(): Promise<void> {
    this.isEnding = true;
    await Promise.all(this.loads);
    for (const one of [this.gpu, this.frontend, this.secure, this.node]) {
      if (!one.hasExited) await one.end('SIGKILL');
    }
    await this.redis.stop();
    if (this.disk !== undefined) spawnSync('umount', [this.disk]);
    rmSync(this.folder, { recursive: true });
  }

  private feedbackQueue(): Queue {
    const connection = openRedis(redisAddress(this.redis.url), {
      name: 'test',
      kind: 'command',
      onError: () => undefined,
    });
    return new Queue('feedback', { connection, prefix: keyPrefix('windjammer') });
  }

  private async repeat(turn: () => Promise<unknown>): Promise<void> {
    while (!this.isEnding) {
      await turn();
      await pause(20);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function register(
  at: ServedProcess,
  name: string,
  input_type: string,
  objectiveMs: number,
  model: object,
): Promise<void> {
  const application = { input_type, default_output: '-1', latency_slo_micros: objectiveMs * 1000 };
  await at.admin('add_app', { name, ...application });
  await at.admin('add_model', { model_name: name, model_version: '1', input_type, ...model });
  await at.admin('add_model_links', { app_name: name, model_names: [name] });
}
