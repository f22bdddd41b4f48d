import type { Expression } from '../expressions/expression.js';
import { uniformPart, varyingTerms } from '../expressions/polynomials.js';
import { contains, Rewriter } from '../expressions/rewriting.js';
import type { KernelContext } from '../transfer/operands.js';

/**
 * What conditions say of numbers that wrap around in loops of unknown length, as what registers hold: where `i < n` for
 * i = n − 1 − tid − 32·k as an unsigned integer, i is from 0 to n − 1 however often it has been below zero.
 */
export class WrappedLimits {
  /** Each wrapped number as what is known of it. */
  private readonly known = new Map<Expression, Expression>();

  constructor(private readonly context: KernelContext) {}

  /** @returns the number with its limits, where the condition gives one */
  take(condition: Expression): Expression | undefined {
    if (condition.op !== 'atMostZero') return undefined;
    const { arithmetic, table } = this.context;
    const [term, ...others] = varyingTerms(condition.of);
    const [wrapped] = term?.factors ?? [];
    if (term === undefined || others.length > 0 || term.factors.length !== 1) return undefined;
    if (wrapped?.op !== 'wrap' || Math.abs(term.coefficient) !== 1) return undefined;
    // Of others more is known by what does not wrap.
    if (wrapped.source?.cause !== 'PE') return undefined;
    const rest = uniformPart(arithmetic, condition.of);
    const isMost = term.coefficient === 1;
    const limited = table.make({
      op: 'narrow',
      of: this.known.get(wrapped) ?? wrapped,
      least: isMost ? (wrapped.signed ? undefined : table.constant(0)) : rest,
      most: isMost ? arithmetic.scale(rest, -1) : undefined,
    });
    this.known.set(wrapped, limited);
    return limited;
  }

  /** An expression with its wrapped numbers as far as conditions tell them; undefined where they tell none of it. */
  applied(expression: Expression): Expression | undefined {
    if (this.known.size === 0 || !contains(expression, (part) => this.known.has(part))) return undefined;
    return new Rewriter(this.context, (part) => (part.uniform ? part : this.known.get(part))).rewrite(
      expression,
    );
  }
}
