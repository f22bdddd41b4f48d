import { spawn } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import type { BatchItem, ContainerFrame, InputForm } from '../../containers/protocol/index.js';
import { GpuNodeThread, type ContainerStart } from '../../containers/runtime/index.js';
import { commandFile } from '../../services/cli/index.js';
import { poolFor, type InputPool } from '../inputs/index.js';
import { LoadError } from '../trace/index.js';
import type { HostTimes } from './hostTimes.js';

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
  readonly p50Ms: number;
}

const LARGEST_BATCH = 128;
/** Of each size: the median counts. */
const LEAST_BATCHES = 5;
const LONGEST_MS = 400;
const WARM_BATCHES = 3;
/** Between two batches: of a server that is not busy all the time, caches and threads have gone cold by the next one. */
const PAUSE_MS = 5;
const SECONDS = 2;
/** A load that is no hurry, for the same reason. */
const CALM_RATE = 100;
const CALM_SECONDS = 4;
const ELEMENTS = [8, 784] as const;

/** Measures what this host takes for a query and for batches of kernel models: some seconds, on a machine that does nothing else. */
export async function measureHost(options: MeasureOptions): Promise<HostTimes> {
  const models: Record<string, [number, number][]> = {};
  for (const model of options.models) {
    options.onProgress(`measuring ${model.start.model}`);
    models[model.start.model] = await measureModel(model, options);
  }
  options.onProgress('measuring the frontend');
  const frontend = await measureFrontend(options);
  const [{ model: cpu }] = cpus();
  const host = `${cpu}, ${availableParallelism()} cores, Node ${process.version}`;
  return { format: 1, host, frontend, models };
}

/** On a GPU node's thread, as a server has one. */
async function measureModel(
  { start, form }: MeasuredModel,
  { gpus, seed }: MeasureOptions,
): Promise<[number, number][]> {
  const node = new GpuNodeThread({ gpus });
  try {
    const line = new BatchLine(node.start({ ...start, path: start.container.path }));
    const most = Math.min(LARGEST_BATCH, await line.ready());
    const pool = poolFor(form, { seed }, 1);
    const times: [number, number][] = [];
    // What is hot is what a loaded server runs: the first round is for that.
    for (let size = 1; size <= most; size *= 2) await medianMs(line, pool, size);
    for (let size = 1; size <= most; size *= 2) times.push([size, await medianMs(line, pool, size)]);
    return times;
  } finally {
    await new Promise<void>((resolve) => node.close(resolve));
  }
}

async function medianMs(line: BatchLine, pool: InputPool, size: number): Promise<number> {
  let query = 0;
  const batch = (): Uint8Array[] =>
    Array.from({ length: size }, () => pool.input(pool.size === 0 ? 0 : query % pool.size, query++));
  for (let warm = 0; warm < WARM_BATCHES; warm++) await line.ask(batch());
  const times: number[] = [];
  for (let spent = 0; times.length < LEAST_BATCHES || spent < LONGEST_MS;) {
    const inputs = batch();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const startMs = performance.now();
    await line.ask(inputs);
    const ms = performance.now() - startMs;
    times.push(ms);
    spent += ms;
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}

/** A line to one replica, asked one batch after the other. */
class BatchLine {
  private batch = 0;
  private onResult: (() => void) | undefined;
  private onHello: (most: number) => void = () => undefined;
  private onDown: (error: LoadError) => void = () => undefined;
  private readonly hello: Promise<number>;

  constructor(private readonly channel: ReturnType<GpuNodeThread['start']>) {
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

/** On a server of its own, which has a core of its own where the host has two. */
async function measureFrontend({ ask }: MeasureOptions): Promise<HostTimes['frontend']> {
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
    const busy: number[] = [];
    const calm: number[] = [];
    for (const elements of ELEMENTS) {
      await ask({ url, elements, seconds: SECONDS });
      const before = await cpuSeconds(url);
      const { answers } = await ask({ url, elements, seconds: SECONDS });
      busy.push((((await cpuSeconds(url)) - before) / Math.max(1, answers)) * 1e9);
      calm.push((await ask({ url, elements, seconds: CALM_SECONDS, rate: CALM_RATE })).p50Ms * 1e6);
    }
    const query = lineThrough(ELEMENTS, busy);
    // What a query takes that is alone, beyond what keeps the thread busy: its way, and threads that must wake up.
    const way = lineThrough(
      ELEMENTS,
      calm.map((ns, at) => Math.max(0, ns - busy[at])),
    );
    return {
      queryUs: query.atNone / 1000,
      elementNs: query.each,
      wayUs: way.atNone / 1000,
      wayElementNs: way.each,
    };
  } finally {
    child.kill('SIGTERM');
  }
}

/** Neither part is below zero, whatever the noise. */
function lineThrough(
  [x0, x1]: readonly [number, number],
  [y0, y1]: readonly number[],
): { readonly atNone: number; readonly each: number } {
  const each = Math.max(0, (y1 - y0) / (x1 - x0));
  return { atNone: Math.max(0, y0 - each * x0), each };
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total ([\d.e+-]+)/m.exec(text)?.[1]);
}
