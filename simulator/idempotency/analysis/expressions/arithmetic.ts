import type { Expression, IntegerBits, Term } from './expression.js';
import { constantOf, gcd, isConstant, termsOf, typeRange, withoutFactors, wrapNumber } from './expression.js';
import type { ExpressionTable } from './expressionTable.js';
import { withRemainders } from './remainders.js';

/** Beyond so many terms a product stays a product. */
const MOST_TERMS = 96;

/** What is surely within 64 bits, for bounds that are not exact. */
const WIDE_SIGNED = [-(2 ** 63 - 2 ** 40), 2 ** 63 - 2 ** 40] as const;
const WIDE_UNSIGNED = [0, 2 ** 64 - 2 ** 40] as const;

const beyond = {
  cause: 'NA' as const,
  line: 0,
  text: 'a value beyond exact arithmetic',
};

/**
 * Arithmetic in a normal form: sums of products of indivisible factors, in one order, so that equal values reached in
 * different ways are the same object. Exact over the integers; `wrap` is where widths come in.
 */
export class Arithmetic {
  constructor(readonly table: ExpressionTable) {}

  constant(value: number): Expression {
    if (!Number.isSafeInteger(value)) return this.unknownBeyond();
    return this.table.constant(value);
  }

  unknownBeyond(tainted = false): Expression {
    return this.table.unknown([-Infinity, Infinity], { tainted, source: beyond });
  }

  sum(constant: number, terms: readonly Term[]): Expression {
    this.table.spend(terms.length);
    const byKey = new Map<string, Term>();
    for (const term of terms) {
      const key = term.factors.map((factor) => factor.id).join('*');
      const before = byKey.get(key);
      const coefficient = (before?.coefficient ?? 0) + term.coefficient;
      if (coefficient === 0) byKey.delete(key);
      else byKey.set(key, { coefficient, factors: term.factors });
    }
    const kept = [...byKey.values()];
    const isExact =
      Number.isSafeInteger(constant) && kept.every((term) => Number.isSafeInteger(term.coefficient));
    if (!isExact) return this.unknownBeyond(kept.some((term) => term.factors.some((each) => each.tainted)));
    if (kept.length === 0) return this.table.constant(constant);
    const [only] = kept;
    if (kept.length === 1 && constant === 0 && only?.coefficient === 1 && only.factors.length === 1) {
      const [factor] = only.factors;
      if (factor !== undefined) return factor;
    }
    kept.sort((a, b) => compareFactors(a.factors, b.factors));
    return this.table.make({ op: 'sum', constant: constant + 0, terms: kept });
  }

  add(a: Expression, b: Expression): Expression {
    if (isConstant(a, 0)) return b;
    if (isConstant(b, 0)) return a;
    return this.sum(constantOf(a) + constantOf(b), [...termsOf(a), ...termsOf(b)]);
  }

  scale(a: Expression, factor: number): Expression {
    if (factor === 1) return a;
    if (factor === 0) return this.table.constant(0);
    return this.sum(
      constantOf(a) * factor,
      termsOf(a).map((term) => ({ ...term, coefficient: term.coefficient * factor })),
    );
  }

  subtract(a: Expression, b: Expression): Expression {
    return this.add(a, this.scale(b, -1));
  }

  addConstant(a: Expression, value: number): Expression {
    return value === 0 ? a : this.sum(constantOf(a) + value, termsOf(a));
  }

  multiply(a: Expression, b: Expression): Expression {
    if (a.op === 'constant') return this.scale(b, a.value);
    if (b.op === 'constant') return this.scale(a, b.value);
    const [left, right] = [allTerms(a), allTerms(b)];
    if (left.length * right.length > MOST_TERMS) return this.table.make({ op: 'product', a, b });
    const terms: Term[] = [];
    for (const x of left) {
      for (const y of right) {
        terms.push({
          coefficient: x.coefficient * y.coefficient,
          factors: [...x.factors, ...y.factors].sort((m, n) => m.id - n.id),
        });
      }
    }
    const constant = terms
      .filter((term) => term.factors.length === 0)
      .reduce((total, term) => total + term.coefficient, 0);
    return this.sum(
      constant,
      terms.filter((term) => term.factors.length > 0),
    );
  }

