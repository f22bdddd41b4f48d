import type { Arithmetic } from './arithmetic.js';
import type { Conditions } from './conditions.js';
import { operandsOf } from './expression.js';
import type { Expression, WrapFit } from './expression.js';
import { selectValue } from './selection.js';

/** Whoever rebuilds expressions needs both. */
export interface Builder {
  readonly arithmetic: Arithmetic;
  readonly conditions: Conditions;
}

/**
 * An expression with parts replaced: `replace` answers for the parts it knows, everything else is made anew of its
 * rewritten operands, which simplifies what can now be simplified.
 */
export class Rewriter {
  private readonly done = new Map<Expression, Expression>();

  constructor(
    private readonly builder: Builder,
    private readonly replace: (
      expression: Expression,
      rewrite: (inner: Expression) => Expression,
    ) => Expression | undefined,
  ) {}

  rewrite(expression: Expression): Expression {
    const known = this.done.get(expression);
    if (known !== undefined) return known;
    const made = this.replace(expression, (inner) => this.rewrite(inner)) ?? this.rebuild(expression);
    this.done.set(expression, made);
    return made;
  }

  private rebuild(expression: Expression): Expression {
    const { arithmetic, conditions } = this.builder;
    const again = (inner: Expression): Expression => this.rewrite(inner);
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
      // A value of some earlier iteration: what holds of this one says nothing of it.
      case 'hull':
        return expression;
      case 'sum': {
        let total: Expression = arithmetic.constant(expression.constant);
        for (const term of expression.terms) {
          let product: Expression = arithmetic.constant(term.coefficient);
          for (const factor of term.factors) product = arithmetic.multiply(product, again(factor));
          total = arithmetic.add(total, product);
        }
        return total;
      }
      case 'product':
        return arithmetic.multiply(again(expression.a), again(expression.b));
      case 'power':
        return arithmetic.power(again(expression.of));
      case 'quotient':
        return arithmetic.quotient(again(expression.a), again(expression.b), expression.rounding);
      case 'remainder':
        return arithmetic.remainder(again(expression.a), again(expression.b), expression.rounding);
      case 'meet':
      case 'exactQuotient':
        return arithmetic.table.make({ ...expression, a: again(expression.a), b: again(expression.b) });
      case 'minimum':
        return arithmetic.minimum(again(expression.a), again(expression.b));
      case 'maximum':
        return arithmetic.maximum(again(expression.a), again(expression.b));
      case 'bits':
        return arithmetic.table.make({ ...expression, a: again(expression.a), b: again(expression.b) });
      case 'wrap':
        return arithmetic.wrap(again(expression.of), expression.bits, expression.signed);
      case 'select':
        return selectValue(
          this.builder,
          again(expression.condition),
          again(expression.a),
          again(expression.b),
        );
      case 'atMostZero':
        return conditions.atMostZero(again(expression.of));
      case 'isZero':
        return conditions.isZero(again(expression.of));
      case 'not':
        return conditions.not(again(expression.of));
      case 'and':
        return conditions.and(expression.terms.map(again));
      case 'or':
        return conditions.or(expression.terms.map(again));
      case 'narrow':
        return arithmetic.table.make({
          op: 'narrow',
          of: again(expression.of),
          least: expression.least && again(expression.least),
          most: expression.most && again(expression.most),
        });
      case 'assume': {
        const of = again(expression.of);
        const fits = expression.fits.map((fit) => ({ ...fit, of: again(fit.of) }));
        return assuming(arithmetic, of, fits);
      }
    }
  }
}

/** `of`, for launches in which nothing of `fits` wraps. */
export function assuming(arithmetic: Arithmetic, of: Expression, fits: readonly WrapFit[]): Expression {
  const open = fits.filter((fit) => arithmetic.wrap(fit.of, fit.bits, fit.signed) !== fit.of);
  if (open.length === 0 || of.op === 'unknown') return of;
  return arithmetic.table.make({ op: 'assume', of, fits: open });
}

export interface Flattened {
  readonly expression: Expression;
  /** What must not wrap for the two to be equal. */
  readonly fits: readonly WrapFit[];
}

/** What has been flattened: choices share operands, and there are more ways to them than operands. */
const flattened = new WeakMap<Arithmetic, Map<Expression, Flattened>>();

/** The expression without its wraps, as it is when nothing wraps. */
export function flatten(builder: Builder, expression: Expression): Flattened {
  let known = flattened.get(builder.arithmetic);
  if (known === undefined) {
    known = new Map();
    flattened.set(builder.arithmetic, known);
  }
  let found = known.get(expression);
  if (found === undefined) {
    found = flattenedAnew(builder, expression);
    known.set(expression, found);
  }
  return found;
}

function flattenedAnew(builder: Builder, expression: Expression): Flattened {
  const fits: WrapFit[] = [];
  const rewriter: Rewriter = new Rewriter(builder, (part, rewrite) => {
    if (part.op === 'select') {
      const condition = rewrite(part.condition);
      const [a, b] = [flatten(builder, part.a), flatten(builder, part.b)];
      const plain = selectValue(builder, condition, a.expression, b.expression);
      if (plain.op !== 'select' || a.fits.length + b.fits.length === 0) {
        fits.push(...a.fits, ...b.fits);
        return plain;
      }
      // What must not wrap on the way not taken does not count.
      const { arithmetic } = builder;
      const sides = [a, b].map((side) => assuming(arithmetic, side.expression, side.fits)) as [
        Expression,
        Expression,
      ];
      return selectValue(builder, condition, ...sides);
    }
    if (part.op === 'argument' && part.bytes >= 4 && !part.signed) {
      const of = builder.arithmetic.table.argument(part.offset, part.bytes, true);
      fits.push({ of, bits: part.bytes === 4 ? 32 : 64, signed: false });
      return of;
    }
    if (part.op === 'assume') {
      for (const fit of part.fits) fits.push({ ...fit, of: rewrite(fit.of) });
      return rewrite(part.of);
    }
    if (part.op !== 'wrap') return undefined;
    const of = rewrite(part.of);
    fits.push({ of, bits: part.bits, signed: part.signed });
    return of;
  });
  const plain = rewriter.rewrite(expression);
  return { expression: plain, fits: uniqueFits(fits) };
}

function uniqueFits(fits: readonly WrapFit[]): readonly WrapFit[] {
  const byText = new Map(fits.map((fit) => [`${fit.of.id}.${fit.bits}.${fit.signed}`, fit]));
  return byText.size === fits.length ? fits : [...byText.values()];
}

/** Whether a leaf or part that satisfies the test occurs. */
export function contains(expression: Expression, test: (part: Expression) => boolean): boolean {
  let found = false;
  visit(expression, (part) => {
    found ||= test(part);
    return !found;
  });
  return found;
}

/** Walks an expression, each part once; the parts inside one for which `into` says no are left out. */
export function visit(expression: Expression, into: (part: Expression) => boolean): void {
  const seen = new Set<Expression>([expression]);
  for (const part of seen) if (into(part)) for (const inner of operandsOf(part)) seen.add(inner);
}
