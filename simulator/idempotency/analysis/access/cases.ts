import type { Expression } from '../expressions/expression.js';
import { Rewriter, visit } from '../expressions/rewriting.js';
import type { KernelContext } from '../transfer/operands.js';

/** An access on the threads and iterations on which some choices inside its address go one way. */
export interface AccessCase {
  readonly address: Expression;
  /** All that hold there, those of the way to the access first. */
  readonly conditions: readonly Expression[];
}

/** More choices than this in one address stay choices: intervals of both sides joined. */
const MOST_CASES = 8;

/** Whether a condition may go both ways where others hold and nothing wraps. */
type IsOpen = (condition: Expression, where: readonly Expression[]) => boolean;

/**
 * An access whose address is chosen by a condition that differs between threads (`i < n ? a + i : b + i − n`) is several
 * accesses, one for each side: there its condition, or the opposite, narrows what it chooses.
 */
export function casesOf(
  context: KernelContext,
  address: Expression,
  conditions: readonly Expression[],
  isOpen: IsOpen,
): readonly AccessCase[] {
  const open: AccessCase[] = [{ address, conditions }];
  const done: AccessCase[] = [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const chosen = choiceIn(next.address, (condition) => isOpen(condition, next.conditions));
    if (chosen === undefined || open.length + done.length + 2 > MOST_CASES) {
      done.push(next);
      continue;
    }
    const sides = [
      { isFirst: false, holds: context.conditions.not(chosen) },
      { isFirst: true, holds: chosen },
    ].map((side) => ({ ...side, address: settled(context, next.address, chosen, side.isFirst) }));
    if (sides.some((side) => side.address === next.address)) {
      done.push(next);
      continue;
    }
    for (const side of sides) {
      if (isExcluded(context, next.conditions, side.holds)) continue;
      const known = next.conditions.map((condition) => settled(context, condition, chosen, side.isFirst));
      const isKnown = known.includes(side.holds);
      open.push({ address: side.address, conditions: isKnown ? known : [...known, side.holds] });
    }
  }
  return done;
}

/** A condition that chooses a part of an address and that a launch does not decide for all threads. */
function choiceIn(address: Expression, isOpen: (condition: Expression) => boolean): Expression | undefined {
  let found: Expression | undefined;
  visit(address, (part) => {
    // What lies in a hull is of another iteration.
    if (part.uniform || part.op === 'hull' || found !== undefined) return false;
    if (part.op === 'select' && !part.condition.uniform && isOpen(part.condition)) found = part.condition;
    return true;
  });
  return found;
}

/** An address or condition where another condition holds, or does not. */
function settled(
  context: KernelContext,
  expression: Expression,
  condition: Expression,
  isFirst: boolean,
): Expression {
  const rewriter: Rewriter = new Rewriter(context, (part, rewrite) => {
    if (part.uniform) return part;
    if (part.op !== 'select' || part.condition !== condition) return undefined;
    return rewrite(isFirst ? part.a : part.b);
  });
  return rewriter.rewrite(expression);
}

function isExcluded({ conditions }: KernelContext, known: readonly Expression[], holds: Expression): boolean {
  return holds === conditions.no || known.includes(conditions.not(holds));
}
