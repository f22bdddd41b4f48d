import {
  constantOf,
  gcd,
  operandsOf,
  termsOf,
  typeRange,
  type Expression,
  type Term,
} from '../analysis/expressions/expression.js';
import { rangeOf, termRange } from '../analysis/expressions/expressionTable.js';
import { addRanges, EVERYTHING, type Range } from '../analysis/expressions/staticRange.js';
import { withOperands } from './withOperands.js';

const ROUNDS = 4;

/**
 * Tighter static bounds, from conditions that hold wherever an expression is looked at: of `a + b ≤ 9` with b ≥ 0 that a ≤ 9.
 * They make bit-vectors short.
 */
export class Refinement {
  private readonly bounds = new Map<string, Range>();
  private done = new Map<Expression, Expression>();

  constructor(conditions: readonly Expression[]) {
    for (let round = 0; round < ROUNDS; round++) {
      let isTighter = false;
      for (const condition of conditions) isTighter = this.take(condition) || isTighter;
      if (!isTighter) break;
      this.done = new Map();
    }
  }

  /** The same expression, its `lo` and `hi` and those of its operands tightened. */
  of(expression: Expression): Expression {
    const known = this.done.get(expression);
    if (known !== undefined) return known;
    const inner = withOperands(expression, (part) => this.of(part));
    const isLeaf = inner === expression;
    const own: Range = [expression.lo, expression.hi];
    const told = isLeaf ? own : meet(own, inner.op === 'sum' ? this.sumRange(inner) : rangeOfNode(inner));
    const [lo, hi] = isLeaf ? meet(told, this.bounds.get(keyOfFactors([expression])) ?? EVERYTHING) : told;
    const made = { ...inner, lo, hi };
    this.done.set(expression, made);
    return made;
  }

  /** Bounds of a product of factors that are refined already. */
  product(factors: readonly Expression[]): Range {
    const range = termRange({ coefficient: 1, factors });
    return meet(range, this.bounds.get(keyOfFactors(factors)) ?? EVERYTHING);
  }

  /** Of constant + Σ terms, from the terms alone. */
  looseRange(constant: number, terms: readonly Term[]): Range {
    return terms.reduce<Range>((total, term) => addRanges(total, this.termRange(term)), [constant, constant]);
  }

  private sumRange({ constant, terms }: Extract<Expression, { op: 'sum' }>): Range {
    return addRanges(this.formRange(terms), [constant, constant]);
  }

  /** Of a sum of products, from what is said of them and of it. */
  formRange(terms: readonly Term[]): Range {
    const { key, by } = formOf(terms);
    const [lo, hi] = this.bounds.get(key) ?? EVERYTHING;
    const bound: Range = by < 0 ? [by * hi, by * lo] : [by * lo, by * hi];
    return meet(this.looseRange(0, terms), bound);
  }

  private termRange({ coefficient, factors }: Term): Range {
    const [lo, hi] = this.product(factors);
    return coefficient < 0 ? [coefficient * hi, coefficient * lo] : [coefficient * lo, coefficient * hi];
  }

  /** @returns whether it says something new */
  private take(condition: Expression): boolean {
    if (condition.op === 'and') return condition.terms.map((term) => this.take(term)).includes(true);
    if (condition.op !== 'atMostZero' && condition.op !== 'isZero') return false;
    const { constant, terms } = opened(this.of(condition.of));
    const isEqual = condition.op === 'isZero';
    let isTighter = false;
    terms.forEach((term, index) => {
      const [only] = term.factors;
      // Only of what is a number of its own in the bit-vectors' text, where its bounds are said.
      if (term.factors.length === 1 && only !== undefined && operandsOf(only).length > 0) return;
      const rest = this.looseRange(
        constant,
        terms.filter((_, at) => at !== index),
      );
      isTighter = this.tighten(keyOfFactors(term.factors), term.coefficient, rest, isEqual) || isTighter;
    });
    const { key, by } = formOf(terms);
    return (terms.length > 1 && this.tighten(key, by, [constant, constant], isEqual)) || isTighter;
  }

  /** by · value + rest ≤ 0, or = 0. */
  private tighten(key: string, by: number, rest: Range, isEqual: boolean): boolean {
    const most = over(-rest[0], by);
    const least = isEqual ? over(-rest[1], by) : undefined;
    const [lo, hi] = by > 0 ? [least, most] : [most, least];
    const range: Range = [
      lo === undefined ? -Infinity : Math.ceil(lo),
      hi === undefined ? Infinity : Math.floor(hi),
    ];
    const before = this.bounds.get(key) ?? EVERYTHING;
    const after = meet(before, range);
    if (after[0] === before[0] && after[1] === before[1]) return false;
    this.bounds.set(key, after);
    return true;
  }
}

/** Numbers whose quotients in floating point are never rounded to a whole one that they are not. */
const MOST_EXACT = 2 ** 50;

function over(a: number, b: number): number | undefined {
  return Math.abs(a) <= MOST_EXACT ? a / b : undefined;
}

/** A sum of products up to a factor. */
function formOf(terms: readonly Term[]): { readonly key: string; readonly by: number } {
  const common = terms.reduce((divisor, term) => gcd(divisor, term.coefficient), 0);
  const sorted = [...terms].sort((a, b) => (keyOfFactors(a.factors) < keyOfFactors(b.factors) ? -1 : 1));
  const by = (sorted[0]?.coefficient ?? 1) < 0 ? -common : common;
  return {
    key: `+${sorted.map(({ coefficient, factors }) => `${coefficient / by}*${keyOfFactors(factors)}`).join('+')}`,
    by,
  };
}

/** A product by its factors. */
export function keyOfFactors(factors: readonly Expression[]): string {
  return factors.map((factor) => factor.id).join('*');
}

/** A wrap of what lies in its type is that. */
function rangeOfNode(expression: Expression): Range {
  const range = rangeOf(expression);
  if (expression.op !== 'wrap') return range;
  return isPlainWrap(expression) ? [expression.of.lo, expression.of.hi] : range;
}

/** Whether nothing is wrapped in a refined expression. */
export function isPlainWrap({ of, bits, signed }: Extract<Expression, { op: 'wrap' }>): boolean {
  const [lo, hi] = typeRange(bits, signed);
  return of.lo >= lo && of.hi <= hi;
}

/** The terms of a refined sum, without what wraps nothing; each product once. */
export function opened(expression: Expression): {
  readonly constant: number;
  readonly terms: readonly Term[];
} {
  const found = new Map<string, Term>();
  let constant = 0;
  const add = (part: Expression, by: number): void => {
    constant += by * constantOf(part);
    for (const { coefficient, factors } of termsOf(part)) {
      const [only] = factors;
      if (factors.length === 1 && only?.op === 'wrap' && isPlainWrap(only)) {
        add(only.of, by * coefficient);
        continue;
      }
      const key = keyOfFactors(factors);
      const total = (found.get(key)?.coefficient ?? 0) + by * coefficient;
      if (total === 0) found.delete(key);
      else found.set(key, { coefficient: total, factors });
    }
  };
  add(expression, 1);
  return { constant, terms: [...found.values()] };
}

function meet(a: Range, b: Range): Range {
  return [Math.max(a[0], b[0]), Math.min(a[1], b[1])];
}
