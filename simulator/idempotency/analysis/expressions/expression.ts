import type { DimensionName, ThreadVariable } from '../../summary.js';

/** Why a value is not a function of arguments, dimensions and thread: NA memory or another thread, PE a loop. */
export interface UnknownSource {
  readonly cause: 'NA' | 'PE';
  readonly line: number;
  readonly text: string;
}

interface Common {
  /** Order of creation; operands come before what uses them. */
  readonly id: number;
  /** Bounds that hold in every launch; ±Infinity when there is none. */
  readonly lo: number;
  readonly hi: number;
  /** The same for all threads and iterations, and known at launch. */
  readonly uniform: boolean;
  /** Two runs of one launch may see different values. */
  readonly tainted: boolean;
  readonly source: UnknownSource | undefined;
  /** The greatest id of a leaf inside: what was made before a loop is invariant in it. */
  readonly newest: number;
}

/** coefficient · Π factors; factors are no sums and no constants, in order of id. */
export interface Term {
  readonly coefficient: number;
  readonly factors: readonly Expression[];
}

export interface WrapFit {
  readonly of: Expression;
  readonly bits: IntegerBits;
  readonly signed: boolean;
}

export type IntegerBits = 8 | 16 | 32 | 64;

/** Memory that dies with the block, and where parameters lie: addresses there are no addresses of global memory. */
export type PrivateSpace = 'shared' | 'local' | 'param' | 'const';

/** A mathematical integer as a function of arguments, dimensions, threads and iterations. Equal ones are the same object. */
export type Expression = Common & Operator;

export type Operator =
  | { readonly op: 'constant'; readonly value: number }
  | {
      readonly op: 'argument';
      readonly offset: number;
      readonly bytes: 1 | 2 | 4 | 8;
      readonly signed: boolean;
    }
  | { readonly op: 'dimension'; readonly name: DimensionName }
  | { readonly op: 'symbol'; readonly name: string }
  | { readonly op: 'thread'; readonly name: ThreadVariable }
  /** Iteration number of a loop. */
  | { readonly op: 'counter'; readonly loop: number }
  | { readonly op: 'unknown' }
  /** A register's value when a loop's header is reached, while the loop is not yet understood. */
  | { readonly op: 'carried'; readonly register: number }
  /** Address of a variable in private memory, or where such a space begins in generic addresses. */
  | { readonly op: 'place'; readonly space: PrivateSpace; readonly name: string }
  | { readonly op: 'sum'; readonly constant: number; readonly terms: readonly Term[] }
  /** A product too large to expand. */
  | { readonly op: 'product'; readonly a: Expression; readonly b: Expression }
  | { readonly op: 'power'; readonly of: Expression }
  | {
      readonly op: 'quotient' | 'remainder';
      readonly a: Expression;
      readonly b: Expression;
      readonly rounding: 'floor' | 'zero';
    }
  | {
      readonly op: 'exactQuotient';
      readonly a: Expression;
      readonly b: Expression;
      readonly divides: boolean;
    }
  | { readonly op: 'minimum' | 'maximum'; readonly a: Expression; readonly b: Expression }
  | {
      readonly op: 'bits';
      readonly operation: 'and' | 'or' | 'xor';
      readonly a: Expression;
      readonly b: Expression;
      readonly bits: IntegerBits;
    }
  | { readonly op: 'wrap'; readonly of: Expression; readonly bits: IntegerBits; readonly signed: boolean }
  | {
      readonly op: 'select';
      readonly condition: Expression;
      readonly a: Expression;
      readonly b: Expression;
    }
  /** Truth: of ≤ 0. */
  | { readonly op: 'atMostZero'; readonly of: Expression }
  /** Truth: of = 0. */
  | { readonly op: 'isZero'; readonly of: Expression }
  | { readonly op: 'not'; readonly of: Expression }
  | { readonly op: 'and' | 'or'; readonly terms: readonly Expression[] }
  /** `of`, where it lies between the bounds. */
  | {
      readonly op: 'narrow';
      readonly of: Expression;
      readonly least: Expression | undefined;
      readonly most: Expression | undefined;
    }
  /** `of`, if nothing of `fits` wraps. */
  | { readonly op: 'assume'; readonly of: Expression; readonly fits: readonly WrapFit[] }
  /** One value, told in two ways that bound it differently. */
  | { readonly op: 'meet'; readonly a: Expression; readonly b: Expression }
  /** Some value between two others. */
  | { readonly op: 'hull'; readonly from: Expression; readonly to: Expression };

/** The terms of any expression: a constant is a sum of none. */
export function termsOf(expression: Expression): readonly Term[] {
  if (expression.op === 'sum') return expression.terms;
  return expression.op === 'constant' ? [] : [{ coefficient: 1, factors: [expression] }];
}

export function constantOf(expression: Expression): number {
  return expression.op === 'sum' ? expression.constant : expression.op === 'constant' ? expression.value : 0;
}

export function isConstant(expression: Expression, value?: number): boolean {
  return expression.op === 'constant' && (value === undefined || expression.value === value);
}

/** Direct operands, for walks. */
export function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.op) {
    case 'constant':
    case 'argument':
    case 'dimension':
    case 'symbol':
    case 'thread':
    case 'counter':
    case 'unknown':
    case 'carried':
    case 'place':
      return [];
    case 'sum':
      return expression.terms.flatMap((term) => term.factors);
    case 'product':
    case 'quotient':
    case 'remainder':
    case 'exactQuotient':
    case 'minimum':
    case 'maximum':
    case 'bits':
    case 'meet':
      return [expression.a, expression.b];
    case 'power':
    case 'wrap':
    case 'atMostZero':
    case 'isZero':
    case 'not':
      return [expression.of];
    case 'select':
      return [expression.condition, expression.a, expression.b];
    case 'and':
    case 'or':
      return expression.terms;
    case 'narrow':
      return [expression.of, expression.least, expression.most].filter((each) => each !== undefined);
    case 'assume':
      return [expression.of, ...expression.fits.map((fit) => fit.of)];
    case 'hull':
      return [expression.from, expression.to];
  }
}

/** The range of an integer type; of 64 bits what exact arithmetic reaches. */
export function typeRange(bits: IntegerBits, signed: boolean): readonly [number, number] {
  if (bits === 64) return signed ? [-(2 ** 53), 2 ** 53] : [0, 2 ** 53];
  return signed ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
}

/** A number modulo 2^bits in the range of the type; undefined when 64 bits leave exact numbers. */
export function wrapNumber(value: number, bits: IntegerBits, signed: boolean): number | undefined {
  const big = BigInt(value);
  const wrapped = Number(signed ? BigInt.asIntN(bits, big) : BigInt.asUintN(bits, big));
  return Number.isSafeInteger(wrapped) ? wrapped : undefined;
}

export function gcd(a: number, b: number): number {
  let [x, y] = [Math.abs(a), Math.abs(b)];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** The factors that are left when others are taken out, or undefined when some are missing. */
export function withoutFactors(
  from: readonly Expression[],
  out: readonly Expression[],
): Expression[] | undefined {
  const left = [...from];
  for (const factor of out) {
    const index = left.indexOf(factor);
    if (index < 0) return undefined;
    left.splice(index, 1);
  }
  return left;
}
