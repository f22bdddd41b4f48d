/**
 * What a tile of a warp's matrix products costs the executor: microseconds of the compiler's function and of the model in plain code, and
 * of a C loop over a tile of the same shape, of floats on f32 as a program without tensor cores has it.
 * Usage: node dist/loadtest/bench/tiles/main.js [--json]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../simulator/files/index.js';
import { CompiledTile, computeTile, drawnTile } from '../../../simulator/laboratory/tensor/index.js';
import {
  fittedModel,
  productForm,
  type ElementType,
  type TileForm,
} from '../../../simulator/tensor/index.js';
import { compileTwin, FLAGS, toolchain } from '../ptx/compiler.js';
import { timed } from '../ptx/stopwatch.js';
import { heading } from '../ptx/table.js';

/** A form of each family. */
const NAMES = [
  'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32',
  'mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32',
  'mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16',
  'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32',
  'mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32',
  'mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32',
  'mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32',
  'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32',
  'wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16',
  'wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32',
  'wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32',
  'mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32',
  'mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32',
  'mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32',
  'mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64',
  'mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64',
  'mma.sync.aligned.m16n8k16.row.col.rz.f64.f64.f64.f64',
  'mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 0',
  'mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 0',
  'mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 0',
  'mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 0',
] as const;

/** Of random tiles, those whose factors are of one magnitude, and those that have infinities and NaN. */
const MODES = { usual: 1, special: 5 } as const;

const ROUNDS = 20_000;
const REPEATS = 7;

interface TileRow {
  readonly form: string;
  readonly products: number;
  readonly functionUs: number;
  /** Of a tile that has infinities and NaN. */
  readonly specialUs: number;
  readonly firstMs: number;
  readonly modelUs: number;
  readonly loopUs: number;
  readonly ratio: number;
}

/** Least CPU time of one call, in microseconds. */
function leastUs(rounds: number, work: () => void): number {
  let least = Infinity;
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const { timing } = timed(() => {
      for (let round = 0; round < rounds; round++) work();
    });
    least = Math.min(least, (1000 * timing.cpuMs) / rounds);
  }
  return least;
}

function typesOfLoop(type: ElementType): readonly [factor: string, sum: string] {
  switch (type) {
    case 'f64':
      return ['double', 'double'];
    case 's8':
    case 's4':
      return ['signed char', 'int'];
    case 'u8':
    case 'u4':
    case 'b1':
      return ['unsigned char', 'int'];
    case 'f16':
    case 'bf16':
    case 'tf32':
    case 'f32':
    case 'e4m3':
    case 'e5m2':
    case 's32':
      return ['float', 'float'];
  }
}

function loopUs({ shape: { m, n, k }, a, d }: TileForm, folder: string): number {
  const [factor, sum] = typesOfLoop(a.type);
  const binary = join(folder, 'product');
  // As many rows as all of its batches have.
  const defines = `-DM=${m * d.batches} -DN=${n} -DK=${k}`;
  const flags = [...`${FLAGS} ${defines}`.split(' '), `-DFACTOR=${factor}`, `-DSUM=${sum}`];
  compileTwin(join(packageRoot(), 'loadtest/bench/tiles/product.c'), binary, flags);
  return (
    Number(execFileSync(binary, [`${ROUNDS}`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })) /
    1000
  );
}

function rowOf(name: string, folder: string): TileRow {
  const form = productForm(name);
  if (form === undefined) throw new Error(`there is no form ${name}`);
  const tile = new CompiledTile(form);
  const words = drawnTile(form, MODES.usual);
  const from = performance.now();
  tile.run(words);
  const firstMs = performance.now() - from;
  leastUs(ROUNDS, tile.again);
  const functionUs = leastUs(ROUNDS, tile.again);
  tile.run(drawnTile(form, MODES.special));
  const specialUs = leastUs(ROUNDS / 10, tile.again);
  const model = fittedModel(form);
  const modelUs = leastUs(10, () => computeTile({ form, model }, words));
  const loop = loopUs(form, folder);
  const { m, n, k } = form.shape;
  return {
    form: name,
    products: m * n * k * form.d.batches,
    functionUs,
    specialUs,
    firstMs,
    modelUs,
    loopUs: loop,
    ratio: loop / functionUs,
  };
}

const folder = mkdtempSync(join(tmpdir(), 'windjammer-tiles-'));
try {
  const chain = toolchain(FLAGS);
  const isJson = process.argv.includes('--json');
  const rows = NAMES.map((name) => rowOf(name, folder));
  if (isJson) process.stdout.write(`${JSON.stringify({ ...chain, rows })}\n`);
  else {
    process.stdout.write(heading(chain));
    const columns = ['products', 'first ms', 'us', 'special us', 'model us', 'C us', 'C / ours'];
    process.stdout.write(`${''.padEnd(60)}${columns.map((each) => each.padStart(12)).join('')}\n`);
    for (const row of rows) {
      const cells = [
        `${row.products}`,
        row.firstMs.toFixed(2),
        row.functionUs.toFixed(3),
        row.specialUs.toFixed(2),
        row.modelUs.toFixed(0),
        row.loopUs.toFixed(3),
        row.ratio.toFixed(2),
      ];
      process.stdout.write(`${row.form.padEnd(60)}${cells.map((each) => each.padStart(12)).join('')}\n`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
