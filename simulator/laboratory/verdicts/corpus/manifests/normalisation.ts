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
  type KernelManifest,
  type ManifestParameter,
} from '../manifest.js';

const family = 'normalisation';
const out = (amount: string) => writes('f32', amount);
const f32 = (amount: string) => reads('f32', amount);
const [rows, cols] = [integer('rows'), integer('cols')];

/** A block a row. */
function rowBlocks(entry: string, parameters: readonly ManifestParameter[]): KernelManifest {
  const sizes = { b: pick(32, 64, 128), rows: range(1, 12), cols: count(300) };
  return { entry, family, sizes, grid: ['rows'], block: ['b'], parameters };
}

/** A thread a row. */
function rowThreads(
  entry: string,
  parameters: readonly ManifestParameter[],
  most = 24,
  weight = 1,
): KernelManifest {
  const sizes = { b: pick(32, 64), extra: pick(0, 0, 1), rows: count(128), cols: range(1, most) };
  return { entry, family, sizes, ...covering('rows'), parameters, weight };
}

export const NORMALISATION: readonly KernelManifest[] = [
  rowBlocks('softmaxRows', [out('rows*cols'), f32('rows*cols'), cols]),
  {
    entry: 'softmaxWarp',
    family,
    sizes: { w: pick(1, 2, 4), rows: count(24, 'w'), cols: range(1, 128) },
    grid: ['rows/w'],
    block: [32, 'w'],
    parameters: [out('rows*cols'), f32('rows*cols'), rows, cols],
  },
  rowBlocks('layerNorm', [out('rows*cols'), f32('rows*cols'), f32('cols'), f32('cols'), cols, float(1e-5)]),
  rowBlocks('rmsNorm', [out('rows*cols'), f32('rows*cols'), f32('cols'), cols]),
  rowThreads('logSoftmaxSerial', [out('rows*cols'), f32('rows*cols'), rows, cols]),
  rowThreads('argmaxRows', [writes('i32', 'rows'), f32('rows*cols'), rows, cols]),
  {
    entry: 'sumBlocks',
    family,
    sizes: { b: pick(32, 64, 256), g: pick(1, 2, 3, 8), n: count(3000) },
    grid: ['g'],
    block: ['b'],
    parameters: [out('g'), f32('n'), integer('n')],
  },
  {
    entry: 'sumTree',
    family,
    sizes: { b: pick(32, 64, 128), n: count(2048), g: value('n/b+1') },
    grid: ['g'],
    block: ['b'],
    sharedBytes: 'b*4',
    parameters: [out('g'), f32('n'), integer('n')],
  },
  {
    entry: 'meanColumns',
    family,
    sizes: { ...BLOCK, cols: count(200), rows: range(1, 20) },
    ...covering('cols'),
    parameters: [out('cols'), f32('rows*cols'), rows, cols],
  },
  {
    entry: 'batchNormInference',
    family,
    sizes: { b: pick(32, 64), images: range(1, 3), channels: range(1, 6), pixels: count(100) },
    grid: ['pixels/b', 'channels', 'images'],
    block: ['b'],
    parameters: [
      out('images*channels*pixels'),
      f32('images*channels*pixels'),
      f32('channels'),
      f32('channels'),
      integer('images'),
      integer('channels'),
      integer('pixels'),
    ],
  },
  rowThreads('cumulativeSum', [out('rows*cols'), f32('rows*cols'), rows, cols]),
  {
    entry: 'gatherTopK',
    family,
    sizes: {
      ...BLOCK,
      rows: count(40, 1),
      cols: range(1, 40),
      k: range(1, 8),
      total: value('rows*k'),
    },
    ...covering('total'),
    parameters: [
      out('total'),
      f32('rows*cols'),
      indices('total', { below: 'cols' }),
      rows,
      cols,
      integer('k'),
    ],
  },
  {
    entry: 'l2Distance',
    family,
    sizes: { w: pick(1, 2, 4), rows: count(40, 'w'), cols: count(64, 32) },
    grid: ['rows/w'],
    block: [32, 'w'],
    parameters: [out('rows'), f32('rows*cols'), f32('rows*cols'), rows, cols],
  },
  {
    entry: 'histogramBins',
    family,
    sizes: { b: pick(32, 64, 128), extra: pick(0), n: count(2048) },
    ...covering('n'),
    parameters: [updates('i32', 16), reads('u8', 'n'), integer('n')],
  },
];
