import type { ElementType } from '../forms/index.js';
import { encodeExact, leadingExponent, nearest, power, roundTo, type Decoded } from './numbers.js';
import type { FusedModel } from './parameters.js';

/** Sums are exact in doubles up to this many bits below the largest exponent: 128 terms below 4 are below 2^9. */
export const mostFractionBits = 43;

/** A row of A and a column of B as pairs of indices into decoded elements, and the accumulator's index. */
export interface DotOperands {
  readonly a: Decoded;
  readonly b: Decoded;
  readonly c: Decoded;
}

/** What is fixed of a form: parameters and types. */
export interface FusedContext {
  readonly model: FusedModel;
  readonly blocks: readonly Int32Array[];
  readonly accumulator: 'f16' | 'f32';
  readonly result: 'f16' | 'f32';
  /** Of the last sum: f32 where it is narrowed after. */
  readonly sum: 'f16' | 'f32';
}

/**
 * Places of products, block by block.
 * @param count of products of one dot product
 */
export function dealBlocks(
  count: number,
  { blockLength, dealing, blockOrder }: Pick<FusedModel, 'blockLength' | 'dealing' | 'blockOrder'>,
): readonly Int32Array[] {
  const length = Math.min(count, blockLength);
  const blockCount = Math.ceil(count / length);
  const blocks: number[][] = Array.from({ length: blockCount }, () => []);
  const run = { neighbours: length, turns: 1, pairs: 2, fours: 4 }[dealing];
  for (let at = 0; at < count; at++) blocks[Math.floor(at / run) % blockCount]?.push(at);
  if (blockOrder === 'descending') blocks.reverse();
  return blocks.map((block) => Int32Array.from(block));
}

export function fusedContext(
  model: FusedModel,
  count: number,
  accumulator: ElementType,
  result: ElementType,
): FusedContext {
  const narrow = (type: ElementType): 'f16' | 'f32' => (type === 'f16' ? 'f16' : 'f32');
  return {
    model,
    blocks: dealBlocks(count, model),
    accumulator: narrow(accumulator),
    result: narrow(result),
    sum: model.narrowing === 'after' ? 'f32' : narrow(result),
  };
}

const lowestExponents = { f16: -14, f32: -126 } as const;
const fractions = { f16: 10, f32: 23 } as const;
const largest = { f16: 65504, f32: 3.4028234663852886e38 } as const;
const limits = { f16: 65536, f32: 2 ** 128 } as const;

/** A partial sum: its exact value, the exponent its type gives it, and whether it is nothing but negative noughts. */
interface Sum {
  value: number;
  exponent: number;
  /** Every term so far is negative or -0. */
  isNegative: boolean;
}

/** Terms of a block, with as many entries as the longest one has. */
const termValues = new Float64Array(260);
const termExponents = new Int32Array(260);

/**
 * Bits of one element of D: the sum of `a[aAt + i·aStep] · b[bAt[i]]` over the products, and of `c[cAt]`.
 * @param aAt index of the first factor of A in its decoded elements; the others follow
 * @param bAt indices of the factors of B
 */
