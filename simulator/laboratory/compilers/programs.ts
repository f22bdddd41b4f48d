import { hash, integers, kernelFixture, uniform, type KernelFixture } from '../kernels/index.js';

const LANES = 64;
const WEIGHTS = [0.125, 0.25, 0.25, 0.25, 0.125];

const blur = kernelFixture({
  ptx: new URL('./image.ptx', import.meta.url),
  buffers: () => ({ x: uniform(150, 3), out: new Float32Array(150) }),
  launches: [
    {
      kernel: 'blur',
      grid: 3,
      block: LANES,
      dynamicSharedBytes: 4 * LANES,
      args: [{ buffer: 'x' }, { buffer: 'out' }, { i32: 150 }, { u64: 0n }],
    },
  ],
  reference: ({ x, out }) => {
    out.forEach((_, i) => {
      const first = i - (i % LANES);
      out[i] = WEIGHTS.reduce((sum, weight, k) => {
        const at = first + Math.min(Math.max((i % LANES) + k - 2, 0), LANES - 1);
        return Math.fround(sum + Math.fround(weight * (x[at] ?? 0)));
      }, 0);
    });
  },
  // The compiler contracts, and powers of two make that no difference.
  outputs: { out: 'exact' },
});

/** `Item` of image.cl: four floats, three shorts, a char. */
const ITEM_BYTES = 32;
function items(count: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(count * ITEM_BYTES));
  for (let i = 0; i < count; i++) {
    view.setFloat32(i * ITEM_BYTES + 12, (hash(i, 5) % 2000) / 8 - 100, true);
    view.setInt16(i * ITEM_BYTES + 18, (hash(i, 6) % 601) - 300, true);
    view.setInt8(i * ITEM_BYTES + 22, (hash(i, 7) % 256) - 128);
  }
  return new Uint8Array(view.buffer);
}

function weigh(bytes: Uint8Array, at: number, n: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at * ITEM_BYTES);
  return Math.trunc(view.getFloat32(12, true)) + view.getInt16(18, true) * n + view.getInt8(22);
}

function bits(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count++;
  return count;
}

function turned(value: number, by: number): number {
  return (value << by) | (value >>> ((32 - by) & 31));
}

function switched(w: number): number {
  switch (w & 7) {
    case 0:
      return w + 11;
    case 1:
      return w ^ 0x55;
    case 2:
      return turned(w, 5);
    case 3:
      return -w;
    case 5:
      return bits(w);
    default:
      return w - 3;
  }
}

const mix = kernelFixture({
  ptx: new URL('./image.ptx', import.meta.url),
  buffers: () => ({
    items: items(LANES),
    out: new Int32Array(4 * LANES),
    bytes: Uint8Array.from({ length: 4 * LANES }, (_, i) => hash(i, 9)),
    counts: new Int32Array(2),
  }),
  launches: [
    {
      kernel: 'mix',
      grid: 1,
      block: LANES,
      args: [
        ...(['items', 'out', 'bytes', 'counts'] as const).map((buffer) => ({ buffer })),
        { bytes: [...items(1)] },
        { bytes: [3, 0, 6, 0] },
      ],
    },
  ],
  reference: ({ items: list, out, bytes, counts }) => {
    const one = items(1);
    for (let i = 0; i < LANES; i++) {
      const pick = (i * (i & 7)) ^ 6;
      const w = switched(weigh(list, i, i) + weigh(one, 0, pick)) | 0;
      const high = Number(BigInt.asIntN(32, (BigInt(w) * 2n ** 20n) >> 32n));
      out.set([Math.max(w, i), Math.abs(w - i), high, w], 4 * i);
      const [a = 0, b = 0, c = 0, d = 0] = [200, 100, 50, 1].map((more, k) =>
        Math.min((bytes[4 * i + k] ?? 0) + more, 255),
      );
      bytes.set([b, a, d, c], 4 * i);
      counts[0] = (counts[0] ?? 0) + (w & 3);
      counts[1] = Math.max(counts[1] ?? 0, i);
    }
  },
  outputs: { out: 'exact', bytes: 'exact', counts: 'exact' },
});

const WIDE = 0x0123456789abcdef_fedcba9876543210n;
const WIDE_BYTES = Array.from({ length: 16 }, (_, i) => Number((WIDE >> BigInt(8 * i)) & 255n));

