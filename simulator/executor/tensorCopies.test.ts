import { describe, expect, it } from 'vitest';
import { encodeTensorMap, type TensorMap } from '../tensorMaps/index.js';
import { ReferenceInterpreter } from './interpreter/index.js';
import type { RunResult } from './index.js';
import { LaunchBench } from './tests/launchBench.js';
import { WAYS, type Way } from './tests/everyWay.js';

const TILE_BYTES = 4096;
const TENSOR_BYTES = 16_384;

/** Copies a box in or out; what the tile holds goes to `tile`, and comes from there. */
function kernelText(rank: number, what: string): string {
  const coordinates = Array.from({ length: rank }, (_, d) => `%c${d}`).join(', ');
  const copy =
    what === 'load'
      ? `cp.async.bulk.tensor.${rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%map, {${coordinates}}], [bar];`
      : what === 'store'
        ? `cp.async.bulk.tensor.${rank}d.global.shared::cta.tile.bulk_group [%map, {${coordinates}}], [tile];`
        : `cp.reduce.async.bulk.tensor.${rank}d.global.shared::cta.${what}.tile.bulk_group [%map, {${coordinates}}], [tile];`;
  const wait = `mbarrier.arrive.expect_tx.shared.b64 _, [bar], %bytes;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
@!%p bra WAIT;`;
  return `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 tiles, .param .u32 bytes, .param .align 4 .b8 at[20]) {
.shared .align 1024 .b8 tile[${TILE_BYTES}];
.shared .align 8 .b64 bar;
.reg .pred %p; .reg .b32 %bytes, %i, %to, %v, %c<5>; .reg .b64 %map, %tiles, %from;
ld.param.u64 %tiles, [tiles];
ld.param.u32 %bytes, [bytes];
${[0, 1, 2, 3, 4].map((d) => `ld.param.u32 %c${d}, [at+${4 * d}];`).join('\n')}
mov.b64 %from, map;
cvta.param.u64 %map, %from;
mbarrier.init.shared.b64 [bar], 1;
prefetch.tensormap [%map];
mov.u32 %i, 0;
mov.u32 %to, tile;
mov.u64 %from, %tiles;
IN:
ld.global.u32 %v, [%from];
st.shared.u32 [%to], %v;
add.u32 %i, %i, 4; add.u32 %to, %to, 4; add.u64 %from, %from, 4;
setp.lt.u32 %p, %i, ${TILE_BYTES};
@%p bra IN;
${copy}
${what === 'load' ? wait : 'cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;'}
mov.u32 %i, 0;
mov.u32 %to, tile;
mov.u64 %from, %tiles;
OUT:
ld.shared.u32 %v, [%to];
st.global.u32 [%from], %v;
add.u32 %i, %i, 4; add.u32 %to, %to, 4; add.u64 %from, %from, 4;
setp.lt.u32 %p, %i, ${TILE_BYTES};
@%p bra OUT;
ret;
}
`;
}

type Case = Omit<TensorMap, 'address'> & { readonly at: readonly number[] };

const SIZES: Readonly<Record<string, number>> = {
  u8: 1,
  u16: 2,
  u32: 4,
  f16: 2,
  f32: 4,
  f64: 8,
  i32: 4,
  u64: 8,
};

/** Calls back with each element of the box: its byte in the tile, and in the tensor, if it lies in it. */
function eachElement(map: Case, visit: (inTile: number, inTensor: number | undefined) => void): number {
  const bytes = SIZES[map.type];
  const steps = map.box.map((_, d) => (d === 0 ? 1 : (map.step?.[d] ?? 1)));
  const counts = map.box.map((box, d) => Math.ceil(box / steps[d]));
  const all = counts.reduce((product, count) => product * count, 1);
  for (let number = 0; number < all; number++) {
    let [rest, inTensor, isIn] = [number, 0, true];
    counts.forEach((count, d) => {
      const place = map.at[d] + (rest % count) * steps[d];
      rest = Math.floor(rest / count);
      isIn &&= place >= 0 && place < map.size[d];
      inTensor += place * (d === 0 ? bytes : map.strideBytes[d - 1]);
    });
    const linear = number * bytes;
    const mask = { 0: 0, 32: 1, 64: 3, 128: 7 }[map.swizzleBytes ?? 0] ?? 0;
    visit(linear ^ (((linear >> 7) & mask) << 4), isIn ? inTensor : undefined);
  }
  return all * bytes;
}

function runCase(
  way: Way,
  map: Case,
  what: string,
): { tensor: Uint8Array; tile: Uint8Array; result: RunResult } {
  const bench = new LaunchBench();
  const tensor = bench.buffer(TENSOR_BYTES / 4);
  const tiles = bench.buffer(TILE_BYTES / 4);
  bench.space.view(tensor, TENSOR_BYTES).set(tensorStart);
  bench.space.view(tiles, TILE_BYTES).set(tileStart);
  const { launch, range } = bench.place(kernelText(map.size.length, what), { block: [1, 1, 1] });
  const params = new Uint8Array(launch.params.length);
  params.set(encodeTensorMap({ ...map, address: tensor }));
  const view = new DataView(params.buffer);
  view.setBigUint64(128, BigInt(tiles), true);
  view.setUint32(
    136,
    eachElement(map, () => undefined),
    true,
  );
  map.at.forEach((place, d) => view.setInt32(140 + 4 * d, place, true));
  const placed = { ...launch, params };
  let result =
    way === 'interpreter'
      ? new ReferenceInterpreter().run(placed, range, 'observed', 1e7)
      : bench.executor.run(placed, range, way, way === 'resumable' ? 997 : 1e7);
  while (result.status === 'yield') result = bench.executor.resume(result.suspended, 997);
  return {
    tensor: Uint8Array.from(bench.space.view(tensor, TENSOR_BYTES)),
    tile: Uint8Array.from(bench.space.view(tiles, TILE_BYTES)),
    result,
  };
}

