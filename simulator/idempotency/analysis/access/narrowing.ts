import type { Expression, WrapFit } from '../expressions/expression.js';
import { assuming, flatten, Rewriter } from '../expressions/rewriting.js';
import type { KernelContext } from '../transfer/operands.js';
import { uniformPart, varyingTerms, withForm } from './polynomials.js';

interface Step {
  readonly form: Expression;
  readonly stands: Expression;
}

/**
 * What conditions on the way to an access say of the values in it. A condition `form ≤ bound`, with a bound that is the same
 * for all threads, makes the whole form a variable of its own, which ends at the bound: `ctaid · ntid + tid < n`. Conditions
 * come in the order in which they were tested: each may rely on those before it.
 */
export class Narrowing {
  /** All `narrow` expressions: where one is empty, the access does not happen. */
  readonly narrowed: Expression[] = [];
  private readonly steps: Step[] = [];

  constructor(
    private readonly context: KernelContext,
    conditions: readonly Expression[],
  ) {
    for (const condition of conditions) this.take(condition);
  }

  /** An expression without wraps, in terms of the narrowed variables. */
  apply(expression: Expression): { readonly expression: Expression; readonly fits: readonly WrapFit[] } {
    const flat = flatten(this.context, expression);
    return {
      expression: this.narrow(flat.expression),
      fits: flat.fits.map((fit) => ({ ...fit, of: this.narrow(fit.of) })),
    };
  }

  /** The same with what must not wrap as a proviso. */
  bounded(expression: Expression): Expression {
    const { expression: value, fits } = this.apply(expression);
    return assuming(this.context.arithmetic, value, fits);
  }

  private narrow(expression: Expression): Expression {
    if (this.steps.length === 0 || expression.uniform) return expression;
    const { arithmetic } = this.context;
    const rewriter: Rewriter = new Rewriter(this.context, (part, rewrite) => {
      if (part.uniform || part.op === 'narrow') return part;
      if (part.op !== 'sum' && !isVariable(part)) return undefined;
      let value: Expression = arithmetic.constant(part.op === 'sum' ? part.constant : 0);
      for (const term of varyingAndOther(part)) {
        let product: Expression = arithmetic.constant(term.coefficient);
        for (const factor of term.factors) {
          product = arithmetic.multiply(product, isVariable(factor) ? factor : rewrite(factor));
        }
        value = arithmetic.add(value, product);
      }
      for (const { form, stands } of this.steps) value = withForm(arithmetic, value, form, stands);
      return value;
    });
    return rewriter.rewrite(expression);
  }

  private take(condition: Expression): void {
    const { expression, fits } = this.apply(condition);
    this.takeFlat(expression, fits);
  }

  private takeFlat(condition: Expression, fits: readonly WrapFit[]): void {
    const { conditions, arithmetic } = this.context;
    if (condition.op === 'and') {
      for (const term of condition.terms) this.takeFlat(this.narrow(term), fits);
    } else if (condition.op === 'atMostZero') this.bound(condition.of, fits, false);
    else if (condition.op === 'isZero') this.bound(condition.of, fits, true);
    else if (condition.op === 'not' && condition.of.op === 'isZero') {
      // Other than a bound that it cannot pass: beyond it.
      const value = condition.of.of;
      const zero = arithmetic.constant(0);
      if (value.lo === 0) this.takeFlat(conditions.less(zero, value), fits);
      else if (value.hi === 0) this.takeFlat(conditions.less(value, zero), fits);
    }
  }

  /** value ≤ 0, or value = 0. */
  private bound(value: Expression, fits: readonly WrapFit[], isEqual: boolean): void {
    const { arithmetic } = this.context;
    const varying = varyingTerms(value);
    if (varying.length === 0) return;
    const isFalling = (varying[0]?.coefficient ?? 0) < 0;
    const whole = isFalling ? arithmetic.scale(value, -1) : value;
    const form = arithmetic.sum(0, varyingTerms(whole));
    const limit = arithmetic.scale(uniformPart(arithmetic, whole), -1);
    this.limit(form, limit, fits, isEqual ? 'both' : isFalling ? 'least' : 'most');
    if (varying.length === 1) return;
    // form ≤ limit also bounds each of its parts, by what the others are at least.
    for (const term of varyingTerms(form)) {
      const [variable] = term.factors;
      const size = Math.abs(term.coefficient);
      if (term.factors.length !== 1 || variable === undefined || !isVariable(variable)) continue;
      const rest = arithmetic.subtract(limit, arithmetic.subtract(form, arithmetic.sum(0, [term])));
      const isRising = term.coefficient > 0;
      const side = isEqual ? 'both' : isRising === !isFalling ? 'most' : 'least';
      const signed = isRising ? rest : arithmetic.scale(rest, -1);
      this.limit(arithmetic.scale(variable, size), signed, fits, side);
    }
  }

  /** form ≤ limit, ≥ limit or = limit. */
  private limit(
    form: Expression,
    limit: Expression,
    fits: readonly WrapFit[],
    side: 'least' | 'most' | 'both',
  ): void {
    const { arithmetic, table } = this.context;
    const [term] = varyingTerms(form);
    if (term === undefined) return;
    const isSingle = varyingTerms(form).length === 1 && term.coefficient > 0;
    const size = isSingle ? term.coefficient : 1;
    const of = isSingle ? arithmetic.sum(0, [{ ...term, coefficient: 1 }]) : form;
    const by = table.constant(size);
    const below = arithmetic.quotient(limit, by, 'floor');
    const above = arithmetic.scale(arithmetic.quotient(arithmetic.scale(limit, -1), by, 'floor'), -1);
    const stands = table.make({
      op: 'narrow',
      of,
      least: side === 'most' ? undefined : assuming(arithmetic, above, fits),
      most: side === 'least' ? undefined : assuming(arithmetic, below, fits),
    });
    this.narrowed.push(stands);
    this.steps.push({ form: of, stands });
  }
}

/** What a condition can narrow: anything that differs between threads and is no sum. */
function isVariable(part: Expression): boolean {
  return (
    part.op === 'thread' ||
    part.op === 'counter' ||
    part.op === 'narrow' ||
    part.op === 'unknown' ||
    part.op === 'hull'
  );
}

function varyingAndOther(
  part: Expression,
): readonly { coefficient: number; factors: readonly Expression[] }[] {
  return part.op === 'sum' ? part.terms : [{ coefficient: 1, factors: [part] }];
}