export function fusedDot(
  { a, b, c }: DotOperands,
  { model, blocks, accumulator, result, sum }: FusedContext,
  aAt: number,
  bAt: Int32Array,
  cAt: number,
): number {
  const start: Sum = {
    value: c.values[cAt] ?? 0,
    exponent: c.exponents[cAt] ?? 0,
    isNegative: isSigned(c.values[cAt] ?? 0),
  };
  flushInput(start, model, accumulator);
  const isLate = model.accumulator === 'end';
  const own = isLate ? nought(accumulator) : start;
  const last = blocks.length - 1;
  for (const [index, block] of blocks.entries()) {
    const isLast = index === last && !isLate;
    let count = 0;
    let isNegative = true;
    // A sum that is no number stays one, and so does that of a block in which one takes part.
    let special = Number.isFinite(own.value) ? 0 : own.value;
    for (const at of block) {
      const left = aAt + at;
      const right = bAt[at] ?? 0;
      let product = (a.values[left] ?? 0) * (b.values[right] ?? 0);
      let exponent = (a.exponents[left] ?? 0) + (b.exponents[right] ?? 0);
      if (model.subnormalInputs === 'flushed' && (isSubnormal(a, left) || isSubnormal(b, right)))
        product =
          (isSubnormal(a, left) ? 0 : (a.values[left] ?? 0)) *
          (isSubnormal(b, right) ? 0 : (b.values[right] ?? 0));
      if (product === 0) {
        if (!isSigned(product)) isNegative = false;
        if (model.zeroProducts === 'ignored') continue;
      } else if (Number.isFinite(product)) {
        if (product > 0) isNegative = false;
        if (model.alignment === 'normalised') exponent = leadingExponent(product);
      } else {
        special += product;
        continue;
      }
      termValues[count] = product;
      termExponents[count++] = exponent;
    }
    if (special !== 0) {
      own.value = special;
      continue;
    }
    if (model.accumulator === 'after') {
      const partial: Sum = { value: 0, exponent: lowestExponents.f32, isNegative };
      settle(partial, addTerms(count, model), isNegative, 'f32', model, false);
      count = 0;
      if (partial.value !== 0) {
        termValues[count] = partial.value;
        termExponents[count++] = partial.exponent;
      }
    }
    if (own.value !== 0) {
      termValues[count] = own.value;
      termExponents[count++] = own.exponent;
    }
    const between = isLast || model.between === 'result' ? sum : 'f32';
    settle(own, addTerms(count, model), isNegative && own.isNegative, between, model, isLast);
  }
  // An addition, and a conversion, of their own round to nearest.
  if (isLate) own.value = nearest(own.value + start.value, result);
  else if (sum !== result) own.value = nearest(own.value, result);
  return Number.isNaN(own.value) ? nanBits(model, result) : encodeExact(result, own.value);
}

function nought(type: 'f16' | 'f32'): Sum {
  return { value: 0, exponent: lowestExponents[type], isNegative: true };
}

function isSigned(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

function isSubnormal({ values, exponents }: Decoded, at: number): boolean {
  const value = values[at] ?? 0;
  return value !== 0 && leadingExponent(value) < (exponents[at] ?? 0);
}

function flushInput(sum: Sum, model: FusedModel, type: 'f16' | 'f32'): void {
  if (model.subnormalInputs === 'kept' || sum.value === 0) return;
  if (leadingExponent(sum.value) < lowestExponents[type]) sum.value *= 0;
}

/** The sum of the first terms, each brought to the largest exponent and cut. */
function addTerms(count: number, { fractionBits, cut }: FusedModel): number {
  if (count === 0) return 0;
  let most = -Infinity;
  for (let at = 0; at < count; at++) most = Math.max(most, termExponents[at] ?? 0);
  const scale = power(fractionBits - most);
  let sum = 0;
  for (let at = 0; at < count; at++) {
    const steps = (termValues[at] ?? 0) * scale;
    sum += cut === 'truncate' ? Math.trunc(steps) : cut === 'floor' ? Math.floor(steps) : roundTies(steps);
  }
  return sum * power(most - fractionBits);
}

function roundTies(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

/** Rounds a block's sum to its type, into `target`. */
function settle(
  target: Sum,
  sum: number,
  isNegative: boolean,
  type: 'f16' | 'f32',
  model: FusedModel,
  isResult: boolean,
): void {
  const lowest = lowestExponents[type];
  target.isNegative = isNegative;
  if (sum === 0) {
    target.value = model.zeroSign === 'allNegative' && isNegative ? -0 : 0;
    target.exponent = lowest;
    return;
  }
  const bits = type === 'f32' ? model.resultBits : fractions.f16;
  let value = roundTo(sum, bits, lowest, model.rounding);
  if (Math.abs(value) >= limits[type])
    value = Math.sign(sum) * (model.overflow === 'infinity' ? Infinity : largest[type]);
  if (model.subnormalResults === 'flushed' && isResult && Math.abs(value) < power(lowest)) value *= 0;
  // What is rounded to nought has lost its sign as well.
  if (value === 0 && model.zeroSign === 'positive') value = 0;
  target.value = value;
  target.exponent =
    value === 0 || !Number.isFinite(value) ? lowest : Math.max(leadingExponent(value), lowest);
}

function nanBits({ nan }: FusedModel, type: 'f16' | 'f32'): number {
  if (nan === 'allOnes') return type === 'f16' ? 0x7fff : 0x7fffffff;
  return type === 'f16' ? 0x7e00 : 0x7fc00000;
}