  power(of: Expression): Expression {
    if (of.op === 'constant') {
      return of.value >= 0 && of.value <= 52 ? this.table.constant(2 ** of.value) : this.unknownBeyond();
    }
    return this.table.make({ op: 'power', of });
  }

  /** The same number modulo 2^bits with the smallest coefficients: what a register of that width holds. */
  reduce(a: Expression, bits: IntegerBits): Expression {
    if (bits === 64) return a;
    const small = (value: number): number => wrapNumber(value, bits, true) ?? value;
    const terms = termsOf(a);
    const stripped = terms.some((term) => term.factors.some((each) => isWrapOf(each, bits)))
      ? this.strip(a, bits)
      : a;
    const isSmall = (value: number): boolean => small(value) === value;
    const left = termsOf(stripped);
    if (isSmall(constantOf(stripped)) && left.every((term) => isSmall(term.coefficient))) return stripped;
    return this.sum(
      small(constantOf(stripped)),
      left.map((term) => ({ ...term, coefficient: small(term.coefficient) })),
    );
  }

  /** Factors that wrap at least at this width need not, in arithmetic modulo 2^bits. */
  private strip(a: Expression, bits: IntegerBits): Expression {
    let total: Expression = this.table.constant(constantOf(a));
    for (const term of termsOf(a)) {
      let product: Expression = this.constant(wrapNumber(term.coefficient, bits, true) ?? term.coefficient);
      for (const factor of term.factors) {
        const inner = factor.op === 'wrap' && isWrapOf(factor, bits) ? factor.of : factor;
        product = this.multiply(product, inner);
      }
      total = this.add(total, product);
    }
    if (termsOf(total).length > MOST_TERMS) return a;
    return total;
  }

  /** What a register that holds `of` modulo 2^bits is as a signed or unsigned integer. */
  wrap(of: Expression, bits: IntegerBits, signed: boolean): Expression {
    const [lo, hi] = bits === 64 ? (signed ? WIDE_SIGNED : WIDE_UNSIGNED) : typeRange(bits, signed);
    if (of.lo >= lo && of.hi <= hi) return of;
    const inner = this.reduce(of, bits);
    if (inner.lo >= lo && inner.hi <= hi) return inner;
    if (inner.op === 'sum') {
      for (const same of [inner, ...this.alignedSums(inner, bits)]) {
        const joined = this.joinedQuotient(same, 1);
        if (joined !== undefined && joined.lo >= lo && joined.hi <= hi) return same;
      }
    }
    if (inner.op === 'constant') {
      const wrapped = wrapNumber(inner.value, bits, signed);
      return wrapped === undefined ? this.unknownBeyond() : this.table.constant(wrapped);
    }
    if (inner.op === 'argument' && inner.bytes * 8 === bits) {
      return this.table.argument(inner.offset, inner.bytes, signed);
    }
    return this.table.make({ op: 'wrap', of: inner, bits, signed });
  }

  /** Sums equal modulo 2^bits in which x is wrapped where ⌊x · M / 2^s⌋, beside it, has it wrapped. */
  private alignedSums(sum: Expression, bits: IntegerBits): Expression[] {
    const found: Expression[] = [];
    for (const { factors } of termsOf(sum)) {
      const [quotient] = factors;
      if (factors.length !== 1 || quotient?.op !== 'quotient') continue;
      for (const wrapped of termsOf(quotient.a).flatMap((term) => term.factors)) {
        if (wrapped.op !== 'wrap' || wrapped.bits < bits) continue;
        const same = this.add(this.subtract(sum, wrapped.of), wrapped);
        if (termsOf(same).length <= termsOf(sum).length) found.push(same);
      }
    }
    return found;
  }

