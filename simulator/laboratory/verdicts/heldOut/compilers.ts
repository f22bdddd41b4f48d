import {
  counts,
  f32,
  float,
  i32,
  indices,
  integer,
  kernels,
  over,
  reads,
  struct,
  toF32,
  toI32,
  toVec,
  vec,
  type GivenSizes,
  type HeldOutKernel,
} from './heldOutKernel.js';

const fused = kernels('fused');
const tiled = kernels('tiles');
const n = integer('n');
const once: readonly GivenSizes[] = [{}];
const grid = (blocks: number, threads: number) => ({ grid: [blocks], block: [threads] });
const gemm = (m: number, n: number, k: number): GivenSizes => ({ m, n, k });
const abc = [toF32('m*n'), f32('m*k'), f32('k*n')];
const mnk = ['m', 'n', 'k'].map(integer);

export const FUSED: readonly HeldOutKernel[] = [
  fused('fusedConv3x3BnRelu', once, grid(4, 64), [toF32(512), f32(256), f32(288), f32(8), f32(8)]),
  fused('fusedPadConcat', once, grid(4, 64), [toF32(256), f32(72), f32(72)]),
  fused('fusedTransposeReshape', once, grid(4, 128), [toF32(420), f32(420)]),
  fused('fusedMaxPool', once, grid(4, 64), [toF32(196), f32(784)]),
  fused('fusedDense', once, grid(10, 64), [toF32(10), f32(256), f32(2560), f32(10)]),
  fused('fusedSoftmaxReduce', once, grid(2, 32), [toF32(50), f32(500)]),
  fused('fusedSplit2', once, grid(3, 64), [toF32(192), f32(384)]),
  fused('fusedLayoutNchw4c', once, grid(7, 64), [toF32(392), f32(392)]),
  fused('fusedDepthwiseStride2', once, grid(3, 32), [toF32(75), f32(243), f32(27)]),
  fused('fusedLayerNormStatic', once, grid(5, 32), [toF32(400), f32(400), f32(80)]),
  fused('fusedResize', once, grid(6, 128), [toF32(675), f32(192)]),
  fused('fusedWinogradInput', once, grid(16, 16), [toF32(256), f32(100)]),
  fused('fusedAddMulBroadcast', once, grid(3, 64), [toVec(600), vec(600), f32(3)]),
  fused('fusedBatchMatmul', once, { grid: [1, 1, 3], block: [16, 16] }, [toF32(768), f32(1152), f32(1152)]),
  fused('fusedGatherRows', once, grid(5, 64), [toF32(320), f32(200), indices(16, { least: -3, below: 12 })]),
];

export const TILES: readonly HeldOutKernel[] = [
  tiled(
    'gemmAsync',
    [gemm(32, 32, 32), gemm(16, 16, 16), gemm(16, 32, 48)],
    { grid: ['n/16', 'm/16'], block: [16, 16] },
    [toF32('m*n'), vec('m*k'), vec('k*n'), ...mnk],
  ),
  tiled('stagedCopyZero', counts(200), over('n'), [toF32('n'), f32('n'), n]),
  tiled('mmaM16N8K16', [gemm(32, 16, 32), gemm(16, 8, 16)], { grid: ['n/8', 'm/16'], block: [32] }, [
    toF32('m*n'),
    reads('f16', 'm*k', { align: 16 }),
    reads('f16', 'n*k', { align: 16 }),
    n,
    integer('k'),
  ]),
  tiled('wmmaGemm', [gemm(32, 16, 32), gemm(16, 16, 16)], { grid: ['n/16', 'm/16'], block: [32] }, [
    toVec('m*n', 32),
    reads('f16', 'm*k', { align: 32 }),
    reads('f16', 'k*n', { align: 32 }),
    ...mnk,
  ]),
  tiled('mmaInt8', [gemm(32, 16, 16), gemm(16, 8, 8)], { grid: ['n/8', 'm/16'], block: [32] }, [
    toI32('m*n'),
    i32('m*k'),
    i32('n*k'),
    n,
    integer('k'),
  ]),
  tiled(
    'dp4aGemm',
    [gemm(20, 17, 5), gemm(0, 1, 1), gemm(8, 8, 0)],
    { grid: ['n/8', 'm/8'], block: [8, 8] },
    [toI32('m*n'), i32('m*k'), i32('n*k'), ...mnk],
  ),
  tiled(
    'gemmSwizzledTiles',
    [
      { m: 30, n: 20, k: 9, t: 1, gx: 6, gy: 2 },
      { m: 8, n: 8, k: 1, t: 0, gx: 1, gy: 1 },
      { m: 40, n: 9, k: 4, t: 2, gx: 8, gy: 2 },
    ],
    { grid: ['gx', 'gy'], block: [8, 8] },
    [...abc, ...mnk, integer('t')],
  ),
  tiled(
    'gemmParams',
    [
      { m: 20, n: 17, k: 13 },
      { m: 0, n: 1, k: 1 },
      { m: 8, n: 8, k: 8 },
    ],
    { grid: ['n/8', 'm/8'], block: [8, 8] },
    [
      struct(
        ...[f32('m*k'), f32('k*n'), f32('m*n'), toF32('m*n')],
        ...mnk,
        ...['k', 'n', 'n', 'n'].map(integer),
        float(1, 2),
        float(0, 1),
      ),
    ],
  ),
  tiled(
    'gemmSplitKWorkspace',
    [
      { m: 10, n: 9, k: 20, slice: 8, z: 3 },
      { m: 1, n: 1, k: 1, slice: 1, z: 1 },
    ],
    { grid: ['n/8', 'm/8', 'z'], block: [8, 8] },
    [toF32('z*m*n'), f32('m*k'), f32('k*n'), ...mnk, integer('slice')],
  ),
  tiled(
    'splitKReduce',
    [
      { mn: 240, n: 12, z: 3 },
      { mn: 4, n: 4, z: 1 },
      { mn: 0, n: 4, z: 2 },
    ],
    { grid: ['mn/256'], block: [64] },
    [toVec('mn'), vec('z*mn'), vec('n'), ...['mn', 'n', 'z'].map(integer)],
  ),
  tiled(
    'gemmBatchedStrided',
    [
      { n: 12, b: 3 },
      { n: 1, b: 1 },
      { n: 0, b: 2 },
    ],
    { grid: [1, 1, 'b'], block: [16, 16] },
    [toF32('b*n*n'), integer('n*n'), f32('b*n*n'), integer('n*n'), f32('b*n*n'), integer('n*n'), n],
  ),
];
