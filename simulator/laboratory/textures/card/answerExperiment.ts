import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import {
  encodeObject,
  loadModule,
  NodeMemory,
  OBJECT_BYTES,
  ReferenceInterpreter,
  textureObject,
  type AddressSpace,
  type LoadedModule,
  type Sampler,
  type TexelType,
  type TextureResource,
} from '../../../executor/index.js';
import { packageRoot } from '../../../files/index.js';
import { parseModule } from '../../../ptx/index.js';
import { join } from 'node:path';
import type { Experiment } from './textureRun.js';

const MODES = ['wrap', 'clamp', 'mirror', 'border'] as const;
const FILTERS = ['point', 'linear'] as const;
const LAYERED = 1;
const CUBE = 4;
const INTEGER = 1;
const NORMALIZED = 2;
const SRGB = 0x10;
const BLOCK = 128;
const FUEL = 1_000_000;

/** What the simulator answers in a card's place: words column by column, and the bytes of the array as words. */
export function answerExperiment(experiment: Experiment): { results: Uint32Array; left: Uint32Array } {
  const memory = new NodeMemory({ backingBytes: 64 * 2 ** 20 });
  const space = memory.createSpace();
  const module = loadModule(parseModule(probeText(), 'textures.ptx'), space);
  const { handle, address, bytes } = placed(experiment, space);
  const { count } = experiment;
  const columns = [experiment.points, experiment.d, experiment.e].map((each) => rowsOf(each, count, space));
  const out = space.map(16 * count, 'readWrite').virtualAddress;
  run(module, experiment.kernel, [handle, ...columns, out], count);
  const words = new Uint32Array(space.view(out, 16 * count).slice().buffer);
  const results = Uint32Array.from(
    { length: experiment.out * count },
    (_, at) => words[4 * (at % count) + Math.floor(at / count)] ?? 0,
  );
  const padded = new Uint8Array(Math.ceil(bytes / 4) * 4);
  padded.set(space.view(address, bytes));
  return { results, left: new Uint32Array(padded.buffer) };
}

/** The kernels as PTX; nvcc makes it beside the cubin (`laboratory/textures/README.md`). */
let text: string | undefined;
function probeText(): string {
  return (text ??= readFileSync(
    join(packageRoot(), 'simulator/laboratory/textures/probes/textures.ptx'),
    'utf8',
  ));
}

function unpacked(packed: string): Uint8Array {
  return new Uint8Array(inflateSync(Buffer.from(packed, 'base64')));
}

function rowsOf(packed: string | undefined, count: number, space: AddressSpace): number {
  const { virtualAddress } = space.map(16 * count, 'readWrite');
  if (packed === undefined) return virtualAddress;
  const columns = new Uint32Array(unpacked(packed).buffer);
  const rows = new Uint32Array(4 * count);
  for (let point = 0; point < count; point++)
    for (let column = 0; column < 4; column++)
      rows[4 * point + column] = columns[column * count + point] ?? 0;
  space.view(virtualAddress, 16 * count).set(new Uint8Array(rows.buffer));
  return virtualAddress;
}

/** The experiment's memory with its texels, and an object on it. */
function placed(
  { texture, surface }: Experiment,
  space: AddressSpace,
): { handle: number; address: number; bytes: number } {
  const levels = texture.texels.map(unpacked);
  const [width, height, depth] = texture.extents;
  const isCube = (texture.array & CUBE) !== 0;
  const isLayered = (texture.array & LAYERED) !== 0;
  const isPitched = texture.kind === 'pitched';
  const data = isPitched ? [pitched(levels[0] ?? new Uint8Array(0), height, texture.pitch)] : levels;
  const bytes = data.reduce((sum, each) => sum + each.length, 0);
  const { virtualAddress: address } = space.map(bytes + 512, 'readWrite');
  let at = address;
  for (const each of data) {
    space.view(at, each.length).set(each);
    at += each.length;
  }
  const resource: TextureResource = {
    kind: texture.kind === 'linear' || texture.kind === 'pitched' ? texture.kind : 'array',
    address,
    type: texture.fmt as TexelType,
    channels: texture.channels,
    width,
    height,
    depth: isCube || isLayered ? 0 : depth,
    layers: isLayered ? (isCube ? depth / 6 : depth) : 0,
    cube: isCube,
    levels: texture.levels,
    pitchBytes: texture.pitch,
  };
  const isNarrow = !texture.fmt.startsWith('f') && !texture.fmt.endsWith('32');
  const sampler: Sampler = {
    address: texture.address.map((mode) => MODES[mode] ?? 'clamp'),
    filter: FILTERS[texture.filter] ?? 'point',
    mipmapFilter: FILTERS[texture.mipFilter] ?? 'point',
    normalizedCoordinates: (texture.flags & NORMALIZED) !== 0,
    normalizedFloat: isNarrow && (texture.flags & INTEGER) === 0,
    srgb: (texture.flags & SRGB) !== 0,
    levelBias: texture.bias,
    leastLevel: texture.low,
    greatestLevel: texture.kind === 'mipmap' ? texture.high : 0,
    border: texture.border,
  };
  const object = textureObject(resource, surface === false ? sampler : undefined);
  const { virtualAddress: handle } = space.map(OBJECT_BYTES, 'read');
  space.view(handle, OBJECT_BYTES).set(encodeObject(object));
  return { handle, address, bytes };
}

function pitched(rows: Uint8Array, height: number, pitch: number): Uint8Array {
  const width = rows.length / height;
  const apart = new Uint8Array(pitch * height);
  for (let row = 0; row < height; row++)
    apart.set(rows.subarray(row * width, (row + 1) * width), row * pitch);
  return apart;
}

function run(module: LoadedModule, name: string, pointers: readonly number[], count: number): void {
  const kernel = module.ir.functions.find((fn) => fn.name === name);
  if (kernel === undefined) throw new Error(`the probe has no kernel ${name}`);
  const params = new Uint8Array(kernel.parameterBytes);
  const view = new DataView(params.buffer);
  pointers.forEach((each, index) => {
    view.setBigUint64(8 * index, BigInt(each), true);
  });
  view.setInt32(8 * pointers.length, count, true);
  const blocks = Math.ceil(count / BLOCK);
  const shape = { grid: [blocks, 1, 1], block: [BLOCK, 1, 1], dynamicSharedBytes: 0 } as const;
  const result = new ReferenceInterpreter().run(
    { module, kernel, shape, params },
    { lo: 0, hi: blocks },
    'fast',
    FUEL,
  );
  if (result.status === 'fault') throw new Error(result.fault.message);
}