function module(name: string): KernelFixture {
  return kernelFixture({
    ptx: new URL(`./${name}.ptx`, import.meta.url),
    buffers: () => ({ out: new Int32Array(LANES), wides: new BigUint64Array(2 * LANES) }),
    launches: [
      {
        kernel: 'kernel',
        grid: 1,
        block: LANES,
        args: [
          { buffer: 'out' },
          { bytes: [1] },
          { bytes: [0x85] },
          { bytes: [0x34, 0xf2] },
          { struct: [{ i32: -3 }, { i32: 1000 }] },
          { struct: [{ i32: 1 }, { i32: 2 }, { u32: 0x80000003 }] },
          { struct: [{ bytes: [1, 0] }, { bytes: [1, 0, 2, 0, 0xff, 0xff] }, { f64: -7.5e10 }] },
          { bytes: WIDE_BYTES },
          { buffer: 'wides' },
        ],
      },
    ],
    reference: ({ out, wides }) => {
      const weight = -1n - 75_000_000_000n + 2n;
      const narrow = Number(BigInt.asIntN(32, weight));
      const high = Number(BigInt.asIntN(32, weight >> 32n));
      for (let i = 0; i < LANES; i++) {
        const again = 3 * (i % 2 === 1 ? 3 * i : i + 1);
        const by = i & 31;
        const funnel = by === 0 ? again : (again << by) | (0x80000003 >>> (32 - by));
        const other = i % 2 === 1 ? -123 + -3532 : 5;
        const chosen = (i > 12 ? 1 : 5) + 1000;
        const first = (i & 7) === 0 ? i : 0x01010101;
        out[i] = (((funnel + other) ^ narrow) + chosen + high + 40 - first) | 0;
        const product = (BigInt.asUintN(128, (WIDE + BigInt(i)) * WIDE) >> 7n) ^ WIDE;
        const reversed = BigInt(`0b${i.toString(2).padStart(64, '0').split('').reverse().join('')}`);
        const result = product ^ (reversed | BigInt(Math.max(i - 5, 0)));
        wides.set([BigInt.asUintN(64, result), result >> 64n], 2 * i);
      }
    },
    outputs: { out: 'exact', wides: 'exact' },
  });
}

const scale = (name: string, negate: number): KernelFixture => ({
  ...kernelFixture({
    ptx: new URL('./loops.ptx', import.meta.url),
    buffers: () => ({ x: uniform(LANES, 11) }),
    launches: [
      {
        kernel: 'scale',
        grid: 1,
        block: LANES,
        args: [{ buffer: 'x' }, { struct: [{ f32: 1.25 }, { f32: 0.7 }, { bytes: [negate, 0, 0, 0] }] }],
      },
    ],
    reference: ({ x }) => {
      const plus = Math.fround(0.7);
      x.forEach((value, i) => {
        const product = Math.fround(value * 1.25);
        x[i] = negate === 1 ? plus + Math.fround(plus * product) : product + plus;
      });
    },
    outputs: { x: 'exact' },
  }),
  name,
});

/** Programs that compilers other than nvcc made PTX of, by name. */
export const compilerPrograms: readonly KernelFixture[] = [
  { ...blur, name: 'blur of OpenCL C' },
  { ...mix, name: 'mix of OpenCL C' },
  { ...module('module'), name: 'LLVM' },
  { ...module('moduleO0'), name: 'LLVM, not optimised' },
  scale('Rust', 0),
  scale('Rust, the other way', 1),
];

/** Arguments of the kernel that GCC made: numbers, and floats of eighths. */
export const gangInputs = { x: integers(500, 21, -1000, 1000), y: uniform(500, 22, -4, 4) };

/** What gangs.c does. */
export function gangResults(): Int32Array {
  return gangInputs.x.map((x, i) => {
    const plus = Math.trunc(Math.fround((gangInputs.y[i] ?? 0) * 4));
    switch (x & 7) {
      case 0:
        return x + i + plus;
      case 1:
        return (x ^ 7) + plus;
      case 2:
        return (x << 3) + plus;
      case 3:
        return bits(x) + plus;
      case 4:
        return Math.clz32(x | 1) + plus;
      default:
        return Math.trunc(x / 3) - (i % 5) + plus;
    }
  });
}
