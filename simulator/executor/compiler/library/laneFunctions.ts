import { FunctionBuilder } from '../../../wasm/index.js';
import type { Library } from './library.js';

/**
 * Functions of whole vectors that vector code calls where something is rare, or too long to write at each place: four
 * f32 in, four out, computed in double precision.
 */

const LEAST_NORMAL = 2 ** -126;

/** Below it, what is rounded to 24 bits of an exponent without end stays below the least normal number. */
const FLUSHED_BELOW = LEAST_NORMAL * (1 - 2 ** -25);

function pushDoubles(f: FunctionBuilder, value: number): FunctionBuilder {
  const words = new Uint32Array(new Float64Array([value]).buffer);
  const [low, high] = [words[0] ?? 0, words[1] ?? 0];
  return f.v128(low, high, low, high);
}

/** Pushes two of a vector's f32 as doubles. */
function pushPromoted(f: FunctionBuilder, operand: number, half: 0 | 1): FunctionBuilder {
  f.get(operand);
  if (half === 1) f.get(operand).shuffleWords(2, 3, 2, 3);
  return f.simd('f64x2PromoteLowF32x4');
}

/** Makes zeros of their sign of doubles that an f32 under `.ftz` would flush. */
function flushDoubles(f: FunctionBuilder, value: number): FunctionBuilder {
  f.tee(value).get(value).simd('f64x2Abs');
  pushDoubles(f, FLUSHED_BELOW).simd('f64x2Lt');
  return f.v128(-1, 0x7fffffff, -1, 0x7fffffff).simd('v128And').simd('v128AndNot');
}

/** Takes a + b from the stack: rounded to odd in 53 bits, so that a later rounding to fewer bits is as of the exact sum. */
export function sumToOdd(f: FunctionBuilder, a: number, b: number): FunctionBuilder {
  const [sum, part, error] = [f.local('v128'), f.local('v128'), f.local('v128')];
  f.tee(sum).get(a).simd('f64x2Sub').set(part);
  f.get(a).get(sum).get(part).simd('f64x2Sub').simd('f64x2Sub').get(b).get(part).simd('f64x2Sub');
  f.simd('f64x2Add').set(error);
  // One unit towards the error, unless the sum is exact, infinite, a NaN or odd already.
  f.get(sum).get(error).v128(0, 0, 0, 0).simd('f64x2Gt').get(sum).v128(0, 0, 0, 0).simd('f64x2Gt');
  f.simd('v128Xor').v128(1, 0, 1, 0).simd('v128Or');
  f.get(error).v128(0, 0, 0, 0).simd('f64x2Lt').get(error).v128(0, 0, 0, 0).simd('f64x2Gt').simd('v128Or');
  f.simd('v128And');
  f.get(sum).i32(63).simd('i64x2Shl').i32(63).simd('i64x2ShrS').simd('v128AndNot');
  return f.simd('i64x2Add');
}

function fromHalves(
  count: 2 | 3,
  flushes: boolean,
  write: (f: FunctionBuilder, operands: readonly number[]) => void,
): FunctionBuilder {
  const f = new FunctionBuilder(
    Array.from({ length: count }, () => 'v128' as const),
    ['v128'],
  );
  const operands = Array.from({ length: count }, () => f.local('v128'));
  const result = f.local('v128');
  for (const half of [0, 1] as const) {
    operands.forEach((local, operand) => pushPromoted(f, operand, half).set(local));
    write(f, operands);
    if (flushes) flushDoubles(f, result);
    f.simd('f32x4DemoteF64x2Zero');
  }
  return f.shuffleWords(0, 1, 4, 5);
}

function fused(flushes: boolean): FunctionBuilder {
  return fromHalves(3, flushes, (f, [a = 0, b = 0, c = 0]) => {
    f.get(a).get(b).simd('f64x2Mul').tee(a).get(c).simd('f64x2Add');
    sumToOdd(f, a, c);
  });
}

/** Number of a directed rounding: towards zero (0), −∞ (1) or +∞ (2). */
type Direction = 0 | 1 | 2;

/**
 * a · b + c of f32x4, rounded once in a direction: one of the two neighbours of the exact value, and where it lies on the
 * wrong side of that, the other one.
 */
