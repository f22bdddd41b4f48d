import type { Arithmetic } from '../expressions/arithmetic.js';
import type { Expression } from '../expressions/expression.js';
import { varyingTerms, withForm } from './polynomials.js';

/**
 * A sum that holds both x and x div c, told by x div c and x mod c, which vary independently: x − (x div c)·c is the
 * remainder, and x itself is (x div c)·c + x mod c.
 */
export function withRemainders(arithmetic: Arithmetic, sum: Expression): Expression {
  let result = sum;
  const seen = new Set<Expression>();
  for (let progress = true; progress;) {
    progress = false;
    for (const quotient of quotientsIn(result)) {
      if (seen.has(quotient) || quotient.op !== 'quotient') continue;
      seen.add(quotient);
      const { a, b, rounding } = quotient;
      const remainder = arithmetic.table.make({ op: 'remainder', a, b, rounding });
      const parts = arithmetic.add(arithmetic.multiply(quotient, b), remainder);
      const form = arithmetic.sum(0, varyingTerms(a));
      const rest = arithmetic.subtract(a, form);
      const next = withForm(arithmetic, result, form, arithmetic.subtract(parts, rest));
      if (next === result) continue;
      result = next;
      progress = true;
      break;
    }
  }
  return result;
}

/** Quotients by something uniform in the terms of a sum, the later made first: they may be of remainders of others. */
function quotientsIn(sum: Expression): Expression[] {
  const found = new Set<Expression>();
  for (const term of varyingTerms(sum)) {
    for (const factor of term.factors) {
      if (factor.op === 'quotient' && factor.b.uniform && !factor.a.uniform) found.add(factor);
    }
  }
  return [...found].sort((a, b) => b.id - a.id);
}
