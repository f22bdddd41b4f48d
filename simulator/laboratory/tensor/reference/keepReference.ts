/**
 * Keeps a part of a run for the tests: a digest of every form, and tiles of some.
 *   node dist/simulator/laboratory/tensor/reference/keepReference.js RESULTS_DIR
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { packageRoot } from '../../../files/index.js';
import { FormInputs, formNamed, readRun, returnedTiles } from '../card/results.js';
import { referencePath, type ReferenceHead } from './index.js';
import { digestOfChunks, referenceTiles } from './referenceTiles.js';

/** Forms whose tiles are kept: of every family one or two. */
const keptForms = [
  'mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16',
  'mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32',
  'mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16',
  'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32',
  'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32',
  'mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32',
  'mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32',
  'mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16',
  'mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32',
  'mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16',
  'mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64',
  'mma.sync.aligned.m16n8k16.row.col.rm.f64.f64.f64.f64',
  'mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32',
  'mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32',
  'mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc',
  'mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 1',
  'mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 1',
  'mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 0',
  'mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 1',
  'wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32',
  'wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32',
  'wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64',
  'wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16',
  'wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16',
  'wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32',
  'wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2',
  'wgmma.mma_async.sync.aligned.m64n8k32.f16.e5m2.e4m3',
] as const;

const [, , folder] = process.argv;
if (folder === undefined) {
  process.stderr.write('usage: keepReference.js RESULTS_DIR\n');
  process.exitCode = 1;
} else keep(folder);

function keep(from: string): void {
  const { card, driver, ptxas, entries } = readRun(from);
  const forms = entries.filter(({ kind, error }) => kind === 'form' && error === undefined);
  const kept = keptForms.map((name) => {
    const entry = forms.find((each) => each.name === name);
    const form = formNamed(name);
    if (entry === undefined || form === undefined || !('shape' in form))
      throw new Error(`${from} has no tiles of ${name}`);
    const inputs = new FormInputs(form);
    const returned = new Map(returnedTiles(from, entry, inputs).map((tile) => [tile.name, tile.output]));
    const outputs = referenceTiles(form, inputs).map((tile) => {
      const output = returned.get(tile.name);
      if (output === undefined) throw new Error(`${from} has no tile "${tile.name}" of ${name}`);
      return Buffer.from(output.buffer, output.byteOffset, output.byteLength);
    });
    return { form: name, outputs: Buffer.concat(outputs) };
  });
  const head: ReferenceHead = {
    card,
    driver,
    ptxas,
    digests: Object.fromEntries(forms.map(({ name, chunks }) => [name, digestOfChunks(chunks ?? '')])),
    kept: kept.map(({ form, outputs }) => ({ form, words: outputs.length / 4 })),
  };
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const packed = brotliCompressSync(Buffer.concat([length, text, ...kept.map(({ outputs }) => outputs)]), {
    params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 11 },
  });
  writeFileSync(join(packageRoot(), referencePath), packed);
  process.stdout.write(
    `${referencePath}: ${forms.length} forms, tiles of ${kept.length}, ${packed.length} bytes\n`,
  );
}