function fusedDirected(direction: Direction): FunctionBuilder {
  const f = new FunctionBuilder(['v128', 'v128', 'v128'], ['v128']);
  const v128 = (): number => f.local('v128');
  const [product, addend, sum, part, error, near] = [v128(), v128(), v128(), v128(), v128(), v128()];
  const rounded = [v128(), v128()] as const;
  const wrong = [v128(), v128()] as const;
  const zero = (): FunctionBuilder => f.v128(0, 0, 0, 0);
  /** Pushes where the exact value is below the rounded one, or above. */
  const beyond = (side: 'Lt' | 'Gt'): void => {
    f.get(sum).get(near).simd(`f64x2${side}`).get(sum).get(near).simd('f64x2Eq').get(error);
    zero().simd(`f64x2${side}`).simd('v128And').simd('v128Or');
  };
  for (const half of [0, 1] as const) {
    pushPromoted(f, 0, half);
    pushPromoted(f, 1, half).simd('f64x2Mul').tee(product);
    pushPromoted(f, 2, half).tee(addend).simd('f64x2Add').tee(sum);
    f.get(product).simd('f64x2Sub').set(part).get(product).get(sum).get(part).simd('f64x2Sub');
    f.simd('f64x2Sub').get(addend).get(part).simd('f64x2Sub').simd('f64x2Add').set(error);
    if (direction === 1) {
      // A sum that cancels is −0.
      f.get(sum).get(sum);
      zero().simd('f64x2Eq').get(product).get(addend).simd('v128Xor').simd('v128And');
      f.v128(0, -0x80000000, 0, -0x80000000).simd('v128And').simd('v128Or').set(sum);
    }
    f.get(sum).simd('f32x4DemoteF64x2Zero').tee(rounded[half]).simd('f64x2PromoteLowF32x4').set(near);
    if (direction === 0) {
      beyond('Lt');
      f.get(near);
      zero().simd('f64x2Gt').simd('v128And');
      beyond('Gt');
      f.get(near);
      zero().simd('f64x2Lt').simd('v128And').simd('v128Or');
    } else beyond(direction === 1 ? 'Lt' : 'Gt');
    f.set(wrong[half]);
  }
  f.get(rounded[0]).get(rounded[1]).shuffleWords(0, 1, 4, 5).tee(near);
  f.get(wrong[0]).get(wrong[1]).shuffleWords(0, 2, 4, 6);
  // One unit away from zero, or towards it, by the sign.
  if (direction !== 0) f.get(near).i32(31).simd('i32x4ShrS').v128(1, 1, 1, 1).simd('v128Or').simd('v128And');
  if (direction === 1) return f.simd('i32x4Sub');
  return f.simd('i32x4Add');
}

function binary(what: 'Mul' | 'Div'): FunctionBuilder {
  return fromHalves(2, true, (f, [a = 0, b = 0]) => f.get(a).get(b).simd(`f64x2${what}`));
}

/** (first, second, result) of f64x2: where the result is a NaN, the first NaN of two operands, quieted, or the canonical one. */
function chooseNans(): FunctionBuilder {
  const f = new FunctionBuilder(['v128', 'v128', 'v128'], ['v128']);
  f.get(0).get(1).v128(0, -0x80000, 0, -0x80000);
  f.get(1).get(1).simd('f64x2Ne').simd('v128Bitselect');
  f.get(0).get(0).simd('f64x2Ne').simd('v128Bitselect');
  f.v128(0, 0x80000, 0, 0x80000).simd('v128Or');
  return f.get(2).get(2).get(2).simd('f64x2Ne').simd('v128Bitselect');
}

export const laneFunctionMakers = {
  /** (a, b, c) → a · b + c rounded once, of f32x4. */
  fusedLanes: () => fused(false),
  /** The same under `.ftz`, of operands that are flushed already. */
  fusedFlushedLanes: () => fused(true),
  /** (a, b, c) → a · b + c rounded towards zero, −∞ and +∞. */
  fusedZeroLanes: () => fusedDirected(0),
  fusedDownLanes: () => fusedDirected(1),
  fusedUpLanes: () => fusedDirected(2),
  productFlushedLanes: () => binary('Mul'),
  quotientFlushedLanes: () => binary('Div'),
  chooseNans,
} satisfies Record<string, (library: Library) => FunctionBuilder>;
