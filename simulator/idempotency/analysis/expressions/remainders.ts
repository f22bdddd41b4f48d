import type { Arithmetic } from './arithmetic.js';
import type { Expression } from './expression.js';
import { constantOf, termsOf, withoutFactors } from './expression.js';
import { coefficientOf, varyingTerms, withForm } from './polynomials.js';

/**
 * A sum that holds both x and x div c, told by x div c and x mod c, which vary independently: x − (x div c)·c is the
 * remainder, and x itself is (x div c)·c + x mod c.
 */
export function withRemainders(
  arithmetic: Arithmetic,
  sum: Expression,
  known: Divisors = new Map(),
): Expression {
  return withPartsEitherWay(arithmetic, withDigits(arithmetic, sum, known), () => true);
}

/** By which constants numbers are divided elsewhere: their digits to those bases matter. */
export type Divisors = ReadonlyMap<Expression, ReadonlySet<number>>;

/** The constants by which a sum has numbers divided. */
export function constantDivisors(
  arithmetic: Arithmetic,
  sum: Expression,
): readonly (readonly [Expression, number])[] {
  return quotientsIn(withoutRemainders(arithmetic, sum)).flatMap(({ a, b, rounding }) =>
    rounding === 'floor' && b.op === 'constant' && b.value > 1 ? [[a, b.value] as const] : [],
  );
}

/** The same of divisors that only a launch knows; remainders by constants become differences. */
export function withLaunchRemainders(arithmetic: Arithmetic, sum: Expression): Expression {
  const plain = withoutRemainders(arithmetic, sum);
  return withPartsEitherWay(arithmetic, plain, ({ b }) => b.op !== 'constant');
}

function withPartsEitherWay(
  arithmetic: Arithmetic,
  sum: Expression,
  isMeant: (quotient: Quotient) => boolean,
): Expression {
  const told = withParts(arithmetic, sum, isMeant);
  const before = quotientsIn(sum).filter(({ b }) => b.op !== 'constant');
  if (before.length < 2) return told;
  // Digits of one number to bases that only a launch knows, from the lowest on: each quotient is of the one before.
  const nested = withNestedQuotients(arithmetic, sum, before);
  const digits = withParts(arithmetic, nested, isMeant, (a, b) => a.id - b.id);
  return varyingTerms(digits).length < varyingTerms(told).length ? digits : told;
}

/** x / (c · d), beside x / c, as (x / c) / d. */
function withNestedQuotients(
  arithmetic: Arithmetic,
  sum: Expression,
  quotients: readonly Quotient[],
): Expression {
  let result = sum;
  for (const outer of quotients) {
    for (const inner of quotients) {
      if (inner === outer || inner.a !== outer.a || inner.rounding !== outer.rounding) continue;
      const [[product, another], [factor, more]] = [termsOf(outer.b), termsOf(inner.b)];
      if (product === undefined || factor === undefined || another !== undefined || more !== undefined)
        continue;
      if (
        constantOf(outer.b) !== 0 ||
        constantOf(inner.b) !== 0 ||
        product.coefficient !== factor.coefficient
      )
        continue;
      const factors = withoutFactors(product.factors, factor.factors);
      const coefficient = coefficientOf(arithmetic, result, { coefficient: 1, factors: [outer] });
      if (factors === undefined || factors.length === 0 || coefficient === undefined) continue;
      const b = arithmetic.sum(0, [{ coefficient: 1, factors }]);
      const nested = arithmetic.table.make({ op: 'quotient', a: inner, b, rounding: outer.rounding });
      result = arithmetic.add(result, arithmetic.multiply(coefficient, arithmetic.subtract(nested, outer)));
      break;
    }
  }
  return result;
}

function withParts(
  arithmetic: Arithmetic,
  sum: Expression,
  isMeant: (quotient: Quotient) => boolean,
  order: (a: Quotient, b: Quotient) => number = laterFirst,
): Expression {
  let result = sum;
  const seen = new Set<Expression>();
  for (let progress = true; progress;) {
    progress = false;
    for (const quotient of quotientsIn(result).sort(order)) {
      if (seen.has(quotient) || !isMeant(quotient)) continue;
      seen.add(quotient);
      const { a, b, rounding } = quotient;
      const remainder = arithmetic.remainder(a, b, rounding);
      const parts = arithmetic.add(arithmetic.multiply(quotient, b), remainder);
      const form = arithmetic.sum(0, varyingTerms(a));
      const rest = arithmetic.subtract(a, form);
      const plain = withForm(arithmetic, result, form, arithmetic.subtract(parts, rest));
      const next = plain === result ? withInnerQuotient(arithmetic, result, quotient) : plain;
      if (next === result) continue;
      result = next;
      progress = true;
      break;
    }
  }
  return result;
}

