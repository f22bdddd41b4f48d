import type { Expression, Term, WrapFit } from '../analysis/expressions/expression.js';
import type { Group } from './groups.js';
import { isPlainWrap, keyOfFactors, opened, type Refinement } from './refinement.js';

/** Longer ones are taken for any value. */
const MOST_BITS = 128;

/**
 * Expressions as terms of SMT-LIB's theory of bit-vectors. An expression is a mathematical integer; `value(e, w)` is it modulo
 * 2^w, so that wrapping of 8, 16, 32 and 64 bits is exact. What cannot be told this way (products of two unknown factors, powers,
 * loaded values) is a number of its own, about which only its bounds are said: then the text has more models than there are
 * points, never fewer.
 */
export class BitVectors {
  readonly lines: string[] = [];
  private readonly names = new Map<string, string>();
  private readonly widths = new Map<Expression, number | undefined>();
  private count = 0;

  constructor(
    private readonly refinement: Refinement,
    private readonly groups: ReadonlyMap<string, Group>,
  ) {}

  /** An expression that the conditions have been made use of for. */
  refined(expression: Expression): Expression {
    return this.refinement.of(expression);
  }

  assert(truth: string): void {
    this.lines.push(`(assert ${truth})`);
  }

  /** Bits that hold the value as a signed number; undefined when that is more than is worth it. */
  width(e: Expression): number | undefined {
    if (this.widths.has(e)) return this.widths.get(e);
    const found = Math.min(bitsOfRange(e.lo, e.hi), this.structuralWidth(e));
    const width = found > MOST_BITS ? undefined : found;
    this.widths.set(e, width);
    return width;
  }

  /** The value modulo 2^bits. */
  value(e: Expression, bits: number): string {
    return this.shared(`v${bits}:${e.id}`, `(_ BitVec ${bits})`, () => this.valueTerm(e, bits));
  }

  /** A truth value. */
  truth(e: Expression): string {
    return this.shared(`t:${e.id}`, 'Bool', () => this.truthTerm(e));
  }

  private structuralWidth(e: Expression): number {
    const of = (part: Expression): number => this.width(part) ?? Infinity;
    switch (e.op) {
      case 'argument':
        return e.bytes * 8 + (e.signed ? 0 : 1);
      case 'wrap':
        return e.bits + (e.signed ? 0 : 1);
      case 'bits':
        return e.bits;
      case 'sum':
        return this.sumWidth(e.constant, e.terms);
      case 'quotient':
        return e.b.lo > 0 ? of(e.a) : Infinity;
      case 'remainder':
        return e.b.lo > 0 ? of(e.b) : Infinity;
      case 'minimum':
      case 'maximum':
      case 'select':
        return Math.max(of(e.a), of(e.b));
      case 'narrow':
        return of(e.of);
      case 'meet':
        return Math.min(of(e.a), of(e.b));
      case 'constant':
      case 'dimension':
      case 'symbol':
      case 'thread':
      case 'counter':
      case 'unknown':
      case 'carried':
      case 'place':
      case 'product':
      case 'power':
      case 'exactQuotient':
      case 'assume':
      case 'hull':
      case 'atMostZero':
      case 'isZero':
      case 'not':
      case 'and':
      case 'or':
        return Infinity;
    }
  }

  private sumWidth(constant: number, terms: readonly Term[]): number {
    const widths = terms.map(({ coefficient, factors }) =>
      factors.reduce(
        (total, factor) => total + (this.width(factor) ?? Infinity),
        bitsOfRange(coefficient, coefficient),
      ),
    );
    const all = [...widths, bitsOfRange(constant, constant)];
    return Math.max(...all) + Math.ceil(Math.log2(all.length));
  }

  private valueTerm(e: Expression, bits: number): string {
    switch (e.op) {
      case 'constant':
        return literal(e.value, bits);
      case 'sum':
        return this.sum(e.constant, e.terms, bits);
      case 'wrap': {
        return isPlainWrap(e) || bits <= e.bits
          ? this.value(e.of, bits)
          : resized(this.value(e.of, e.bits), e.bits, bits, e.signed);
      }
      case 'bits': {
        const both = `(bv${e.operation} ${this.value(e.a, e.bits)} ${this.value(e.b, e.bits)})`;
        return resized(both, e.bits, bits, true);
      }
      case 'quotient':
      case 'remainder':
        return this.divided(e, bits) ?? this.any(e, bits);
      case 'minimum':
      case 'maximum': {
        const width = this.common(e.a, e.b);
        if (width === undefined) return this.any(e, bits);
        const isFirst = `(bvsle ${this.value(e.a, width)} ${this.value(e.b, width)})`;
        const [first, second] = e.op === 'minimum' ? [e.a, e.b] : [e.b, e.a];
        return `(ite ${isFirst} ${this.value(first, bits)} ${this.value(second, bits)})`;
      }
      case 'select':
        return `(ite ${this.truth(e.condition)} ${this.value(e.a, bits)} ${this.value(e.b, bits)})`;
      case 'narrow':
        return this.value(e.of, bits);
      case 'meet':
        return this.value(e.a, bits);
      case 'assume': {
        const fits = e.fits.map((fit) => this.fits(fit));
        return `(ite (and true ${fits.join(' ')}) ${this.value(e.of, bits)} ${this.any(e, bits)})`;
      }
      case 'atMostZero':
      case 'isZero':
      case 'not':
      case 'and':
      case 'or':
        return `(ite ${this.truth(e)} ${literal(1, bits)} ${literal(0, bits)})`;
      case 'product':
        return this.monomial({ coefficient: 1, factors: [e.a, e.b] }, bits);
      case 'argument': {
        // One number, read with a sign or without.
        const width = e.bytes * 8;
        const name = this.free(`p:${e.offset}`, [-Infinity, Infinity], width);
        const long = resized(name, width, width + 1, e.signed);
        this.shared(`p:${e.id}`, undefined, () => this.bounded(long, width + 1, e.lo, e.hi));
        return resized(name, width, bits, e.signed);
      }
      case 'dimension':
      case 'symbol':
      case 'thread':
      case 'counter':
      case 'unknown':
      case 'carried':
      case 'place':
      case 'power':
      case 'exactQuotient':
      case 'hull':
        return this.any(e, bits);
    }
  }

