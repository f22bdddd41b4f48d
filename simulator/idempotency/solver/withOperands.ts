import type { Expression, WrapFit } from '../analysis/expressions/expression.js';

/** An expression over other operands, unsimplified; itself when it has none. */
export function withOperands(
  expression: Expression,
  change: (operand: Expression) => Expression,
): Expression {
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
      return expression;
    case 'sum': {
      const terms = expression.terms.map((term) => ({ ...term, factors: term.factors.map(change) }));
      return { ...expression, terms };
    }
    case 'product':
    case 'quotient':
    case 'remainder':
    case 'exactQuotient':
    case 'minimum':
    case 'maximum':
    case 'bits':
    case 'meet':
      return { ...expression, a: change(expression.a), b: change(expression.b) };
    case 'power':
    case 'wrap':
    case 'atMostZero':
    case 'isZero':
    case 'not':
      return { ...expression, of: change(expression.of) };
    case 'select':
      return {
        ...expression,
        condition: change(expression.condition),
        a: change(expression.a),
        b: change(expression.b),
      };
    case 'and':
    case 'or':
      return { ...expression, terms: expression.terms.map(change) };
    case 'narrow':
      return {
        ...expression,
        of: change(expression.of),
        least: expression.least && change(expression.least),
        most: expression.most && change(expression.most),
      };
    case 'assume': {
      const fits = expression.fits.map((fit): WrapFit => ({ ...fit, of: change(fit.of) }));
      return { ...expression, of: change(expression.of), fits };
    }
    case 'hull':
      return { ...expression, from: change(expression.from), to: change(expression.to) };
  }
}
