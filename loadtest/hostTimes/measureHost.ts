import { spawn } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type {
  BatchItem,
  ContainerChannel,
  ContainerFrame,
  InputForm,
} from '../../containers/protocol/index.js';
import { ContainerRuntime, GpuNodeThread, type ContainerStart } from '../../containers/runtime/index.js';
import { commandFile } from '../../services/cli/index.js';
import { poolFor, textBytes, type InputPool } from '../inputs/index.js';
import { PacedClock } from '../../simulator/time/index.js';
import { LoadError } from '../trace/index.js';
import { SHARES, timesOf, type HostTimes, type TimesByPause } from './hostTimes.js';

/** A model whose batches are to be measured. */
export interface MeasuredModel {
  readonly start: ContainerStart & {
    readonly container: { readonly kind: 'kernelModel'; readonly path: string };
  };
  readonly form: InputForm;
}

export interface MeasureOptions {
  readonly models: readonly MeasuredModel[];
  readonly gpus: readonly string[];
  readonly seed: number;
  /** Asks the application `noop` over HTTP, with inputs of so many elements: so many a second, or as many as it answers. */
  readonly ask: (load: {
    readonly url: string;
    readonly elements: number;
    readonly seconds: number;
    readonly rate?: number;
  }) => Promise<AskedLoad>;
  readonly onProgress: (text: string) => void;
}

/** What asking has measured. */
export interface AskedLoad {
  readonly answers: number;
  /** What a query and its answer keep the thread busy that asks. */
  readonly busyMs: number;
  /** The latency that a share of the answers had, or less. */
  readonly quantileMs: (share: number) => number;
}

const LARGEST_BATCH = 128;
/** Of each size and pause. */
const LEAST_BATCHES = 10;
const MOST_BATCHES = 100;
/** Those of more items vary less. */
const SMALL_SIZE = 4;
const MOST_LARGE_BATCHES = 30;
const LONGEST_MS = 400;
const WARM_BATCHES = 3;
/** Between two batches, or two queries: of a server that is not busy all the time, caches and threads have gone cold by the next one. */
const PAUSES_MS = [1, 5, 25];
const SECONDS = 2;
const CALM_SECONDS = 6;
/** As long as a server under load has run before anything is measured of it: its code is compiled by then. */
const WARM_SECONDS = 10;
const WARM_MS = 3000;
/** Of latencies, the share of those below which no query can have been busy for longer. */
const LEAST_SHARE = 0.1;
const ELEMENTS = [8, 784] as const;
/** A model that answers at once. */
const IMMEDIATE = fileURLToPath(new URL('immediateModel.js', import.meta.url));

/** Measures what this host takes for a query, for the way to a process, and for batches of kernel models: a minute or two, on a machine that does nothing else. */
export async function measureHost(options: MeasureOptions): Promise<HostTimes> {
  const models: HostTimes['models'] = {};
  for (const model of options.models) {
    options.onProgress(`measuring ${model.start.model}`);
    models[model.start.model] = await measureModel(model, options);
  }
  options.onProgress('measuring a process');
  const process = await measureProcess(options.seed);
  options.onProgress('measuring the frontend');
  const frontend = await measureFrontend(options);
  const [{ model: cpu }] = cpus();
  const host = `${cpu}, ${availableParallelism()} cores, Node ${globalThis.process.version}`;
  return { format: 2, host, shares: [...SHARES], frontend, process, models };
}

/** On a GPU node's thread, as a server has one. */
async function measureModel(
  { start, form }: MeasuredModel,
  { gpus, seed }: MeasureOptions,
): Promise<HostTimes['models'][string]> {
  const node = new GpuNodeThread({ gpus });
  try {
    const line = new BatchLine(node.start({ ...start, path: start.container.path }));
    const most = Math.min(LARGEST_BATCH, await line.ready());
    const pool = poolFor(form, { seed }, 1);
    const sizes: HostTimes['models'][string] = [];
    // What is hot is what a loaded server runs: this is for that.
    const warmUntilMs = performance.now() + WARM_MS;
    while (performance.now() < warmUntilMs) await batchTimes(line, pool, 1, 0);
    for (let size = 1; size <= most; size *= 2) await batchTimes(line, pool, size, 0);
    for (let size = 1; size <= most; size *= 2) {
      sizes.push({ items: size, times: await timesByPause(line, pool, size) });
    }
    return sizes;
  } finally {
    await new Promise<void>((resolve) => node.close(resolve));
  }
}

