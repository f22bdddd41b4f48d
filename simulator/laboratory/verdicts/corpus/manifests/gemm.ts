import {
  BLOCK,
  count,
  covering,
  float,
  indices,
  integer,
  pick,
  range,
  reads,
  updates,
  value,
  writes,
  type ElementType,
  type KernelManifest,
  type ManifestParameter,
  type SizeRule,
} from '../manifest.js';

const family = 'gemm';
const [m, n, k] = [integer('m'), integer('n'), integer('k')];
const operands = (type: ElementType = 'f32'): ManifestParameter[] => [
  writes(type, 'm*n'),
  reads(type, 'm*k'),
  reads(type, 'k*n'),
];

const small: Record<string, SizeRule> = { m: count(40, 8), n: count(40, 8), k: count(24, 8) };

/** A thread an element of the product, blocks of 8 x 8. */
function tiles(entry: string, parameters: readonly ManifestParameter[], sizes = small): KernelManifest {
  return { entry, family, sizes, grid: ['n/8', 'm/8'], block: [8, 8], parameters };
}

export const GEMM: readonly KernelManifest[] = [
  tiles('gemmNaive', [...operands(), m, n, k]),
  tiles('gemmTiled', [...operands(), m, n, k]),
  {
    entry: 'gemmWhole',
    family,
    sizes: {
      x: range(1, 4),
      y: range(1, 4),
      z: range(1, 3),
      m: value('y*8'),
      n: value('x*8'),
      k: value('z*8'),
    },
    grid: ['x', 'y'],
    block: [8, 8],
    parameters: [...operands(), n, k],
  },
  tiles('gemmDoubleBuffered', [...operands(), m, n, k]),
  {
    entry: 'gemmRegisters',
    family,
    sizes: { q: range(1, 12), m: count(32, 4), n: value('q*4'), k: count(16, 4) },
    grid: ['q/4', 'm/4'],
    block: [4, 4],
    parameters: [
      writes('f32', 'm*n', { align: 16 }),
      reads('f32', 'm*k'),
      reads('f32', 'k*n', { align: 16 }),
      m,
      n,
      k,
    ],
  },
  {
    entry: 'gemmBiasRelu',
    family,
    sizes: { ...BLOCK, m: count(30, 4), n: range(1, 30), k: count(16, 4), total: value('m*n') },
    ...covering('total'),
    parameters: [...operands(), reads('f32', 'n'), m, n, k],
  },
  tiles('gemmAlphaBeta', [
    updates('f32', 'm*n'),
    reads('f32', 'm*k'),
    reads('f32', 'k*n'),
    m,
    n,
    k,
    float(1, 0.5),
    float(0, 0, 0, 1),
  ]),
  tiles('gemmTransposed', [...operands(), m, n, k]),
  {
    entry: 'gemmBatched',
    family,
    sizes: { batches: range(1, 6), m: range(1, 8), n: range(1, 8), k: count(16, 4) },
    grid: ['batches'],
    block: [8, 8],
    parameters: [
      writes('f32', 'batches*m*n'),
      reads('f32', 'batches*m*k'),
      reads('f32', 'batches*k*n'),
      m,
      n,
      k,
    ],
  },
  tiles('gemmHalf', [...operands('f16'), m, n, k]),
  {
    entry: 'gemmSplitK',
    family,
    sizes: { m: range(1, 8), n: range(1, 8), k: count(40, 8), slice: pick(4, 8), g: value('k/slice') },
    grid: ['g'],
    block: [8, 8],
    parameters: [updates('f32', 'm*n'), reads('f32', 'm*k'), reads('f32', 'k*n'), m, n, k, integer('slice')],
  },
  {
    entry: 'gemv',
    family,
    sizes: { ...BLOCK, m: count(128), n: count(60, 8) },
    ...covering('m'),
    parameters: [writes('f32', 'm'), reads('f32', 'm*n'), reads('f32', 'n'), m, n],
  },
  {
    ...tiles('gemmRagged', [...operands(), indices('m', { below: 'k+1' }), m, n, k]),
    sizes: { m: count(30, 8), n: count(30, 8), k: range(1, 20) },
    weight: 0.75,
  },
];
