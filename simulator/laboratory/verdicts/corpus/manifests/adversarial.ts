import {
  BLOCK,
  count,
  covering,
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

const family = 'adversarial';
const n = integer('n');

function flat(entry: string, parameters: readonly ManifestParameter[], most = 1024): KernelManifest {
  return { entry, family, sizes: { ...BLOCK, n: count(most) }, ...covering('n'), parameters };
}

/** A grid that is covered exactly or not, without a guard. */
function whole(
  entry: string,
  parameters: readonly ManifestParameter[],
  sizes: KernelManifest['sizes'] = {},
): KernelManifest {
  return {
    entry,
    family,
    sizes: { b: pick(32, 64, 128), g: range(1, 6), threads: value('g*b'), ...sizes },
    grid: ['g'],
    block: ['b'],
    parameters,
  };
}

export const ADVERSARIAL: readonly KernelManifest[] = [
  flat('oddToEven', [updates('f32', 'n*2'), n]),
  flat('writeThenRead', [writes('i32', 'n'), writes('i32', 'n'), n]),
  whole('unguarded', [writes('f32', 'threads'), reads('f32', 'threads')]),
  whole('guardedStore', [writes('f32', 'n'), reads('f32', 'threads'), n], { n: range(0, 'threads') }),
  whole('twoGuards', [writes('f32', 'n'), reads('f32', 'm'), n, integer('m')], {
    n: range(0, 'threads'),
    m: range(0, 'threads'),
  }),
  {
    entry: 'wrapIndex',
    family,
    sizes: { ...BLOCK, n: count(512), back: range(0, 300) },
    ...covering('n'),
    // Near 2^32: adding the thread's number comes round to 0.
    parameters: [writes('i32', 1024), reads('i32', 'n'), integer('4294967296-back'), n],
  },
  {
    entry: 'wrapOffset',
    family,
    sizes: { ...BLOCK, n: count(512), at: range(0, 300) },
    ...covering('n'),
    parameters: [writes('i32', 'at+n'), reads('i32', 'n'), integer('at'), n],
  },
  {
    entry: 'negativeStride',
    family,
    sizes: { ...BLOCK, n: count(512), s: range(0, 3) },
    ...covering('n'),
    parameters: [writes('i32', 'n'), { ...reads('i32', 'n*s+1'), startsAtEnd: true }, integer('0-s'), n],
  },
  {
    entry: 'rotateModulo',
    family,
    sizes: { ...BLOCK, n: count(1024), shift: range(0, 'n+3') },
    ...covering('n'),
    parameters: [writes('i32', 'n'), reads('i32', 'n'), integer('shift'), n],
  },
  flat('maskedLookup', [writes('i32', 'n'), reads('i32', 'n'), reads('i32', 16), n]),
  {
    entry: 'predicatedCopy',
    family,
    sizes: { ...BLOCK, n: count(1024), mode: range(0, 2) },
    ...covering('n'),
    parameters: [writes('i32', 'n'), reads('i32', 'n'), integer('mode'), n],
  },
  flat('indirectCall', [writes('f32', 'n'), reads('f32', 'n'), integer(1), n]),
  flat('modulePointer', [writes('f32', 'n'), n]),
  flat('countLaunch', [writes('i32', 'n'), n]),
  {
    entry: 'doublePointer',
    family,
    sizes: { ...BLOCK, rows: range(1, 20), width: range(1, 30), total: value('rows*width') },
    ...covering('total'),
    parameters: [
      writes('f32', 'total'),
      reads('pointer', 'rows', { fill: { pointersTo: 4, stride: 'width' }, isApart: true }),
      integer('rows'),
      integer('width'),
      // Not an argument of the kernel: what the pointers point to.
      { ...reads('f32', 'total'), isHidden: true },
    ],
  },
  {
    entry: 'chaseLinks',
    family,
    sizes: { ...BLOCK, n: count(256), most: range(0, 12) },
    ...covering('n'),
    parameters: [writes('i32', 'n'), indices('n', 'earlier'), n, integer('most')],
  },
  whole('compactShared', [writes('i32', 'threads'), reads('i32', 'n'), n], { n: range(0, 'threads') }),
  whole('firstComes', [writes('i32', 'n'), n], {
    b: pick(64, 128),
    g: range(2, 6),
    threads: value('g*b'),
    n: value('threads'),
  }),
  flat('shiftBlocks', [updates('i32', 'n'), n]),
  {
    entry: 'volume',
    family,
    sizes: { nx: range(1, 10), ny: range(1, 10), nz: range(1, 10) },
    grid: ['nx/4', 'ny/4', 'nz/4'],
    block: [4, 4, 4],
    parameters: [
      writes('f32', 'nx*ny*nz'),
      reads('f32', 'nx*ny*nz'),
      integer('nx'),
      integer('ny'),
      integer('nz'),
    ],
  },
  flat('swapHalves', [updates('i32', 'n*2'), n]),
  flat('backToFront', [updates('i32', 'n*2'), n]),
  flat('triangle', [writes('f32', 'n*n'), reads('f32', 'n*n'), n], 48),
  {
    entry: 'countDown',
    family,
    sizes: { b: pick(32, 64), extra: pick(0, 1), rows: count(64), n: range(0, 20) },
    ...covering('rows'),
    parameters: [writes('f32', 'rows*n'), reads('f32', 'rows*n'), n, integer('rows')],
  },
  {
    entry: 'strideTwoLoop',
    family,
    sizes: { b: pick(32, 64), g: pick(1, 2), n: count(1024) },
    grid: ['g'],
    block: ['b'],
    parameters: [writes('f32', 'n/2'), reads('f32', 'n'), n],
  },
  flat('wrapProduct', [writes('f32', 'n'), reads('f32', 'n'), integer(65536), n]),
  {
    entry: 'wrapBack',
    family,
    sizes: { ...BLOCK, n: count(1024), back: range(0, 64) },
    ...covering('n'),
    // 64 + back comes to 2^32 and more for every thread.
    parameters: [writes('f32', 'n+64'), reads('f32', 'n'), integer('4294967296-back'), n],
  },
];
