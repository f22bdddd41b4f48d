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
  updates,
  vec,
  writes,
  type GivenSizes,
  type HeldOutKernel,
} from './heldOutKernel.js';

const plain = kernels('primitives');
const written = kernels('handWritten');
const n = integer('n');
const level = (logN: number): GivenSizes => ({ log: logN, n: 2 ** logN });

export const PRIMITIVES: readonly HeldOutKernel[] = [
  plain('scanBlocks', counts(300), { ...over('n'), sharedBytes: 256 }, [
    toI32('n'),
    toI32('n/64+1'),
    i32('n'),
    n,
  ]),
  plain('scanBlelloch', counts(300, 128), { grid: ['n/128'], block: [64] }, [toI32('n'), i32('n'), n]),
  plain('scanAddSums', [{ n: 200 }, { n: 64 }], over('n'), [updates('i32', 'n'), i32('n/64'), n]),
  plain('scanWarpExclusive', counts(200), over('n'), [toI32('n'), i32('n'), n]),
  plain('bitonicStep', [{ n: 128, j: 16, k: 32 }], over('n'), [
    updates('f32', 'n'),
    n,
    integer('j'),
    integer('k'),
  ]),
  plain('bitonicShared', counts(300, 128), over('n', 128), [toF32('n'), f32('n'), n]),
  plain('radixHistogram', counts(300), over('n'), [
    writes('u32', '16*n/64+16'),
    reads('u32', 'n'),
    n,
    integer(0),
  ]),
  plain('radixScatter', [{ n: 90 }, { n: 1 }, { n: 32 }], over('n', 32), [
    writes('u32', 'n*2'),
    reads('u32', 'n'),
    indices('17*n/32+17', { below: 'n' }),
    n,
    integer(0),
  ]),
  plain('compactWarp', counts(90, 32), over('n', 32), [toI32('n'), toI32('n/32+1'), i32('n'), n]),
  plain('compactGiven', counts(200), over('n'), [toI32('n'), i32('n'), indices('n', 'permutation'), n, n]),
  plain(
    'mergePath',
    [
      { a: 70, b: 50 },
      { a: 0, b: 1 },
      { a: 64, b: 0 },
    ],
    { grid: ['a/64+b/64'], block: [64] },
    [toI32('a+b'), i32('a'), i32('b'), integer('a'), integer('b')],
  ),
  plain(
    'lowerBound',
    [
      { n: 50, m: 70 },
      { n: 0, m: 3 },
      { n: 1, m: 64 },
    ],
    over('m'),
    [toI32('m'), i32('n'), i32('m'), n, integer('m')],
  ),
  plain('segmentedSum', [{ s: 9 }, { s: 0 }, { s: 2 }], over('s*32'), [
    toF32('s'),
    f32(200),
    indices('s+1', { starts: 200 }),
    integer('s'),
  ]),
  plain('reduceRedux', [{ n: 192 }, { n: 64 }, { n: 128 }], over('n'), [
    writes('u32', 'n/32'),
    reads('u32', 'n'),
    n,
  ]),
  plain(
    'reduceUnrolled',
    [{ n: 700 }, { n: 0 }, { n: 128 }, { n: 129 }],
    { grid: [2], block: [128], sharedBytes: 512 },
    [toF32(2), f32('n'), n],
  ),
  plain('bitReverse', [level(8), level(1), level(6)], over('n'), [
    toVec('2*n', 8),
    vec('2*n', 8),
    integer('log'),
  ]),
  plain(
    'fftStage',
    [
      { n: 128, h: 64, ns: 4 },
      { n: 2, h: 1, ns: 1 },
      { n: 64, h: 32, ns: 32 },
    ],
    over('h'),
    [toVec('2*n', 8), vec('2*n', 8), n, integer('ns')],
  ),
  plain('mandelbrot', [{ w: 50, h: 4 }], { grid: ['w/32', 'h'], block: [32] }, [
    writes('u8', 'w*h'),
    integer('w'),
    integer('h'),
    float(-1),
    float(-1),
    float(0.05),
    integer(40),
  ]),
  plain('blackScholes', counts(200), over('n'), [
    toF32('n'),
    toF32('n'),
    ...[1, 2, 3].map(() => f32('n')),
    float(0.02),
    float(0.3),
    n,
  ]),
  plain(
    'convolutionSeparable',
    [
      { w: 64, h: 8 },
      { w: 32, h: 4 },
    ],
    { grid: ['w/32', 'h/4'], block: [16, 4] },
    [toF32('w*h'), f32('w*h'), integer('w'), integer('h'), integer('w')],
  ),
  plain('particlesToSoa', counts(100), over('n'), [...[1, 2, 3, 4].map(() => toF32('n')), f32('8*n'), n]),
  plain('nbodyTiled', [{ n: 64 }, { n: 32 }], { ...over('n', 32), sharedBytes: 512 }, [
    toVec('4*n'),
    vec('4*n'),
    n,
  ]),
  plain(
    'medianFilter',
    [
      { w: 30, h: 9 },
      { w: 1, h: 1 },
      { w: 16, h: 8 },
    ],
    { grid: ['w/8', 'h/8'], block: [8, 8] },
    [writes('u8', 'w*h'), reads('u8', 'w*h'), integer('w'), integer('h')],
  ),
  plain('rgbToGray', counts(300), over('n'), [writes('u8', 'n'), reads('u8', '3*n'), n]),
  plain('jacobiPointers', [{ n: 20 }, { n: 3 }], { grid: ['n/16', 'n-2'], block: [16] }, [
    reads('pointer', 'n', { fill: { pointersTo: 3, stride: 'n' }, isApart: true }),
    reads('pointer', 'n', { fill: { pointersTo: 4, stride: 'n' }, isApart: true }),
    n,
    { ...f32('n*n'), isHidden: true },
    { ...toF32('n*n'), isHidden: true },
  ]),
  plain('redBlack', [{ n: 20 }], { grid: ['n/32', 'n-2'], block: [16] }, [
    updates('f32', 'n*n'),
    n,
    integer(0),
  ]),
  plain('monteCarloPi', [{ n: 128 }], over('n'), [writes('u32', 'n'), integer(5), integer(3)]),
  plain(
    'stringMatch',
    [
      { n: 100, m: 3 },
      { n: 2, m: 2 },
    ],
    over('n'),
    [toI32('n-m+1'), reads('i8', 'n'), n, reads('i8', 'm'), integer('m')],
  ),
];

