import {
  counts,
  f32,
  float,
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

const kernel = kernels('frameworks');
const n = integer('n');

/** Multiplier and shift by which an unsigned number is divided, as frameworks compute them at launch. */
function divider(name: string, divisor: number): GivenSizes {
  const shift = divisor <= 1 ? 0 : 32 - Math.clz32(divisor - 1);
  const magic = Number((2n ** 32n * (2n ** BigInt(shift) - BigInt(divisor))) / BigInt(divisor) + 1n);
  return { [name]: divisor, [`${name}M`]: magic, [`${name}S`]: shift };
}
const dividerMembers = (name: string) => [integer(name), integer(`${name}M`), integer(`${name}S`)];
const strided = (x: number, y: number, z: number): GivenSizes => ({
  n: x * y * z,
  ...divider('x', x),
  ...divider('y', y),
  ...divider('z', z),
  row: 4 * x,
  plane: 4 * x * y,
  down: 4 * z,
  across: 4 * z * y,
});
const box = (x: number, y: number, z: number): GivenSizes => ({ x, y, z, n: x * y * z });
const rows = (...of: readonly (readonly [number, number])[]): readonly GivenSizes[] =>
  of.map(([rows, cols]) => ({ rows, cols }));
const image = (c: number, h: number, w: number, f: number): GivenSizes => ({
  c,
  h,
  w,
  f,
  oh: h * f,
  ow: w * f,
});
const window = (c: number, h: number, w: number, k: number, stride: number, pad: number): GivenSizes => {
  const [oh, ow] = [h, w].map((extent) => Math.floor((extent + 2 * pad - k) / stride) + 1) as [
    number,
    number,
  ];
  return { c, h, w, k, stride, pad, oh, ow, n: c * oh * ow };
};

export const FRAMEWORKS: readonly HeldOutKernel[] = [
  kernel('vecSilu4', counts(700, 256), over('n', 256), [n, toVec('n'), vec('n')]),
  kernel('vecLeaky2', counts(300, 128), over('n', 128), [n, toVec('n', 8), vec('n', 8), float(0.1)]),
  kernel('stridedUnary', [strided(8, 5, 3), strided(1, 1, 1), strided(7, 9, 4)], over('n', 256), [
    struct(
      integer(3),
      n,
      ...dividerMembers('x'),
      ...dividerMembers('y'),
      ...dividerMembers('z'),
      ...[integer(4), integer('across'), integer('row'), integer('down'), integer('plane'), integer(4)],
    ),
    writes('f32', 'n'),
    reads('f32', 'n'),
  ]),
  kernel('stridedCopyDiv', [box(8, 5, 3), box(1, 1, 1), box(16, 3, 4)], over('n'), [
    struct(
      ...['x', 'y', 'z'].map(integer),
      ...[integer('y*z'), integer('z'), integer(1)],
      ...[integer(1), integer('x'), integer('x*y')],
    ),
    n,
    toF32('n'),
    f32('n'),
  ]),
  kernel('layerNormVec', rows([4, 128], [1, 4], [3, 260]), { grid: ['rows'], block: [64] }, [
    toVec('rows*cols'),
    toF32('rows'),
    toF32('rows'),
    vec('rows*cols'),
    vec('cols'),
    vec('cols'),
    integer('cols'),
    float(1e-5),
  ]),
  kernel('rmsNormHalf', rows([9, 64], [0, 32], [4, 33]), { grid: ['rows/4'], block: [32, 4] }, [
    writes('f16', 'rows*cols'),
    reads('f16', 'rows*cols'),
    reads('f16', 'cols'),
    integer('rows'),
    integer('cols'),
    float(1e-5),
  ]),
  kernel('fusedAddRmsNorm', rows([3, 96], [1, 33]), { grid: ['rows'], block: [64], sharedBytes: 'cols*4' }, [
    toF32('rows*cols'),
    updates('f32', 'rows*cols'),
    f32('rows*cols'),
    f32('cols'),
    integer('cols'),
    float(1e-5),
  ]),
  kernel(
    'groupNormNchw',
    [
      { b: 2, g: 3, c: 2, hw: 20 },
      { b: 1, g: 1, c: 1, hw: 1 },
      { b: 1, g: 2, c: 4, hw: 49 },
    ],
    { grid: ['g', 'b'], block: [64] },
    [toF32('b*g*c*hw'), f32('b*g*c*hw'), f32('g*c'), f32('g*c'), integer('g'), integer('c'), integer('hw')],
  ),
  kernel('softmaxWarp6', rows([11, 50], [1, 64], [0, 33]), { grid: ['rows/8'], block: [32, 4] }, [
    toF32('rows*cols'),
    f32('rows*cols'),
    ...['rows', 'cols', 'cols'].map(integer),
  ]),
  kernel('softmaxWarp4', rows([11, 13], [1, 16], [7, 1]), { grid: ['rows/8'], block: [16, 4] }, [
    toF32('rows*cols'),
    f32('rows*cols'),
    ...['rows', 'cols', 'cols'].map(integer),
  ]),
  kernel('rotaryNeoxInPlace', [{ t: 3, heads: 2, depth: 16 }], { grid: ['t'], block: [32] }, [
    updates('f32', 't*heads*depth'),
    f32('10*depth'),
    reads('i32', '2*t', { fill: 'zeros', isApart: true }),
    integer('heads'),
    integer('depth'),
  ]),
  kernel(
    'rotaryInterleaved',
    [
      { t: 4, heads: 3, p: 8 },
      { t: 1, heads: 1, p: 1 },
      { t: 7, heads: 4, p: 16 },
    ],
    { grid: ['t', 'heads/2'], block: [16, 2] },
    [
      toVec('t*heads*p*2', 8),
      vec('t*heads*p*2', 8),
      f32('t*p'),
      f32('t*p'),
      ...['t', 'heads', 'p'].map(integer),
    ],
  ),
  kernel('swigluPacked', rows([4, 70], [1, 1], [2, 64]), { grid: ['rows'], block: [64] }, [
    toF32('rows*cols'),
    f32('rows*2*cols'),
    integer('cols'),
  ]),
  kernel('gegluBf16x2', rows([4, 70], [1, 1], [2, 64]), { grid: ['cols/64', 'rows'], block: [64] }, [
    toF32('rows*cols'),
    f32('rows*2*cols'),
    integer('cols'),
  ]),
  kernel('reshapeAndCache', rows([5, 40], [1, 8]), { grid: ['rows'], block: [32] }, [
    toF32('64*cols'),
    toF32('64*cols'),
    f32('rows*cols'),
    f32('rows*cols'),
    reads('i32', '2*rows', { fill: 'zeros', isApart: true }),
    integer('cols'),
    integer(16),
  ]),
  kernel(
    'appendRing',
    [
      { start: 5, t: 6, cap: 8, w: 20 },
      { start: 0, t: 0, cap: 8, w: 20 },
      { start: 3, t: 1, cap: 16, w: 33 },
    ],
    { grid: ['t'], block: [32] },
    [toF32('cap*w'), f32('t*w'), ...['start', 't', 'cap', 'w'].map(integer)],
  ),
  kernel(
    'pagedAttention',
    [
      { s: 2, h: 2 },
      { s: 1, h: 1 },
    ],
    { grid: ['h', 's'], block: [32] },
    [
      toF32('s*h*32'),
      f32('s*h*32'),
      f32('4*h*256'),
      f32('4*h*256'),
      indices('s*3', { below: 4 }),
      indices('s', { below: 24 }),
      integer(3),
      float(0.25),
    ],
  ),
  kernel(
    'flashForward',
    [
      { bh: 2, n: 40 },
      { bh: 1, n: 1 },
      { bh: 1, n: 32 },
    ],
    { grid: ['n/16', 'bh'], block: [16] },
    [toF32('bh*n*16'), toF32('bh*n'), f32('bh*n*16'), f32('bh*n*16'), f32('bh*n*16'), n, float(0.25)],
  ),
  kernel(
    'topKWarp',
    [
      { rows: 3, cols: 50, k: 4 },
      { rows: 1, cols: 5, k: 1 },
    ],
    { grid: ['rows'], block: [32] },
    [toF32('rows*k'), toI32('rows*k'), f32('rows*cols'), integer('cols'), integer('k')],
  ),
  kernel('embeddingBagSum', rows([6, 24], [1, 8], [0, 8]), { grid: ['rows/4'], block: [32, 4] }, [
    toF32('rows*cols'),
    f32('20*cols'),
    indices(40, { below: 20 }),
    indices('rows+1', { starts: 40 }),
    integer('rows'),
    integer('cols'),
  ]),
  kernel('dropoutPhilox', counts(300), over('n', 64), [
    toF32('n'),
    writes('u8', 'n'),
    f32('n'),
    n,
    float(0.8),
    integer(77),
    integer(5),
  ]),
  kernel('uniformFill', counts(300), over('n'), [toF32('n'), n, integer(9)]),
  kernel('adamStep', [{ n: 100 }, { n: 0 }], over('n'), [
    ...[1, 2, 3].map(() => updates('f32', 'n')),
    f32('n'),
    n,
    ...[0.01, 0.9, 0.99, 1e-8, 0.1, 0.1].map((each) => float(each)),
  ]),
  kernel(
    'multiTensorScale',
    [
      { a: 50, b: 70, c: 9, d: 64 },
      { a: 0, b: 1, c: 2, d: 3 },
    ],
    { grid: [1, 4], block: [64] },
    [
      struct(
        ...['a', 'b', 'c', 'd'].map(toF32),
        ...['a', 'b', 'c', 'd'].map(f32),
        ...['a', 'b', 'c', 'd'].map(integer),
      ),
      float(0.5),
    ],
  ),
  kernel(
    'im2colNchw',
    [window(2, 6, 7, 3, 1, 1), window(1, 5, 5, 3, 2, 0), window(3, 8, 8, 1, 1, 0)],
    over('n'),
    [toF32('c*k*k*oh*ow'), f32('c*h*w'), ...['n', 'h', 'w', 'k', 'pad', 'stride', 'oh', 'ow'].map(integer)],
  ),
  kernel(
    'maxPool2dIndices',
    [window(2, 8, 8, 3, 2, 1), window(1, 4, 4, 2, 2, 0), window(3, 5, 9, 3, 1, 1)],
    over('n'),
    [
      toF32('n'),
      writes('i32', '2*n', { align: 8 }),
      f32('c*h*w'),
      ...['n', 'h', 'w', 'oh', 'ow', 'k', 'stride', 'pad'].map(integer),
    ],
  ),
  kernel(
    'adaptiveAvgPool',
    [
      { c: 2, h: 9, w: 10, oh: 4, ow: 3 },
      { c: 1, h: 7, w: 7, oh: 1, ow: 1 },
      { c: 3, h: 6, w: 6, oh: 6, ow: 6 },
    ],
    { grid: ['c'], block: [8, 4] },
    [toF32('c*oh*ow'), f32('c*h*w'), ...['h', 'w', 'oh', 'ow'].map(integer)],
  ),
  kernel('upsampleBilinear', [image(2, 5, 6, 2), image(1, 1, 1, 2), image(1, 4, 4, 2)], over('oh*ow'), [
    toF32('c*oh*ow'),
    f32('c*h*w'),
    ...['c', 'h', 'w', 'oh', 'ow'].map(integer),
    float(0.5),
    float(0.5),
  ]),
  kernel('upsampleNearest', [image(2, 5, 6, 2), image(1, 1, 1, 1), image(3, 4, 4, 2)], over('c*oh*ow'), [
    toF32('c*oh*ow'),
    f32('c*h*w'),
    ...['c', 'h', 'w', 'oh', 'ow'].map(integer),
    float(0.5),
    float(0.5),
  ]),
  kernel(
    'pixelShuffle',
    [image(2, 5, 6, 2), image(1, 1, 1, 1), image(1, 4, 4, 3)],
    { grid: ['ow/8', 'oh/8', 'c'], block: [8, 8] },
    [toF32('c*oh*ow'), f32('c*f*f*h*w'), ...['c', 'h', 'w', 'f'].map(integer)],
  ),
  kernel(
    'transposeBatched',
    [
      { z: 2, rows: 20, cols: 33 },
      { z: 1, rows: 1, cols: 1 },
      { z: 3, rows: 16, cols: 16 },
    ],
    { grid: ['cols/16', 'rows/16', 'z'], block: [16, 4] },
    [toF32('z*rows*cols'), f32('z*rows*cols'), integer('rows'), integer('cols')],
  ),
  kernel(
    'catBatched',
    [
      { o: 3, a: 2, b: 4, c: 1, inner: 5, ab: 6, all: 7 },
      { o: 1, a: 1, b: 1, c: 1, inner: 1, ab: 2, all: 3 },
    ],
    { grid: [2, 3], block: [32] },
    [
      toF32('o*all*inner'),
      struct(
        ...[f32('o*a*inner'), integer(0), integer('a')],
        ...[f32('o*b*inner'), integer('a'), integer('b')],
        ...[f32('o*c*inner'), integer('ab'), integer('c')],
      ),
      ...['o', 'all', 'inner'].map(integer),
    ],
  ),
  kernel(
    'splitThree',
    [
      { n: 9, na: 4, nb: 3, w: 12, nc: 5 },
      { n: 1, na: 1, nb: 1, w: 3, nc: 1 },
      { n: 0, na: 4, nb: 3, w: 12, nc: 5 },
    ],
    over('n*w'),
    [toF32('n*na'), toF32('n*nb'), toF32('n*nc'), f32('n*w'), ...['n', 'na', 'nb', 'w'].map(integer)],
  ),
  kernel('indexSelect', rows([9, 20], [1, 1], [4, 64]), over('rows*cols'), [
    toF32('rows*cols'),
    f32('16*cols'),
    reads('i32', '2*rows', { fill: 'zeros', isApart: true }),
    integer('rows'),
    integer(16),
    integer('cols'),
  ]),
  kernel('crossEntropy', rows([5, 40], [1, 1], [3, 65]), { grid: ['rows'], block: [64] }, [
    toF32('rows'),
    f32('rows*cols'),
    indices('rows', { below: 'cols' }),
    integer('cols'),
    integer(3),
  ]),
  kernel('reduceLastBlock', [{ n: 300 }, { n: 1 }], over('n'), [
    toF32(1),
    updates('f32', 'n/64'),
    updates('u32', 1, { fill: 'zeros' }),
    f32('n'),
    n,
  ]),
  kernel(
    'welfordColumns',
    [
      { n: 3, c: 4, hw: 10 },
      { n: 1, c: 1, hw: 1 },
    ],
    { grid: ['c'], block: [16, 4] },
    [toF32('c'), toF32('c'), f32('n*c*hw'), ...['n', 'c', 'hw'].map(integer)],
  ),
  kernel('triuMask', rows([9, 20], [1, 1], [0, 8], [8, 8]), over('rows*cols'), [
    toF32('rows*cols'),
    f32('rows*cols'),
    integer('rows'),
    integer('cols'),
    integer(1),
  ]),
  kernel(
    'padReflect',
    [
      { rows: 3, n: 50, l: 3, r: 5 },
      { rows: 1, n: 2, l: 1, r: 1 },
      { rows: 2, n: 64, l: 0, r: 0 },
    ],
    { grid: ['n+l+r/64', 'rows'], block: [64] },
    [toF32('rows*n+rows*l+rows*r'), f32('rows*n'), ...['n', 'l', 'r'].map(integer)],
  ),
  kernel(
    'rollLast',
    [
      { n: 120, size: 10, stride: 4, shift: 3 },
      { n: 0, size: 4, stride: 1, shift: 1 },
      { n: 64, size: 64, stride: 1, shift: 0 },
    ],
    over('n'),
    [toF32('n'), f32('n'), ...['n', 'size', 'stride', 'shift'].map(integer)],
  ),
  kernel(
    'fakeQuantPerChannel',
    [
      { n: 240, c: 6, inner: 10 },
      { n: 0, c: 1, inner: 1 },
      { n: 65, c: 13, inner: 5 },
    ],
    over('n'),
    [
      toF32('n'),
      f32('n'),
      f32('c'),
      indices('c', { below: 4 }),
      ...['n', 'c', 'inner'].map(integer),
      integer(0),
      integer(255),
    ],
  ),
  kernel('dequantInt4', [{ n: 100 }, { n: 0 }, { n: 64 }], over('n'), [
    writes('f32', 'n*4'),
    reads('u32', 'n'),
    reads('f16', 'n*8/32'),
    n,
    integer(32),
  ]),
  kernel('gemvWarpRow', rows([9, 70], [0, 8], [4, 32]), over('rows*32', 128), [
    toF32('rows'),
    f32('rows*cols'),
    f32('cols'),
    integer('rows'),
    integer('cols'),
  ]),
  kernel(
    'gridSample',
    [
      { c: 2, h: 8, w: 9, n: 100 },
      { c: 1, h: 1, w: 1, n: 1 },
    ],
    over('n'),
    [
      toF32('c*n'),
      f32('c*h*w'),
      reads('f32', '2*n', { align: 8, isApart: true }),
      ...['c', 'h', 'w', 'n'].map(integer),
    ],
  ),
  kernel(
    'scatterRows',
    [
      { n: 6, w: 20 },
      { n: 0, w: 4 },
    ],
    over('n*w'),
    [toF32('n*w'), f32('n*w'), indices('n', 'permutation'), n, integer('w')],
  ),
  kernel('maskedFillInPlace', counts(130), over('n'), [
    writes('f32', 'n'),
    reads('u8', 'n', { fill: { flags: 0.5 } }),
    float(-1),
    n,
  ]),
  kernel(
    'copyTail',
    [
      { from: 20, to: 200 },
      { from: 5, to: 5 },
      { from: 0, to: 64 },
    ],
    { grid: [2], block: [64] },
    [toF32('to-from'), f32('to'), integer('from'), integer('to')],
  ),
];
