import type { Arithmetic } from './arithmetic.js';
import type { Expression, Term } from './expression.js';
import { termsOf, withoutFactors } from './expression.js';

/** How many products of something that differs between threads a sum has. */
export function varyingTerms(expression: Expression): Term[] {
  return termsOf(expression).filter(isVarying);
}

export function isVarying(term: Term): boolean {
  return term.factors.some((factor) => !factor.uniform);
}

/** The part of a sum that is the same for all threads, constant included. */
export function uniformPart(arithmetic: Arithmetic, expression: Expression): Expression {
  const varying = arithmetic.sum(0, varyingTerms(expression));
  return arithmetic.subtract(expression, varying);
}

/** By which uniform factor a sum holds a product; undefined when it does not. */
export function coefficientOf(
  arithmetic: Arithmetic,
  expression: Expression,
  of: Term,
): Expression | undefined {
  const found: Term[] = [];
  let constant = 0;
  for (const term of termsOf(expression)) {
    const left = withoutFactors(term.factors, of.factors);
    if (left === undefined || left.some((factor) => !factor.uniform)) continue;
    if (term.coefficient % of.coefficient !== 0) continue;
    const coefficient = term.coefficient / of.coefficient;
    if (left.length === 0) constant += coefficient;
    else found.push({ coefficient, factors: left });
  }
  return found.length === 0 && constant === 0 ? undefined : arithmetic.sum(constant, found);
}

/**
 * A sum in which a form is replaced by one expression that stands for it, if the sum holds it and has fewer varying terms
 * then (or, of a form of one term, as many).
 */
export function withForm(
  arithmetic: Arithmetic,
  expression: Expression,
  form: Expression,
  stands: Expression,
): Expression {
  const formTerms = varyingTerms(form);
  const before = varyingTerms(expression).length;
  for (const lead of formTerms) {
    const factor = coefficientOf(arithmetic, expression, lead);
    if (factor === undefined) continue;
    const difference = arithmetic.subtract(stands, form);
    const replaced = arithmetic.add(expression, arithmetic.multiply(factor, difference));
    if (varyingTerms(replaced).length <= before - varyingTerms(form).length + varyingTerms(stands).length) {
      return replaced;
    }
  }
  return expression;
}