async function measureProcess(seed: number): Promise<TimesByPause> {
  const clock = new PacedClock();
  const runtime = new ContainerRuntime({ clock, nodes: [] });
  try {
    const identity = { model: 'immediate', version: '1', replica: '0', inputType: 'doubles' as const };
    const line = new BatchLine(
      runtime.start({ ...identity, container: { kind: 'process', path: IMMEDIATE } }),
    );
    await line.ready();
    const pool = poolFor({ type: 'doubles', length: 1 }, { seed }, 1);
    await batchTimes(line, pool, 1, 0, 2000);
    return await timesByPause(line, pool, 1);
  } finally {
    await new Promise<void>((resolve) => runtime.close(resolve));
    clock.close();
  }
}

async function timesByPause(line: BatchLine, pool: InputPool, size: number): Promise<TimesByPause> {
  const all: { pauseMs: number; ms: number[] }[] = [];
  for (const pauseMs of PAUSES_MS) {
    all.push({ pauseMs, ms: timesOf(await batchTimes(line, pool, size, pauseMs)) });
  }
  return all;
}

async function batchTimes(
  line: BatchLine,
  pool: InputPool,
  size: number,
  pauseMs: number,
  most = size > SMALL_SIZE ? MOST_LARGE_BATCHES : MOST_BATCHES,
): Promise<number[]> {
  let query = 0;
  const batch = (): Uint8Array[] =>
    Array.from({ length: size }, () => pool.input(pool.size === 0 ? 0 : query % pool.size, query++));
  for (let warm = 0; warm < WARM_BATCHES; warm++) await line.ask(batch());
  const times: number[] = [];
  for (let spent = 0; times.length < LEAST_BATCHES || (spent < LONGEST_MS && times.length < most);) {
    const inputs = batch();
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const startMs = performance.now();
    await line.ask(inputs);
    const ms = performance.now() - startMs;
    times.push(ms);
    spent += ms;
  }
  return times;
}

/** A line to one replica, asked one batch after the other. */
class BatchLine {
  private batch = 0;
  private onResult: (() => void) | undefined;
  private onHello: (most: number) => void = () => undefined;
  private onDown: (error: LoadError) => void = () => undefined;
  private readonly hello: Promise<number>;

  constructor(private readonly channel: ContainerChannel) {
    this.hello = new Promise((resolve, reject) => {
      this.onHello = resolve;
      this.onDown = reject;
    });
    channel.open({ onFrame: (frame) => this.onFrame(frame) });
  }

  /** The largest batch that it takes. */
  ready(): Promise<number> {
    return this.hello;
  }

  ask(inputs: readonly Uint8Array[]): Promise<void> {
    const items = inputs.map((bytes, id): BatchItem => ({ id, bytes, budgetNs: 60e9 }));
    return new Promise((resolve, reject) => {
      this.onResult = resolve;
      this.onDown = reject;
      this.channel.send({ kind: 'predict', batchId: this.batch++, items });
    });
  }

  private onFrame(frame: ContainerFrame): void {
    if (frame.kind === 'hello') this.onHello(frame.maxBatchSize);
    else if (frame.kind === 'result') this.onResult?.();
    else if (frame.kind === 'down')
      this.onDown(new LoadError('--host-times', `the model went down: ${frame.reason}`));
  }
}

/** What was seen of queries that come after a pause. */
interface Calm {
  readonly pauseMs: number;
  readonly asked: AskedLoad;
}

/** What was seen of queries of one size. */
interface SizeOfQuery {
  readonly bytes: number;
  readonly calm: readonly Calm[];
  /** What one keeps the server busy, and who asks. */
  readonly queryMs: number;
  readonly clientMs: number;
}