  quotient(a: Expression, b: Expression, rounding: 'floor' | 'zero'): Expression {
    if (isConstant(b, 1)) return a;
    if (isConstant(b, -1)) return this.scale(a, -1);
    if (isConstant(b, 0)) return this.unknownBeyond(a.tainted);
    const isPlain = a.lo >= 0 && b.lo > 0;
    const way = isPlain ? 'floor' : rounding;
    if (b.op === 'constant') {
      const known = this.constantQuotient(a, b.value, way);
      if (known !== undefined) return known;
    }
    if (isPlain && a.hi < b.lo) return this.table.constant(0);
    if (a.op === 'sum' && b.op === 'constant' && b.value > 0) {
      const [lo, hi] = this.toldRange(a);
      if (lo >= 0 && hi < b.value) return this.table.constant(0);
    }
    if (b.op === 'power' && a.op === 'constant' && a.value === 0) return a;
    const [onlyA, onlyB] = [termsOf(a), termsOf(b)];
    if (b.lo > 0 || b.hi < 0) {
      const whole = divideTerms(onlyA, constantOf(a), onlyB, constantOf(b));
      if (whole !== undefined) return this.sum(whole.constant, whole.terms);
      const parted = way === 'floor' && b.op !== 'constant' ? this.partedQuotient(a, b) : undefined;
      if (parted !== undefined) return parted;
    }
    return this.table.make({ op: 'quotient', a, b, rounding: way });
  }

  /** ⌊(x + b · y) / b⌋ = ⌊x / b⌋ + y. */
  private partedQuotient(a: Expression, b: Expression): Expression | undefined {
    const terms = termsOf(a);
    const divided = terms.map((term) => divideTerms([term], 0, termsOf(b), constantOf(b)));
    const whole = divided.flatMap((each) => (each === undefined ? [] : [each]));
    if (whole.length === 0) return undefined;
    const rest = this.sum(
      constantOf(a),
      terms.filter((_, index) => divided[index] === undefined),
    );
    const constant = whole.reduce((total, each) => total + each.constant, 0);
    const parts = this.sum(
      constant,
      whole.flatMap((each) => each.terms),
    );
    return this.add(parts, this.quotient(rest, b, 'floor'));
  }

  private constantQuotient(a: Expression, by: number, way: 'floor' | 'zero'): Expression | undefined {
    const round = way === 'floor' ? Math.floor : Math.trunc;
    if (a.op === 'constant') return this.table.constant(round(a.value / by));
    const extended = way === 'floor' ? this.extended(a, by) : undefined;
    if (extended !== undefined) return extended;
    const divides = (value: number): boolean => value % by === 0;
    const terms = termsOf(a);
    const whole = terms.filter((term) => divides(term.coefficient));
    const rest = terms.filter((term) => !divides(term.coefficient));
    const over = (kept: readonly Term[]): Term[] =>
      kept.map((term) => ({ ...term, coefficient: term.coefficient / by }));
    const constant = constantOf(a);
    if (rest.length === 0 && divides(constant)) return this.sum(constant / by, over(whole));
    if (by < 0) return undefined;
    if (way === 'floor') {
      const common = terms.reduce((divisor, term) => gcd(divisor, term.coefficient), by);
      if (common > 1) {
        const reduced = this.sum(
          Math.floor(constant / common),
          terms.map((term) => ({ ...term, coefficient: term.coefficient / common })),
        );
        return this.quotient(reduced, this.table.constant(by / common), 'floor');
      }
      const steps = Math.floor(constant / by);
      if (whole.length > 0 || steps !== 0) {
        const left = this.sum(constant - steps * by, rest);
        return this.add(this.sum(steps, over(whole)), this.quotient(left, this.table.constant(by), 'floor'));
      }
      if (a.op === 'quotient' && a.rounding === 'floor' && a.b.op === 'constant' && a.b.value > 0) {
        const product = a.b.value * by;
        if (Number.isSafeInteger(product)) return this.quotient(a.a, this.table.constant(product), 'floor');
      }
      return (
        this.coarseQuotient(a, by) ??
        this.coarseQuotient(this.told(a), by) ??
        this.joinedQuotient(a, by) ??
        this.magicQuotient(a, by)
      );
    }
    return undefined;
  }