export const HAND_WRITTEN: readonly HeldOutKernel[] = [
  written('hwCarry', counts(200), over('n'), [toF32('n'), f32('n'), n]),
  written('hwPolicy', counts(100), over('n'), [toVec('4*n'), vec('4*n'), n]),
  written('hwLop3', [{ n: 192 }, { n: 0 }, { n: 8 }, { n: 64 }], over('n'), [toI32('n'), i32('n'), n]),
  written(
    'hwPacked',
    [
      { r: 5, c: 30, p: 5 + 65536 * 30 },
      { r: 0, c: 0, p: 0 },
      { r: 1, c: 64, p: 1 + 65536 * 64 },
    ],
    { grid: ['r+1'], block: [64] },
    [toI32('r*c'), i32('r*c'), integer('p')],
  ),
  written('hwDown', counts(200), { grid: [1], block: [64] }, [toF32('n'), f32('n'), n]),
  written(
    'hwTable',
    [
      { n: 100, mode: 1 },
      { n: 100, mode: 0 },
      { n: 0, mode: 2 },
      { n: 64, mode: 1 },
    ],
    over('n'),
    [toI32('n'), i32('n'), n, integer('mode')],
  ),
  written('hwGeneric', counts(200), over('n'), [toF32('n'), f32('n'), n]),
  written('hwCall', counts(100), over('n'), [toVec('2*n', 8), vec('2*n', 8), n]),
  written(
    'hwClamp',
    [
      { n: 100, shift: 3 },
      { n: 0, shift: 1 },
      { n: 64, shift: -5 },
    ],
    over('n'),
    [writes('u16', 'n'), reads('u16', 'n'), n, integer('shift')],
  ),
  written('hwRotate', [{ g: 4 }, { g: 1 }], { grid: ['g'], block: [32] }, [toI32('32*g'), i32('32*g')]),
  written(
    'hwGrid2d',
    [
      { w: 12, h: 9 },
      { w: 1, h: 1 },
      { w: 0, h: 5 },
      { w: 8, h: 16 },
    ],
    over('w*h'),
    [toF32('w*h'), f32('w*h'), integer('w'), integer('h')],
  ),
  written('hwWide', counts(300), { grid: [2], block: [64] }, [writes('u16', 'n'), reads('u16', 'n'), n]),
  written(
    'hwVectorParam',
    [
      { n: 100, s: 5, m: 105 },
      { n: 0, s: 0, m: 0 },
      { n: 64, s: 64, m: 128 },
    ],
    over('n'),
    [struct(toI32('n'), i32('m'), n, integer('s'), integer(0), integer(0))],
  ),
  written('hwHeap', counts(200), over('n'), [toI32('n'), i32(8), n]),
];