  private truthTerm(e: Expression): string {
    switch (e.op) {
      case 'constant':
        return e.value === 1 ? 'true' : 'false';
      case 'not':
        return `(not ${this.truth(e.of)})`;
      case 'and':
        return `(and true ${e.terms.map((term) => this.truth(term)).join(' ')})`;
      case 'or':
        return `(or false ${e.terms.map((term) => this.truth(term)).join(' ')})`;
      case 'select':
        return `(ite ${this.truth(e.condition)} ${this.truth(e.a)} ${this.truth(e.b)})`;
      case 'atMostZero':
      case 'isZero': {
        // As wide as its terms may be: that they keep to it is what is said here.
        const { constant, terms } = opened(e.of);
        const width = Math.min(
          bitsOfRange(...this.refinement.looseRange(constant, terms)),
          this.sumWidth(constant, terms),
        );
        if (width > MOST_BITS) return this.declared('Bool');
        const value = this.sum(constant, terms, width);
        return `(${e.op === 'isZero' ? '=' : 'bvsle'} ${value} ${literal(0, width)})`;
      }
      case 'argument':
      case 'dimension':
      case 'symbol':
      case 'thread':
      case 'counter':
      case 'unknown':
      case 'carried':
      case 'place':
      case 'sum':
      case 'product':
      case 'power':
      case 'quotient':
      case 'remainder':
      case 'exactQuotient':
      case 'minimum':
      case 'maximum':
      case 'bits':
      case 'wrap':
      case 'narrow':
      case 'assume':
      case 'meet':
      case 'hull':
        return this.declared('Bool');
    }
  }

  /** That a value lies in its type. */
  fits({ of, bits, signed }: WrapFit): string {
    const width = this.width(of);
    if (width === undefined) return this.declared('Bool');
    const size = signed ? bits : bits + 1;
    const value = this.value(of, width);
    const small = size >= width ? 'true' : `(= ${value} ${resized(this.value(of, size), size, width, true)})`;
    return signed ? small : `(and ${small} (bvsge ${value} ${literal(0, width)}))`;
  }

  private sum(constant: number, terms: readonly Term[], bits: number): string {
    const taken = new Set<Group>();
    const parts = terms.flatMap((term) => {
      const group = this.groups.get(keyOfFactors(term.factors));
      const first = group?.terms[0];
      if (group === undefined || first === undefined) return [this.monomial(term, bits)];
      if (taken.has(group)) return [];
      taken.add(group);
      const weight = group.terms.find(
        ({ factors }) => keyOfFactors(factors) === keyOfFactors(term.factors),
      )?.coefficient;
      const number = this.free(`g:${group.key}`, this.refinement.formRange(group.terms), bits);
      return [times(term.coefficient / (weight ?? 1), number, bits)];
    });
    const all = constant === 0 && parts.length > 0 ? parts : [...parts, literal(constant, bits)];
    return all.reduce((total, part) => `(bvadd ${total} ${part})`);
  }

  private monomial({ coefficient, factors }: Term, bits: number): string {
    const [only] = factors;
    const product =
      factors.length === 1 && only !== undefined
        ? this.value(only, bits)
        : this.free(`m:${keyOfFactors(factors)}`, this.refinement.product(factors), bits);
    return times(coefficient, product, bits);
  }