/** What kept both busy while nobody waited for it is left out: a processor's time has that of threads beside, and no query waits for more than its latency. */
function busyOf(asked: AskedLoad, queryMs: number): Pick<SizeOfQuery, 'queryMs' | 'clientMs'> {
  const clientMs = asked.busyMs;
  const part = Math.min(1, asked.quantileMs(LEAST_SHARE) / (queryMs + clientMs));
  return { queryMs: queryMs * part, clientMs: clientMs * part };
}

/** What a query takes that is alone, beyond what keeps threads busy: its way, and threads that must wake up. */
function wayMs({ queryMs, clientMs }: SizeOfQuery, { asked }: Calm, share: number): number {
  return Math.max(0, asked.quantileMs(share) - queryMs - clientMs);
}

/** On a server of its own, which has a core of its own where the host has two. */
async function measureFrontend({ ask, seed }: MeasureOptions): Promise<HostTimes['frontend']> {
  const child = spawn(
    process.execPath,
    [commandFile(), 'serve', '--ephemeral', '--port', '0', '--management-port', '0'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (piece: Buffer) => {
        text += piece.toString();
        const [, found] = /serves on (\S+), /.exec(text) ?? [];
        if (found !== undefined && text.includes('Ctrl-C')) resolve(found);
      });
      child.once('exit', () =>
        reject(new LoadError('--host-times', `no server could be started to measure:\n${text}`)),
      );
    });
    const idle = await cpuPerSecond(url);
    const all: SizeOfQuery[] = [];
    for (const elements of ELEMENTS) {
      await ask({ url, elements, seconds: WARM_SECONDS });
      const calm: Calm[] = [];
      let queryMs: number | undefined;
      for (const pauseMs of PAUSES_MS) {
        const before = await cpuSeconds(url);
        const asked = await ask({ url, elements, seconds: CALM_SECONDS, rate: 1000 / pauseMs });
        const cpu = (await cpuSeconds(url)) - before - idle * CALM_SECONDS;
        // After the shortest pause, while threads are at it: what is cold is counted as their waking up.
        queryMs ??= Math.max(0, (cpu / Math.max(1, asked.answers)) * 1e3);
        calm.push({ pauseMs, asked });
      }
      const form: InputForm = { type: 'doubles', length: elements };
      const bytes = textBytes('doubles', poolFor(form, { seed }, 1).input(0, 0));
      all.push({ bytes, calm, ...busyOf(calm[0].asked, queryMs ?? 0) });
    }
    const bytes = all.map((one) => one.bytes);
    const line = (of: (size: SizeOfQuery) => number) => lineThrough(bytes, all.map(of));
    const client = line(({ clientMs }) => clientMs);
    const query = line(({ queryMs }) => queryMs);
    const way = line((size) => mean(size.calm.map((one) => wayMs(size, one, 0.5))));
    return {
      clientUs: client.atNone * 1e3,
      clientByteNs: client.each * 1e6,
      queryUs: query.atNone * 1e3,
      byteNs: query.each * 1e6,
      way: all[0].calm.map((one) => ({
        pauseMs: one.pauseMs,
        ms: SHARES.map((share) => wayMs(all[0], one, share)),
      })),
      wayByteNs: way.each * 1e6,
    };
  } finally {
    child.kill('SIGTERM');
  }
}

/** Neither part is below zero, whatever the noise. */
function lineThrough(
  [x0, x1]: readonly number[],
  [y0, y1]: readonly number[],
): { readonly atNone: number; readonly each: number } {
  const each = Math.max(0, (y1 - y0) / (x1 - x0));
  return { atNone: Math.max(0, y0 - each * x0), each };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Of a server that nobody asks. */
async function cpuPerSecond(url: string): Promise<number> {
  const before = await cpuSeconds(url);
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
  return ((await cpuSeconds(url)) - before) / SECONDS;
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total ([\d.e+-]+)/m.exec(text)?.[1]);
}
