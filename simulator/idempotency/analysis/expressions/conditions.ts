import type { Arithmetic } from './arithmetic.js';
import type { Expression } from './expression.js';
import { constantOf, gcd, isConstant, termsOf } from './expression.js';
import type { ExpressionTable } from './expressionTable.js';

/** Truth values in a normal form, so that a condition and its opposite are known as such. */
export class Conditions {
  readonly yes: Expression;
  readonly no: Expression;
  private readonly table: ExpressionTable;
  /** Opposites that have been made: operands are shared, and there are more ways to them than operands. */
  private readonly opposites = new Map<Expression, Expression>();

  constructor(private readonly arithmetic: Arithmetic) {
    this.table = arithmetic.table;
    this.yes = this.table.constant(1);
    this.no = this.table.constant(0);
  }

  truth(value: boolean): Expression {
    return value ? this.yes : this.no;
  }

  /** of ≤ 0 */
  atMostZero(of: Expression): Expression {
    if (of.hi <= 0) return this.yes;
    if (of.lo > 0 || this.arithmetic.toldRange(of)[0] > 0) return this.no;
    const simpler = this.divided(of);
    return simpler === of ? this.table.make({ op: 'atMostZero', of }) : this.atMostZero(simpler);
  }

  /** What is at most zero exactly when `of` is, with smaller coefficients. */
  private divided(of: Expression): Expression {
    const terms = termsOf(of);
    const constant = constantOf(of);
    const common = terms.reduce((divisor, term) => gcd(divisor, term.coefficient), 0);
    if (common > 1) {
      return this.arithmetic.sum(
        Math.ceil(constant / common),
        terms.map((term) => ({ ...term, coefficient: term.coefficient / common })),
      );
    }
    // ⌊x / d⌋ + rest ≤ 0 says x < (1 − rest) · d.
    for (const term of terms) {
      const [factor] = term.factors;
      if (term.coefficient !== 1 || term.factors.length !== 1 || factor?.op !== 'quotient') continue;
      if (factor.rounding !== 'floor' || factor.b.op !== 'constant' || factor.b.value <= 0) continue;
      const by = factor.b.value;
      const rest = this.arithmetic.scale(this.arithmetic.subtract(of, factor), by);
      const simpler = this.arithmetic.addConstant(this.arithmetic.add(factor.a, rest), 1 - by);
      if (termsOf(simpler).length < terms.length || (terms.length === 1 && rest.op === 'constant'))
        return simpler;
    }
    return of;
  }

  isZero(of: Expression): Expression {
    if (of.lo > 0 || of.hi < 0) return this.no;
    if (isConstant(of, 0)) return this.yes;
    // The same sign first, so that a − b = 0 and b − a = 0 are one.
    const first = termsOf(of)[0];
    const same = first !== undefined && first.coefficient < 0 ? this.arithmetic.scale(of, -1) : of;
    return this.table.make({ op: 'isZero', of: same });
  }

  less(a: Expression, b: Expression): Expression {
    return this.atMostZero(this.arithmetic.addConstant(this.arithmetic.subtract(a, b), 1));
  }

  lessEqual(a: Expression, b: Expression): Expression {
    return this.atMostZero(this.arithmetic.subtract(a, b));
  }

  equal(a: Expression, b: Expression): Expression {
    return this.isZero(this.arithmetic.subtract(a, b));
  }

  not(of: Expression): Expression {
    let opposite = this.opposites.get(of);
    if (opposite === undefined) {
      opposite = this.oppositeOf(of);
      this.opposites.set(of, opposite);
    }
    return opposite;
  }

  private oppositeOf(of: Expression): Expression {
    if (of.op === 'constant') return this.truth(of.value === 0);
    if (of.op === 'not') return of.of;
    if (of.op === 'and') return this.or(of.terms.map((term) => this.not(term)));
    if (of.op === 'or') return this.and(of.terms.map((term) => this.not(term)));
    if (of.op !== 'atMostZero') return this.table.make({ op: 'not', of });
    return this.atMostZero(this.arithmetic.addConstant(this.arithmetic.scale(of.of, -1), 1));
  }

  and(terms: readonly Expression[]): Expression {
    const flat = this.flatten('and', terms);
    if (flat === undefined) return this.no;
    // x ∧ (¬x ∨ y) = x ∧ y
    const reduced = flat.map((term) =>
      term.op === 'or' ? this.or(term.terms.filter((each) => !flat.includes(this.not(each)))) : term,
    );
    // What a part has become may decide others.
    return reduced.every((term, at) => term === flat[at]) ? this.joined('and', flat) : this.and(reduced);
  }

  or(terms: readonly Expression[]): Expression {
    const flat = this.flatten('or', terms);
    if (flat === undefined) return this.yes;
    // x ∨ (¬x ∧ y) = x ∨ y
    const reduced = flat.map((term) =>
      term.op === 'and' ? this.and(term.terms.filter((each) => !flat.includes(this.not(each)))) : term,
    );
    return reduced.every((term, at) => term === flat[at]) ? this.joined('or', flat) : this.or(reduced);
  }

  /** Truth of a over b's and c's: condition ? b : c. */
  choose(condition: Expression, a: Expression, b: Expression): Expression {
    if (condition === this.yes || a === b) return a;
    if (condition === this.no) return b;
    return this.or([this.and([condition, a]), this.and([this.not(condition), b])]);
  }

  private joined(op: 'and' | 'or', terms: readonly Expression[]): Expression {
    const flat = this.flatten(op, terms);
    const neutral = op === 'and' ? this.yes : this.no;
    if (flat === undefined) return op === 'and' ? this.no : this.yes;
    const [only] = flat;
    if (only === undefined) return neutral;
    return flat.length === 1 ? only : this.table.make({ op, terms: flat });
  }

  /** Operands without repetition, nested ones spread; undefined when one decides, or two are opposite. */
  private flatten(op: 'and' | 'or', terms: readonly Expression[]): Expression[] | undefined {
    const [neutral, deciding] = op === 'and' ? [this.yes, this.no] : [this.no, this.yes];
    const found = new Set<Expression>();
    const work = [...terms].reverse();
    for (let term = work.pop(); term !== undefined; term = work.pop()) {
      if (term === neutral) continue;
      if (term === deciding) return undefined;
      if (term.op === op) work.push(...[...term.terms].reverse());
      else found.add(term);
    }
    for (const term of found) if (found.has(this.not(term))) return undefined;
    return [...found];
  }
}