  /** Quotient and remainder as the numbers for which a = b · q + r. */
  private divided(
    e: Extract<Expression, { op: 'quotient' | 'remainder' }>,
    bits: number,
  ): string | undefined {
    const { a, b } = e;
    const [wide, narrow] = [this.width(a), this.width(b)];
    if (wide === undefined || narrow === undefined || b.lo <= 0) return undefined;
    const isFloor = e.rounding === 'floor' || a.lo >= 0;
    const shift = b.op === 'constant' ? Math.log2(b.value) : NaN;
    if (isFloor && Number.isInteger(shift)) {
      const value = this.value(a, wide);
      if (shift >= wide - 1) {
        const rest = `(ite (bvslt ${value} ${literal(0, wide)}) ${literal(-1, bits)} ${literal(0, bits)})`;
        return e.op === 'quotient' ? rest : undefined;
      }
      return e.op === 'quotient'
        ? resized(`((_ extract ${wide - 1} ${shift}) ${value})`, wide - shift, bits, true)
        : shift === 0
          ? literal(0, bits)
          : resized(`((_ extract ${shift - 1} 0) ${value})`, shift, bits, false);
    }
    // |q| ≤ |a| + 1 and |r| < b; their product and sum are a.
    const width = wide + narrow + 1;
    if (width > MOST_BITS) return undefined;
    const key = `${a.id}/${b.id}${isFloor ? 'floor' : 'zero'}`;
    const known = this.names.get(key);
    if (known === undefined) {
      this.names.set(key, '');
      const [q, r] = [
        this.free(`q${key}`, [-Infinity, Infinity], wide + 1),
        this.free(`r${key}`, [-Infinity, Infinity], narrow),
      ];
      const [value, by] = [this.value(a, width), this.value(b, width)];
      const [longQ, longR] = [resized(q, wide + 1, width, true), resized(r, narrow, width, true)];
      this.assert(`(= ${value} (bvadd (bvmul ${by} ${longQ}) ${longR}))`);
      const zero = literal(0, narrow);
      const divisor = this.value(b, narrow);
      const plain = `(and (bvsle ${zero} ${r}) (bvslt ${r} ${divisor}))`;
      const mirrored = `(and (bvsle ${r} ${zero}) (bvslt (bvneg ${divisor}) ${r}))`;
      const isNegative = `(bvslt ${this.value(a, wide)} ${literal(0, wide)})`;
      this.assert(isFloor ? plain : `(ite ${isNegative} ${mirrored} ${plain})`);
    }
    const isQuotient = e.op === 'quotient';
    const own = isQuotient ? wide + 1 : narrow;
    const found = this.free(`${isQuotient ? 'q' : 'r'}${key}`, [-Infinity, Infinity], own);
    return resized(found, own, bits, true);
  }

  private common(a: Expression, b: Expression): number | undefined {
    const [x, y] = [this.width(a), this.width(b)];
    return x === undefined || y === undefined ? undefined : Math.max(x, y);
  }

  /** A number of which only the bounds are known. */
  private any(e: Expression, bits: number): string {
    return this.free(`a:${e.id}`, [e.lo, e.hi], bits, this.width(e));
  }

  private free(
    key: string,
    [lo, hi]: readonly [number, number],
    bits: number,
    known = bitsOfRange(lo, hi),
  ): string {
    // Without bounds it is a number for each width: more models.
    const width = known <= MOST_BITS ? known : bits;
    const name = this.shared(`${key}:${width}`, undefined, () => {
      return this.bounded(this.declared(`(_ BitVec ${width})`), width, lo, hi);
    });
    return resized(name, width, bits, true);
  }

  private bounded(term: string, width: number, lo: number, hi: number): string {
    if (Number.isSafeInteger(lo)) this.assert(`(bvsle ${literal(lo, width)} ${term})`);
    if (Number.isSafeInteger(hi)) this.assert(`(bvsle ${term} ${literal(hi, width)})`);
    return term;
  }

  private declared(type: string): string {
    const name = `d${this.count++}`;
    this.lines.push(`(declare-fun ${name} () ${type})`);
    return name;
  }

  private shared(key: string, type: string | undefined, make: () => string): string {
    const known = this.names.get(key);
    if (known !== undefined) return known;
    const term = make();
    let name = term;
    if (type !== undefined && term.length > 40) {
      name = `s${this.count++}`;
      this.lines.push(`(define-fun ${name} () ${type} ${term})`);
    }
    this.names.set(key, name);
    return name;
  }
}

/** Bits of a signed number that hold all of a range. */
function bitsOfRange(lo: number, hi: number): number {
  if (!Number.isFinite(lo) || !Number.isFinite(hi)) return Infinity;
  const most = Math.max(hi, -lo - 1, 0);
  // One more than is needed at times: logarithms are rounded.
  return Math.floor(Math.log2(most + 1)) + 2;
}

function times(coefficient: number, term: string, bits: number): string {
  return coefficient === 1 ? term : `(bvmul ${literal(coefficient, bits)} ${term})`;
}

function literal(value: number, bits: number): string {
  return `(_ bv${BigInt.asUintN(bits, BigInt(value))} ${bits})`;
}

function resized(term: string, from: number, to: number, signed: boolean): string {
  if (from === to) return term;
  if (to < from) return `((_ extract ${to - 1} 0) ${term})`;
  return `((_ ${signed ? 'sign' : 'zero'}_extend ${to - from}) ${term})`;
}