/**
 * A sum of x, ⌊x / c⌋, ⌊x / (c·d)⌋ …, told by the digits of x to the bases c, d, …, which vary independently, as row, column
 * and channel of an element do.
 */
function withDigits(arithmetic: Arithmetic, sum: Expression, known: Divisors): Expression {
  let result = withoutRemainders(arithmetic, sum);
  let isFiner = false;
  for (const a of new Set([...quotientsIn(result).map((quotient) => quotient.a), ...known.keys()])) {
    let before = a;
    let by = 1;
    const elsewhere = known.get(a) ?? [];
    for (const divisor of divisorsOf(result, a, elsewhere)) {
      if (divisor % by !== 0) continue;
      const base = arithmetic.constant(divisor / by);
      const above = arithmetic.quotient(a, arithmetic.constant(divisor), 'floor');
      const digit = arithmetic.remainder(before, base, 'floor');
      const parts = arithmetic.add(arithmetic.multiply(above, base), digit);
      const form = arithmetic.sum(0, varyingTerms(before));
      const rest = arithmetic.subtract(before, form);
      const next = withForm(arithmetic, result, form, arithmetic.subtract(parts, rest));
      isFiner ||= next !== result && known.has(a);
      result = next;
      before = above;
      by = divisor;
    }
  }
  return isFiner || varyingTerms(result).length <= varyingTerms(sum).length ? result : sum;
}

/** Constants by which a sum has the same number divided, ascending. */
function divisorsOf(sum: Expression, a: Expression, elsewhere: Iterable<number>): number[] {
  const found = quotientsIn(sum).flatMap((quotient) =>
    quotient.a === a && quotient.rounding === 'floor' && quotient.b.op === 'constant' && quotient.b.value > 1
      ? [quotient.b.value]
      : [],
  );
  return [...new Set([...found, ...elsewhere])].sort((x, y) => x - y);
}

/** Remainders by constants as differences again. */
function withoutRemainders(arithmetic: Arithmetic, sum: Expression): Expression {
  let result = sum;
  for (const term of varyingTerms(sum)) {
    for (const factor of term.factors) {
      if (factor.op !== 'remainder' || factor.rounding !== 'floor' || factor.b.op !== 'constant') continue;
      const { a, b } = factor;
      const whole = arithmetic.subtract(a, arithmetic.multiply(arithmetic.quotient(a, b, 'floor'), b));
      const left = coefficientOf(arithmetic, result, { coefficient: 1, factors: [factor] });
      if (left === undefined) continue;
      result = arithmetic.add(result, arithmetic.multiply(left, arithmetic.subtract(whole, factor)));
    }
  }
  return result;
}

/** The same where not x is beside ⌊x / (c·d)⌋ but ⌊(x − m·c) / c⌋: ⌊x / (c·d)⌋ is that, and m, divided by d. */
function withInnerQuotient(arithmetic: Arithmetic, sum: Expression, outer: Quotient): Expression {
  if (outer.rounding !== 'floor' || outer.b.op !== 'constant') return sum;
  for (const inner of quotientsIn(sum)) {
    if (inner === outer || inner.rounding !== 'floor') continue;
    if (inner.b.op !== 'constant' || inner.b.value <= 1 || outer.b.value % inner.b.value !== 0) continue;
    const distance = arithmetic.subtract(outer.a, inner.a);
    if (distance.op !== 'constant' || distance.value % inner.b.value !== 0) continue;
    const above = distance.value / inner.b.value;
    const by = arithmetic.constant(outer.b.value / inner.b.value);
    const a = arithmetic.addConstant(inner, above);
    const remainder = arithmetic.remainder(a, by, 'floor');
    const parts = arithmetic.add(arithmetic.multiply(outer, by), remainder);
    const next = withForm(arithmetic, sum, inner, arithmetic.addConstant(parts, -above));
    if (next !== sum) return next;
  }
  return sum;
}

type Quotient = Expression & { readonly op: 'quotient' | 'remainder' };

/** Quotients made later may be of remainders of others. */
function laterFirst(a: Quotient, b: Quotient): number {
  return b.id - a.id;
}

/** Quotients by something uniform in the terms of a sum, the later made first. */
function quotientsIn(sum: Expression): Quotient[] {
  const found = new Set<Quotient>();
  for (const term of varyingTerms(sum)) {
    for (const factor of term.factors) {
      if (factor.op === 'quotient' && factor.b.uniform && !factor.a.uniform) found.add(factor);
    }
  }
  return [...found].sort(laterFirst);
}