  /** ⌊(2^32 · x mod 2^64) / by⌋ with by ≤ 2^32: the low half of x, with its sign, as shifts up and down again leave it. */
  private extended(a: Expression, by: number): Expression | undefined {
    const half = 2 ** 32;
    if (a.op !== 'wrap' || a.bits !== 64 || !a.signed || by <= 0 || half % by !== 0) return undefined;
    const terms = termsOf(a.of);
    if (constantOf(a.of) % half !== 0 || terms.some(({ coefficient }) => coefficient % half !== 0))
      return undefined;
    const low = this.sum(
      constantOf(a.of) / half,
      terms.map((term) => ({ ...term, coefficient: term.coefficient / half })),
    );
    return this.scale(this.wrap(low, 32, true), half / by);
  }

  /**
   * ⌊(⌊x / d⌋ + rest) / by⌋ = ⌊(x + d · rest) / (d · by)⌋, and with by = 1 rest − ⌊x / d⌋ = −⌊(x − d · rest) / d⌋. The
   * quotient made last goes first: it may be of the others.
   */
  private joinedQuotient(a: Expression, by: number): Expression | undefined {
    const terms = [...termsOf(a)].sort((x, y) => (y.factors[0]?.id ?? 0) - (x.factors[0]?.id ?? 0));
    if (terms.length < 2 && constantOf(a) === 0) return undefined;
    for (const term of terms) {
      const [inner] = term.factors;
      if (term.factors.length !== 1 || inner?.op !== 'quotient') continue;
      if (inner.rounding !== 'floor' || inner.b.op !== 'constant' || inner.b.value <= 1) continue;
      const divisor = inner.b.value;
      if (!Number.isSafeInteger(divisor * by)) continue;
      if (term.coefficient === -1 && by === 1) {
        const rest = this.add(a, inner);
        const joined = this.subtract(inner.a, this.scale(rest, divisor));
        return this.scale(this.quotient(joined, inner.b, 'floor'), -1);
      }
      if (term.coefficient !== 1) continue;
      const joined = this.add(inner.a, this.scale(this.subtract(a, inner), divisor));
      return this.quotient(joined, this.table.constant(divisor * by), 'floor');
    }
    return undefined;
  }

  /** ⌊(g · x + r) / (g · d)⌋ = ⌊x / d⌋ for 0 ≤ r < g. */
  private coarseQuotient(a: Expression, by: number): Expression | undefined {
    const terms = termsOf(a);
    const most = terms.reduce((greatest, term) => Math.max(greatest, Math.abs(term.coefficient)), 1);
    const common = gcd(by, most);
    if (common <= 1) return undefined;
    const coarse = terms.filter((term) => term.coefficient % common === 0);
    if (coarse.length === 0) return undefined;
    const rest = this.sum(
      constantOf(a),
      terms.filter((term) => term.coefficient % common !== 0),
    );
    const [lo, hi] = this.toldRange(rest);
    if (lo < 0 || hi >= common) return undefined;
    const over = coarse.map((term) => ({ ...term, coefficient: term.coefficient / common }));
    return this.quotient(this.sum(0, over), this.table.constant(by / common), 'floor');
  }

  /**
   * ⌊M · x / 2^s⌋, by which compilers divide by a constant d: it is x / d rounded toward zero for every x that x can be, less
   * one for negative ones.
   */
  private magicQuotient(a: Expression, by: number): Expression | undefined {
    if (Math.log2(by) % 1 !== 0 || by < 2 ** 16) return undefined;
    const terms = termsOf(a);
    const [term] = terms;
    if (term === undefined || terms.length !== 1 || constantOf(a) !== 0 || term.coefficient < 2)
      return undefined;
    const x = this.sum(0, [{ coefficient: 1, factors: term.factors }]);
    const divisor = Math.round(by / term.coefficient);
    if (!Number.isSafeInteger(x.lo) || !Number.isSafeInteger(x.hi) || divisor < 2) return undefined;
    if (!isMagic(term.coefficient, by, divisor, x)) return undefined;
    const by2 = this.table.constant(divisor);
    if (x.lo >= 0) return this.quotient(x, by2, 'floor');
    const isNegative = this.table.make({ op: 'atMostZero', of: this.addConstant(x, 1) });
    const [one, zero] = [this.table.constant(1), this.table.constant(0)];
    const less = this.table.make({ op: 'select', condition: isNegative, a: one, b: zero });
    return this.subtract(this.quotient(x, by2, 'zero'), less);
  }

