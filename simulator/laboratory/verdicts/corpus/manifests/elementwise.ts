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
  struct,
  updates,
  value,
  writes,
  type KernelManifest,
  type ManifestParameter,
} from '../manifest.js';

const family = 'elementwise';

/** A thread an element of `n`, guarded. */
function flat(entry: string, parameters: readonly ManifestParameter[], weight = 1): KernelManifest {
  return { entry, family, sizes: { ...BLOCK, n: count(2048) }, ...covering('n'), parameters, weight };
}

/** A fixed grid whose threads go on by its width. */
function strided(entry: string, parameters: readonly ManifestParameter[]): KernelManifest {
  const sizes = { b: pick(32, 64, 128), g: pick(1, 2, 4), n: count(2048) };
  return { entry, family, sizes, grid: ['g'], block: ['b'], parameters };
}

/** Rows of `cols` elements, a thread an element. */
function matrix(entry: string, parameters: readonly ManifestParameter[], weight = 1): KernelManifest {
  const sizes = { ...BLOCK, cols: range(1, 48), rows: count(48, 1), total: value('rows*cols') };
  return { entry, family, sizes, ...covering('total'), parameters, weight };
}

const n = integer('n');
const f32 = (name = 'n') => reads('f32', name);
const out = (name = 'n') => writes('f32', name);

export const ELEMENTWISE: readonly KernelManifest[] = [
  flat('fillValue', [out(), float(0, 1.5), n]),
  flat('arange', [writes('i32', 'n'), integer(3), integer(2), n]),
  flat('copyTensor', [out(), f32(), n]),
  flat('addTensors', [out(), f32(), f32(), n]),
  flat('mulTensors', [out(), f32(), f32(), n]),
  matrix('biasAdd', [out('total'), f32('total'), f32('cols'), integer('rows'), integer('cols')]),
  {
    entry: 'biasAdd2d',
    family,
    sizes: { x: pick(8, 16, 32), y: pick(4, 8), rows: count(40, 'y'), cols: count(40, 'x') },
    grid: ['cols/x', 'rows/y'],
    block: ['x', 'y'],
    parameters: [out('rows*cols'), f32('rows*cols'), f32('cols'), integer('rows'), integer('cols')],
  },
  flat('relu', [out(), f32(), n]),
  {
    entry: 'reluRows',
    family,
    sizes: { b: pick(32, 64), g: pick(1, 2), n: count(40, 4) },
    grid: ['g'],
    block: ['b'],
    parameters: [out('g*b*n'), f32('g*b*n'), n],
  },
  flat('gelu', [out(), f32(), n]),
  flat('castToHalf', [writes('f16', 'n'), f32(), n]),
  flat('quantizeBytes', [writes('i8', 'n'), f32(), float(16, 127), n]),
  flat('invertBytes', [writes('u8', 'n'), reads('u8', 'n'), n]),
  strided('residualAdd', [out(), f32(), f32(), n]),
  strided('scaleStrided', [out(), f32(), float(0.5, 3), n]),
  {
    entry: 'addVectorized',
    family,
    sizes: { ...BLOCK, quads: count(512) },
    ...covering('quads'),
    parameters: [
      writes('f32', 'quads*4', { align: 16 }),
      reads('f32', 'quads*4', { align: 16 }),
      reads('f32', 'quads*4', { align: 16 }),
      integer('quads'),
    ],
  },
  {
    entry: 'scaleVectorized',
    family,
    sizes: { b: pick(32, 64, 128), n: count(3000, 'b*4') },
    grid: ['n/b/4'],
    block: ['b'],
    parameters: [writes('f32', 'n', { align: 16 }), reads('f32', 'n', { align: 16 }), float(2), n],
  },
  flat('whereSelect', [out(), reads('u8', 'n', { fill: { flags: 0.5 } }), f32(), f32(), n]),
  flat('maskedStore', [out(), reads('i32', 'n', { fill: { flags: 0.5 } }), f32(), n]),
  flat('thresholdBackward', [out(), f32(), f32(), float(0, 0.25), n]),
  flat('flip', [out(), f32(), n]),
  {
    entry: 'concatTwo',
    family,
    sizes: { ...BLOCK, n: count(1024), m: count(1024), total: value('n+m') },
    ...covering('total'),
    parameters: [out('total'), f32(), f32('m'), n, integer('m')],
  },
  {
    entry: 'broadcastAdd',
    family,
    sizes: { ...BLOCK, n: count(1500), l: pick(0, 1, 1), r: pick(0, 1, 1) },
    ...covering('n'),
    parameters: [struct(out(), f32('l*n+1'), f32('r*n+1'), n, integer('l'), integer('r'))],
  },
  {
    entry: 'stridedCopy',
    family,
    sizes: { ...BLOCK, n: count(512), s: range(1, 4), t: range(1, 4) },
    ...covering('n'),
    parameters: [out('n*s'), f32('n*t'), n, integer('s'), integer('t')],
  },
  matrix('indexSelect', [
    out('total'),
    f32('20*cols'),
    indices('rows', { below: 20 }),
    integer('rows'),
    integer('cols'),
  ]),
  matrix('scatterRows', [
    out('rows*cols'),
    f32('total'),
    indices('rows', 'permutation'),
    integer('rows'),
    integer('cols'),
  ]),
  flat('dropoutState', [out(), f32(), updates('u32', 'n'), float(0.9), n]),
  flat('dropoutCounter', [out(), f32(), integer(77), float(0.9), n]),
  flat('sgdStep', [updates('f32', 'n'), f32(), float(0.1), n]),
  flat('updateRunning', [updates('f32', 'n'), updates('f32', 'n'), f32(), f32(), float(0.1), n]),
];
