import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { commandFile } from '../../services/cli/index.js';
import type { WatchedHeap } from './heapWatch.js';
import type { Bench, Measured, Row } from './rows.js';

const NODES = 8;
const GPUS = ['h200', 'h200', 'h200', 'h200'];
const REPLICAS = 1000;
const FIXED_MS = 2;
/** Of the heap from the second quarter of a replay to the last: rounding, and code that is compiled late. */
const FLAT = 1.1;
/** How much of the figure's ten million queries is replayed unless `BENCH_QUERIES` says otherwise. */
const SAMPLE = 1_000_000;

/** Whole fleets in virtual time: what a query costs the host. */
export const FLEET_ROWS: readonly Row[] = [
  { name: 'fleet', group: 'cluster', run: async (bench) => [await fleet(bench)] },
];

/** One that is idle for the most part, and one of which every replica is at work. */
const LOADS = [
  { what: 'mostly idle', perSecond: 10_000 },
  { what: 'all busy', perSecond: 2_000_000 },
];

async function fleet({ file }: Bench): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-bench-'));
  try {
    const config = join(folder, 'fleet.json');
    writeFileSync(config, JSON.stringify(configuration()));
    const checks = [];
    for (const { what, perSecond } of LOADS) {
      const { queries, errors, cpuSeconds, heapBytes } = await replayed(
        config,
        perSecond,
        file('heapWatch.js'),
      );
      const which = `replay of ${NODES} x ${GPUS.length} GPUs, ${REPLICAS} replicas, ${what}`;
      checks.push(
        {
          what: `${which}: queries a minute of CPU`,
          figure: (60 * queries) / cpuSeconds,
          bound: 'atLeast',
          floor: 2_000_000,
          unit: '/min',
          errors,
        } as const,
        {
          what: `${which}: heap at the end over after its beginning`,
          figure: growth(heapBytes),
          bound: 'atMost',
          floor: FLAT,
          unit: 'x',
          errors: 0,
        } as const,
      );
    }
    return { title: `a fleet in virtual time, ${queriesAsked()} queries`, sides: [], checks };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function queriesAsked(): number {
  const given = process.env['BENCH_QUERIES'] ?? String(SAMPLE);
  if (!/^[1-9]\d{3,9}$/.test(given)) {
    throw new Error(`BENCH_QUERIES must be a whole number from 1000, not '${given}'`);
  }
  return Number(given);
}

async function replayed(config: string, perSecond: number, watch: string) {
  const seconds = queriesAsked() / perSecond;
  const child = spawn(
    process.execPath,
    [
      ...['--expose-gc', '--import', watch, commandFile(), 'replay', '--config', config],
      ...['--trace', `poisson:${perSecond}`, '--duration', String(seconds)],
    ],
    { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] },
  );
  const [result, report] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stdio[3] as Readable),
    once(child, 'exit'),
  ]);
  const { arrivals, predictions } = JSON.parse(result) as { arrivals: number; predictions: number };
  const watched = JSON.parse(report) as WatchedHeap;
  return { queries: arrivals, errors: arrivals - predictions, ...watched };
}

/** Medians of a stretch at the end over one after the memory of queries and the cache are full. */
function growth(heapBytes: readonly number[]): number {
  const quarter = Math.floor(heapBytes.length / 4);
  return median(heapBytes.slice(-quarter)) / median(heapBytes.slice(quarter, 2 * quarter));
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function configuration() {
  const [application, model] = ['fleet', 'constant'];
  return {
    applications: [
      {
        name: application,
        input_type: 'floats',
        default_output: '-',
        latency_slo_micros: 100_000,
        linked_models: [model],
      },
    ],
    models: [
      {
        model_name: model,
        model_version: '1',
        input_type: 'floats',
        container_name: 'windjammer/synthetic',
        synthetic: { fixed_ms: FIXED_MS, item_ms: 0.05, output: '1' },
        replicas: REPLICAS,
      },
    ],
    gpus: GPUS,
    nodes: NODES,
  };
}
