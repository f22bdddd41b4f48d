import type { Expression, WrapFit } from '../expressions/expression.js';
import { constantOf, isConstant, termsOf } from '../expressions/expression.js';
import { withLaunchRemainders, withRemainders } from '../expressions/remainders.js';
import type { Path } from '../execution/path.js';
import { assuming, contains, flatten } from '../expressions/rewriting.js';
import { selectValue } from '../expressions/selection.js';
import type { KernelContext } from '../transfer/operands.js';
import { replaced, splitBy } from './iterationSolver.js';

/**
 * How often in a row, from iteration 0 on, a condition for going on holds; undefined when it cannot be told. The condition
 * is given at iteration `counter`; `path` holds before the loop, and expressions below `mark` are invariant in it.
 */
export function timesTrue(
  context: KernelContext,
  condition: Expression,
  counter: Expression,
  { mark, path }: { readonly mark: number; readonly path: Path },
): Expression | undefined {
  if (isForeign(condition, counter, mark)) return undefined;
  const tried = fewTimes(context, condition, counter);
  if (tried !== undefined) return tried;
  const { expression, fits } = flatten(context, condition);
  const { arithmetic, table } = context;
  const ends: WrapFit[] = [];
  const times = timesOf(context, expression, counter, { path, fits: ends });
  if (times === undefined) return undefined;
  for (const fit of fits) {
    if (splitBy(context, fit.of, counter) === undefined) return undefined;
    for (const end of [table.constant(0), times]) {
      ends.push({ ...fit, of: replaced(context, fit.of, counter, end) });
    }
  }
  const known = assuming(arithmetic, times, ends);
  return known.lo >= 0 ? known : arithmetic.maximum(table.constant(0), known);
}

/** Whether an expression of an iteration holds what is neither invariant nor told by the counter. */
export function isForeign(expression: Expression, counter: Expression, mark: number): boolean {
  return contains(
    expression,
    (part) => part.id >= mark && part !== counter && /^(unknown|carried|counter|hull)$/.test(part.op),
  );
}

const MOST_TRIES = 40;

/** Of a condition that a constant number of iterations decides: by trying. */
function fewTimes(
  context: KernelContext,
  condition: Expression,
  counter: Expression,
): Expression | undefined {
  const { conditions, table } = context;
  for (let times = 0; times <= MOST_TRIES; times++) {
    const truth = replaced(context, condition, counter, table.constant(times));
    if (truth === conditions.no) return table.constant(times);
    if (truth !== conditions.yes) return undefined;
  }
  return undefined;
}

/** What is known before a loop, and what must not wrap for it to be of use. */
interface Known {
  readonly path: Path;
  readonly fits: WrapFit[];
}

function timesOf(
  context: KernelContext,
  condition: Expression,
  counter: Expression,
  known: Known,
): Expression | undefined {
  const { table, arithmetic } = context;
  if (condition === context.conditions.no) return table.constant(0);
  if (condition.op === 'atMostZero') {
    const parts = splitBy(context, condition.of, counter);
    if (parts === undefined) return undefined;
    // slope · k + constant ≤ 0 from 0 on, until it is passed.
    const count = (slope: Expression): Expression =>
      arithmetic.maximum(
        table.constant(0),
        arithmetic.quotient(
          withLaunchRemainders(arithmetic, arithmetic.subtract(slope, parts.constant)),
          slope,
          'floor',
        ),
      );
    if (parts.slope.lo > 0) return count(parts.slope);
    if (parts.slope.hi <= 0) return undefined;
    // A step that turns out not to be positive at launch divides by zero there: no bound.
    return count(arithmetic.maximum(parts.slope, table.constant(0)));
  }
  if (condition.op === 'not' && condition.of.op === 'isZero') {
    const parts = splitBy(context, condition.of.of, counter);
    if (parts === undefined) return undefined;
    return wholeQuotient(context, arithmetic.scale(parts.constant, -1), parts.slope, known);
  }
  if (condition.op === 'isZero') {
    const parts = splitBy(context, condition.of, counter);
    if (parts === undefined || parts.slope.op !== 'constant' || isConstant(parts.slope, 0)) return undefined;
    return selectValue(
      context,
      context.conditions.isZero(parts.constant),
      table.constant(1),
      table.constant(0),
    );
  }
  return undefined;
}

/** a / b for iterations that end when they meet a value exactly. */
function wholeQuotient(
  context: KernelContext,
  a: Expression,
  b: Expression,
  known: Known,
): Expression | undefined {
  const { table, arithmetic } = context;
  if (isConstant(b, 0)) return undefined;
  if (b.op === 'constant') {
    const by = b.value;
    const divides = constantOf(a) % by === 0 && termsOf(a).every((term) => term.coefficient % by === 0);
    if (divides) {
      const quotient = arithmetic.quotient(a, b, 'floor');
      if (quotient.lo >= 0) return quotient;
      if (quotient.hi < 0) return undefined;
      if (isNonNegative(context, quotient, known)) return arithmetic.maximum(table.constant(0), quotient);
      return table.make({ op: 'exactQuotient', a: quotient, b: table.constant(1), divides: true });
    }
    if (a.op === 'constant') return undefined;
  }
  return table.make({ op: 'exactQuotient', a, b, divides: false });
}

/** Whether the conditions before the loop say that a number is not below zero there. */
function isNonNegative(context: KernelContext, value: Expression, known: Known): boolean {
  const { arithmetic } = context;
  const { path, fits } = known;
  const [term] = termsOf(value);
  const [quotient] = term?.factors ?? [];
  if (termsOf(value).length === 1 && term?.coefficient === 1 && term.factors.length === 1) {
    // ⌊x / d⌋ ≥ m says x ≥ m · d.
    const isFloor = quotient?.op === 'quotient' && quotient.rounding === 'floor';
    if (isFloor && quotient.b.op === 'constant' && quotient.b.value > 0) {
      const divided = arithmetic.addConstant(quotient.a, constantOf(value) * quotient.b.value);
      if (isNonNegative(context, divided, known)) return true;
    }
  }
  const next = arithmetic.addConstant(value, 1);
  for (const condition of path.since()) {
    const flat = flatten(context, condition);
    const { expression } = flat;
    let isSaid = false;
    if (expression.op === 'atMostZero') {
      // held ≤ 0 and −value ≤ held
      const excess = arithmetic.add(value, expression.of);
      isSaid = excess.op === 'constant' && excess.value >= 0;
    } else if (expression.op === 'not' && expression.of.op === 'isZero') {
      const { of } = expression.of;
      const isNext = of === next || arithmetic.scale(of, -1) === next;
      isSaid = isNext && withRemainders(arithmetic, next).lo >= 0;
    }
    if (!isSaid) continue;
    fits.push(...flat.fits);
    return true;
  }
  return false;
}
