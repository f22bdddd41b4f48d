import { kernelFixture } from '../kernelFixture.js';
import { uniform } from '../seededInputs.js';

const n = 64;
const depth = 7;
const rounds = 9;

const f = Math.fround;

function fibonacci(k: number): number {
  return k < 2 ? k : fibonacci(k - 1) + fibonacci(k - 2);
}

function isEven(k: number): number {
  return k === 0 ? 1 : isOdd(k - 1);
}

function isOdd(k: number): number {
  return k === 0 ? 0 : isEven(k - 1) + (k & 4);
}

function parity(i: number): number {
  let sum = 0;
  for (let k = 0; k < 5; k++) sum += ((i + k) & 1) === 1 ? isEven(i + k) : -isOdd(i * 2 + k);
  return sum;
}

function permute(before: readonly number[], from: number, start: number): number {
  if (from === 5) return before.reduce((hash, value) => (Math.imul(hash, 31) + value) >>> 0, start);
  let hash = start;
  for (let k = from; k < 5; k++) {
    const own = [...before];
    [own[from], own[k]] = [own[k], own[from]];
    hash = permute(own, from + 1, hash);
  }
  return hash;
}

interface Digits {
  total: number;
  readonly weights: number[];
  readonly steps: number[];
}

function descend(given: Digits, k: number, scale: number): Digits {
  const digits = { total: given.total, weights: [...given.weights], steps: [...given.steps] };
  if (k === 0) return digits;
  digits.weights[k & 3] = f(digits.weights[k & 3] + f(scale));
  digits.steps[k % 3] += k;
  const below = descend(digits, k - 1, scale * 0.5);
  below.total += digits.steps[k % 3] * 1000 + k;
  below.weights[(k + 1) & 3] *= 2;
  return below;
}

function writeStructures(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < n; i++) {
    const { total, weights, steps } = descend(
      { total: i, weights: [1, 2, 3, 4], steps: [1, 2, 3] },
      i % depth,
      4,
    );
    view.setBigInt64(32 * i, BigInt(total), true);
    weights.forEach((weight, k) => view.setFloat32(32 * i + 8 + 4 * k, weight, true));
    steps.forEach((step, k) => view.setInt8(32 * i + 24 + k, step));
  }
}

type Expression = (x: number) => number;

function expression(i: number): number {
  const leaves = [2, 0.5].map(
    (scale): Expression =>
      (x) =>
        f(scale * x),
  );
  const sum: Expression = (x) => f(leaves[0](x) + leaves[1](f(x + 1)));
  const product: Expression = (x) => f(sum(x) * leaves[i & 1](f(x - 1)));
  const other = (i & 2) === 0 ? product : sum;
  const choice: Expression = (x) => (x > 4 ? product(f(x * 0.5)) : other(f(x * 2)));
  return [leaves[0], sum, product, choice, leaves[1]][i % 5](Math.floor(i / 4));
}

function neighbours(values: readonly number[]): number[] {
  const sums = values.map((_, i) => f(values[(i + 1) % n] + values[(i + n - 1) % n]));
  return sums.map((sum, i) => f(sum + sums[i ^ 3]));
}

function exchange(start: readonly number[]): number[] {
  let values = [...start];
  for (let k = 0; k < 3; k++) values = neighbours(values).map((value) => f(value * 0.25));
  return neighbours(values.map((value, i) => (fibonacci(5 + (i & 3)) > 6 ? f(value + 1) : value)));
}

type Mixer = (a: number, b: number) => number;
const mixers: readonly Mixer[] = [
  (a, b) => (a + b) >>> 0,
  (a, b) => (a - b) >>> 0,
  (a, b) => (a ^ (b << 3)) >>> 0,
  (a, b) => Math.imul(a, b | 1) >>> 0,
  mixMany,
  (a) => ((a << 5) | (a >>> 27)) >>> 0,
];

function mixMany(a: number, b: number): number {
  if ((b & 7) === 0) return a;
  return mixers[a % 6](mixMany((Math.imul(a, 3) + 1) >>> 0, (b - 1) >>> 0), b);
}

function mix(i: number): number {
  let a = i;
  const b = Math.imul(i, 0x9e3779b1) >>> 0;
  for (let k = 0; k < rounds; k++) a = mixers[(a + k) % 6](a, b >>> k);
  return a;
}

const ints = (): Int32Array => new Int32Array(n);

/** Every kind of call that nvcc makes, in one file. */
export const recursionZoo = kernelFixture({
  ptx: new URL('./recursionZoo.ptx', import.meta.url),
  buffers: () => ({
    numbers: ints(),
    parities: ints(),
    hashes: new Uint32Array(n),
    structures: new Uint8Array(32 * n),
    expressions: new Float32Array(n),
    exchanged: uniform(n, 221, -1, 1),
    endings: ints().fill(-1),
    sums: ints(),
    mixes: new Uint32Array(n),
  }),
  launches: [
    { kernel: 'fibonacciOfThread', grid: 1, block: n, args: [{ buffer: 'numbers' }] },
    { kernel: 'parity', grid: 1, block: n, args: [{ buffer: 'parities' }] },
    { kernel: 'permutations', grid: 1, block: n, args: [{ buffer: 'hashes' }] },
    { kernel: 'structures', grid: 1, block: n, args: [{ buffer: 'structures' }, { i32: depth }] },
    { kernel: 'expressions', grid: 1, block: n, args: [{ buffer: 'expressions' }] },
    { kernel: 'exchange', grid: 1, block: n, args: [{ buffer: 'exchanged' }] },
    { kernel: 'endings', grid: 1, block: n, args: [{ buffer: 'endings' }] },
    { kernel: 'lists', grid: 1, block: n, args: [{ buffer: 'sums' }] },
    { kernel: 'mixes', grid: 1, block: n, args: [{ buffer: 'mixes' }, { i32: rounds }] },
  ],
  reference: (buffers) => {
    for (let i = 0; i < n; i++) {
      buffers.numbers[i] = fibonacci(i % 15);
      buffers.parities[i] = parity(i);
      buffers.hashes[i] = permute(
        [0, 3, 6, 9, 12].map((k) => (i * 7 + k) % 11),
        i % 3,
        i,
      );
      buffers.expressions[i] = expression(i);
      const steps = [1, 2, 3, 4, 5].map((k) => i + k * 6);
      if (steps.every((step) => step % 5 !== 0)) {
        buffers.endings[i] = steps.reduce((sum, step) => sum + 2 * step, 0);
      }
      buffers.sums[i] = Array.from({ length: (i % 9) + 1 }, (_, k) => i * 10 + k).reduce((a, b) => a + b, 0);
      buffers.mixes[i] = mix(i);
    }
    buffers.exchanged.set(exchange([...buffers.exchanged]));
    writeStructures(buffers.structures);
  },
  outputs: {
    numbers: 'exact',
    parities: 'exact',
    hashes: 'exact',
    structures: 'exact',
    expressions: 'exact',
    exchanged: 'exact',
    endings: 'exact',
    sums: 'exact',
    mixes: 'exact',
  },
  // The structure's padding may hold anything.
  settle: ({ structures }) => {
    for (let i = 0; i < n; i++) structures.fill(0, 32 * i + 27, 32 * i + 32);
  },
});