  /** The bounds of a number that may hold x − ⌊x / c⌋ · c. */
  toldRange(a: Expression): readonly [number, number] {
    const told = this.told(a);
    return [Math.max(a.lo, told.lo), Math.min(a.hi, told.hi)];
  }

  /** A short sum with each x − ⌊x / c⌋ · c as a remainder. */
  private told(a: Expression): Expression {
    const isShort = a.op === 'sum' && a.terms.length <= 8 && a.terms.length > 1;
    return isShort ? withRemainders(this, a) : a;
  }

  /** a − b · (a / b), rounded as said. */
  remainder(a: Expression, b: Expression, rounding: 'floor' | 'zero'): Expression {
    const [lo, hi] = b.op === 'constant' ? this.toldRange(a) : [a.lo, a.hi];
    if (b.op === 'constant' && lo >= 0) {
      if (hi < b.value) return a;
      const isPart = a.op === 'remainder' && a.b.op === 'constant' && a.b.value % b.value === 0;
      if (isPart && a.a.lo >= 0) return this.remainder(a.a, b, 'floor');
    }
    return this.table.make({ op: 'remainder', a, b, rounding });
  }

  /** Least significant bits: the number modulo `by`, from 0 on. */
  modulo(a: Expression, by: number): Expression {
    return this.subtract(a, this.scale(this.quotient(a, this.table.constant(by), 'floor'), by));
  }

  minimum(a: Expression, b: Expression): Expression {
    if (a === b || a.hi <= b.lo) return a;
    if (b.hi <= a.lo) return b;
    const [x, y] = a.id < b.id ? [a, b] : [b, a];
    return this.table.make({ op: 'minimum', a: x, b: y });
  }

  maximum(a: Expression, b: Expression): Expression {
    if (a === b || a.lo >= b.hi) return a;
    if (b.lo >= a.hi) return b;
    const [x, y] = a.id < b.id ? [a, b] : [b, a];
    return this.table.make({ op: 'maximum', a: x, b: y });
  }
}

function isWrapOf(factor: Expression, bits: IntegerBits): boolean {
  return factor.op === 'wrap' && factor.bits >= bits;
}

function allTerms(a: Expression): Term[] {
  const constant = constantOf(a);
  return constant === 0 ? [...termsOf(a)] : [...termsOf(a), { coefficient: constant, factors: [] }];
}

function compareFactors(a: readonly Expression[], b: readonly Expression[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index]?.id ?? -1) - (b[index]?.id ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether m / 2^s is so little above 1 / d that no x of the range tells the difference. */
function isMagic(m: number, power: number, d: number, range: Expression): boolean {
  const excess = BigInt(m) * BigInt(d) - BigInt(power);
  const [least, most] = [BigInt(Math.max(-range.lo, 0)), BigInt(Math.max(range.hi, 0))];
  return excess > 0n && excess * most < BigInt(power) && excess * least <= BigInt(power);
}

/** a / b where b is one product and divides every term of a. */
function divideTerms(
  a: readonly Term[],
  constantA: number,
  b: readonly Term[],
  constantB: number,
): { constant: number; terms: Term[] } | undefined {
  const [divisor] = b;
  if (divisor === undefined || b.length !== 1 || constantB !== 0 || constantA !== 0 || a.length === 0) {
    return undefined;
  }
  let constant = 0;
  const terms: Term[] = [];
  for (const term of a) {
    const left = withoutFactors(term.factors, divisor.factors);
    if (left === undefined || term.coefficient % divisor.coefficient !== 0) return undefined;
    const coefficient = term.coefficient / divisor.coefficient;
    if (left.length === 0) constant += coefficient;
    else terms.push({ coefficient, factors: left });
  }
  return { constant, terms };
}