const tensorStart = Uint8Array.from({ length: TENSOR_BYTES }, (_, at) => (at * 7 + (at >> 8)) & 0x7f);
const tileStart = Uint8Array.from({ length: TILE_BYTES }, (_, at) => (at * 13 + (at >> 7)) & 0x3f);

const cases: readonly (readonly [string, Case])[] = [
  ['a row', { type: 'f32', size: [200], strideBytes: [], box: [64], at: [8] }],
  [
    'a row that begins before and ends behind',
    { type: 'u8', size: [70], strideBytes: [], box: [96], at: [-11] },
  ],
  ['a matrix', { type: 'f16', size: [100, 40], strideBytes: [208], box: [64, 16], at: [32, 20] }],
  [
    'a swizzled matrix',
    { type: 'f16', size: [128, 40], strideBytes: [256], box: [64, 24], at: [64, 3], swizzleBytes: 128 },
  ],
  [
    'swizzled by 64 over an edge',
    { type: 'f32', size: [30, 20], strideBytes: [128], box: [16, 24], at: [17, -2], swizzleBytes: 64 },
  ],
  [
    'swizzled by 32',
    { type: 'u16', size: [64, 30], strideBytes: [128], box: [16, 20], at: [1, 4], swizzleBytes: 32 },
  ],
  [
    'NaN outside',
    { type: 'f32', size: [30, 20], strideBytes: [128], box: [8, 4], at: [27, 18], fill: 'nan' },
  ],
  [
    'steps',
    {
      type: 'f32',
      size: [16, 20, 5],
      strideBytes: [64, 1280],
      box: [8, 7, 4],
      step: [1, 3, 2],
      at: [4, 2, 1],
    },
  ],
  [
    'four dimensions',
    { type: 'f64', size: [6, 5, 4, 3], strideBytes: [48, 240, 960], box: [4, 3, 2, 2], at: [1, 3, -1, 2] },
  ],
  [
    'five dimensions',
    {
      type: 'u32',
      size: [8, 3, 4, 3, 2],
      strideBytes: [32, 96, 384, 1152],
      box: [4, 2, 3, 2, 2],
      at: [4, 1, 2, -1, 1],
    },
  ],
];

describe.each(WAYS)('copies of boxes (%s)', (way) => {
  it.each(cases)('of %s come in', (_, map) => {
    const expected = Uint8Array.from(tileStart);
    const bytes = SIZES[map.type];
    const fill = map.fill === 'nan' ? [0xff, 0xff, 0xff, 0x7f] : [0, 0, 0, 0];
    eachElement(map, (inTile, inTensor) => {
      for (let at = 0; at < bytes; at++)
        expected[inTile + at] = inTensor === undefined ? (fill[at] ?? 0) : tensorStart[inTensor + at];
    });
    const { tile, result } = runCase(way, map, 'load');
    expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
    expect(tile).toEqual(expected);
  });

  it.each(cases)('of %s go out', (_, map) => {
    const expected = Uint8Array.from(tensorStart);
    eachElement(map, (inTile, inTensor) => {
      if (inTensor !== undefined)
        expected.set(tileStart.subarray(inTile, inTile + SIZES[map.type]), inTensor);
    });
    const { tensor, result } = runCase(way, map, 'store');
    expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
    expect(tensor).toEqual(expected);
  });

  it.each([
    ['add', 'u32', (a: bigint, b: bigint) => (a + b) & 0xffffffffn],
    ['max', 'i32', (a: bigint, b: bigint) => (a > b ? a : b)],
    ['xor', 'u64', (a: bigint, b: bigint) => a ^ b],
  ] as const)('are combined with .%s of %s', (operation, type, combine) => {
    const map: Case = { type, size: [10, 20], strideBytes: [96], box: [8, 6], at: [4, 16] };
    const expected = Uint8Array.from(tensorStart);
    const bytes = SIZES[type];
    const number = (from: Uint8Array, at: number): bigint =>
      [...from.subarray(at, at + bytes)].reduce(
        (sum, byte, index) => sum | (BigInt(byte) << BigInt(8 * index)),
        0n,
      );
    eachElement(map, (inTile, inTensor) => {
      if (inTensor === undefined) return;
      const combined = combine(number(tensorStart, inTensor), number(tileStart, inTile));
      for (let at = 0; at < bytes; at++)
        expected[inTensor + at] = Number((combined >> BigInt(8 * at)) & 0xffn);
    });
    const { tensor, result } = runCase(way, map, operation);
    expect(result.status === 'fault' ? result.fault.message : result.status).toBe('done');
    expect(tensor).toEqual(expected);
  });

  it('fault for a map of another rank, and for a type that is not combined so', () => {
    const map: Case = { type: 'f32', size: [16, 4], strideBytes: [64], box: [8, 2], at: [0, 0] };
    const text = kernelText(1, 'load');
    const bench = new LaunchBench();
    const { launch, range } = bench.place(text, { block: [1, 1, 1] });
    const params = new Uint8Array(launch.params.length);
    params.set(encodeTensorMap({ ...map, address: bench.buffer(64) }));
    new DataView(params.buffer).setBigUint64(128, BigInt(bench.buffer(TILE_BYTES / 4)), true);
    const placed = { ...launch, params };
    const other =
      way === 'interpreter'
        ? new ReferenceInterpreter().run(placed, range, 'fast', 1e7)
        : bench.executor.run(placed, range, way, 1e7);
    for (const result of [other, runCase(way, map, 'min').result]) {
      if (result.status !== 'fault') throw new Error(result.status);
      expect(result.fault.code).toBe('misalignedAddress');
    }
  });
});
