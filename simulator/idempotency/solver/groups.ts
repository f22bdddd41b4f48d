import { gcd, operandsOf, type Expression, type Term } from '../analysis/expressions/expression.js';
import { keyOfFactors, type Refinement } from './refinement.js';

/** Products that occur only together, as Σ weight · product: one number as far as the text is concerned. */
export interface Group {
  readonly key: string;
  readonly terms: readonly Term[];
}

/**
 * Finds what occurs only together, as `ctaid · ntid` and `tid` do where a kernel speaks of nothing but their sum: a solver has
 * less to do with one number than with a sum of two.
 */
export function groupsOf(
  expressions: readonly Expression[],
  refinement: Refinement,
): ReadonlyMap<string, Group> {
  const uses = new Map<
    string,
    { readonly factors: readonly Expression[]; readonly first: number; text: string }
  >();
  const use = (factors: readonly Expression[], place: string, coefficient: number): void => {
    const key = keyOfFactors(factors);
    const known = uses.get(key);
    if (known === undefined) uses.set(key, { factors, first: coefficient, text: `${place}:1;` });
    else known.text += `${place}:${coefficient / known.first};`;
  };
  const seen = new Set<Expression>();
  const work = [...expressions];
  for (let part = work.pop(); part !== undefined; part = work.pop()) {
    if (seen.has(part)) continue;
    seen.add(part);
    if (part.op === 'sum') {
      for (const { coefficient, factors } of part.terms) {
        const isOwn = factors.length > 1 || factors.every((each) => operandsOf(each).length === 0);
        if (isOwn) use(factors, `${part.id}`, coefficient);
        else work.push(...factors);
      }
      continue;
    }
    for (const inner of operandsOf(part)) {
      // Alone: with nothing else.
      if (operandsOf(inner).length === 0) use([inner], `${part.id} ${inner.id}`, 1);
      else work.push(inner);
    }
  }
  for (const expression of expressions) {
    if (operandsOf(expression).length === 0) use([expression], `alone ${expression.id}`, 1);
  }
  const byText = new Map<string, Term[]>();
  for (const { factors, first, text } of uses.values()) {
    const term = { coefficient: first, factors: factors.map((factor) => refinement.of(factor)) };
    byText.set(text, [...(byText.get(text) ?? []), term]);
  }
  const found = new Map<string, Group>();
  for (const terms of byText.values()) {
    if (terms.length < 2) continue;
    // In least terms, so that every sum of them is a whole multiple.
    const common = terms.reduce((divisor, { coefficient }) => gcd(divisor, coefficient), 0);
    const weighted = terms.map((term) => ({ ...term, coefficient: term.coefficient / common }));
    const group = {
      key: weighted.map(({ coefficient, factors }) => `${coefficient}*${keyOfFactors(factors)}`).join('+'),
      terms: weighted,
    };
    for (const { factors } of terms) found.set(keyOfFactors(factors), group);
  }
  return found;
}
