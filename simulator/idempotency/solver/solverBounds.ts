import type { FoundLoop } from '../analysis/execution/findings.js';
import { termsOf, typeRange, type Expression, type WrapFit } from '../analysis/expressions/expression.js';
import { uniformPart } from '../analysis/expressions/polynomials.js';
import { assuming, contains, visit } from '../analysis/expressions/rewriting.js';
import type { KernelContext } from '../analysis/transfer/operands.js';
import type { SolverFact, SolverNotes } from './query.js';
import { rangeQuery } from './rangeQuery.js';

export interface BoundedAccess {
  readonly address: Expression;
  /** All of which hold where the access happens. */
  readonly conditions: readonly Expression[];
  readonly loops: readonly FoundLoop[];
}

/**
 * What a solver knows of an access beside its interval `own`: of that part of the address that differs between threads and
 * iterations, exactly as registers wrap and under the conditions on the way, the least and greatest value; or, where there is
 * none that holds in all launches, how far it is from a plain multiple of a number in it. What is not known yet is asked for. `never`: the
 * conditions contradict each other.
 * @param bounded the interval of an expression, by the analysis' own rules, where the conditions hold
 */
export function solverBounds(
  context: KernelContext,
  notes: SolverNotes,
  access: BoundedAccess,
  own: Expression,
  bounded: (expression: Expression) => Expression,
): Expression | 'never' {
  const { arithmetic, table } = context;
  const { address } = access;
  const held = [...access.conditions, ...access.loops.flatMap((loop) => iterations(context, loop))];
  const uniform = uniformPart(arithmetic, address);
  const varying = arithmetic.subtract(address, uniform);
  if (varying.op === 'constant' || ![varying, ...held].some(isIntricate)) return own;
  const fits = plainWraps([varying, ...held]);
  const conditions = [...held, ...fits.flatMap((fit) => fitting(context, fit))];
  const told = (base: Expression, fact: { lo: number; hi: number }): Expression => {
    const from = arithmetic.add(base, table.unknown([fact.lo, fact.hi], { source: ANSWER }));
    return table.make({ op: 'meet', a: assuming(arithmetic, from, fits), b: own });
  };
  const fact = factOf(notes, varying, conditions);
  if (fact === 'never') return fits.length === 0 ? 'never' : own;
  if (fact !== 'unknown' && fact !== 'asked') return told(uniform, fact);
  if (
    fact === 'asked' ||
    !contains(varying, (part) => part.op === 'bits' || part.op === 'remainder' || part.op === 'quotient')
  )
    return own;
  const near = nearMultiple(context, varying, (value) => factOf(notes, value, conditions));
  return near === undefined ? own : told(arithmetic.add(uniform, bounded(near.multiple)), near);
}

const ANSWER = { cause: 'NA' as const, line: 0, text: 'bounds of a solver' };

/**
 * A multiple c · 2^m · ⌊x / 2^m⌋ of a number x in a value, beside which the value stays within constant bounds: of
 * x ^ ((x div 8) mod 8) it is 8 · ⌊x / 8⌋, and the value 0 to 7 above.
 */
function nearMultiple(
  { arithmetic }: KernelContext,
  value: Expression,
  factOf: (value: Expression) => SolverFact | 'asked',
): { readonly multiple: Expression; readonly lo: number; readonly hi: number } | undefined {
  const isBound = (fact: SolverFact | 'asked'): fact is { lo: number; hi: number } =>
    typeof fact === 'object';
  for (const by of new Set(termsOf(value).map((term) => term.coefficient))) {
    for (const number of plainNumbers(value)) {
      const plain = arithmetic.scale(number, by);
      const distance = factOf(arithmetic.subtract(value, plain));
      if (distance === 'asked') return undefined;
      if (!isBound(distance)) continue;
      const farthest = Math.max(-distance.lo, distance.hi) / Math.abs(by);
      const unit = 2 ** Math.ceil(Math.log2(farthest + 1));
      const multiple = arithmetic.scale(
        arithmetic.quotient(number, arithmetic.constant(unit), 'floor'),
        by * unit,
      );
      const above = factOf(arithmetic.subtract(value, multiple));
      if (isBound(above) && above.hi - above.lo < distance.hi - distance.lo) return { multiple, ...above };
      return above === 'asked' ? undefined : { multiple: plain, ...distance };
    }
  }
  return undefined;
}

/** Sums of arguments, dimensions, threads and counters in an expression that are part of no other. */
function plainNumbers(expression: Expression): readonly Expression[] {
  const found = new Set<Expression>();
  visit(expression, (part) => {
    const isPlain = !part.uniform && isPlainSum(part);
    if (isPlain) found.add(part);
    return !isPlain;
  });
  return [...found].slice(0, MOST_NUMBERS);
}

const MOST_NUMBERS = 3;

function factOf(
  notes: SolverNotes,
  value: Expression,
  conditions: readonly Expression[],
): SolverFact | 'asked' {
  const query = rangeQuery(value, conditions);
  if (query === undefined) return 'unknown';
  const fact = notes.facts.get(query.key);
  if (fact === undefined) notes.ask(query);
  return fact ?? 'asked';
}

/** Sums of arguments, dimensions, threads and counters that registers may wrap: a launch can tell whether they do. */
function plainWraps(expressions: readonly Expression[]): readonly WrapFit[] {
  const found = new Set<WrapFit>();
  for (const expression of expressions) {
    visit(expression, (part) => {
      if (part.op === 'wrap' && part.bits === 32 && isPlainSum(part.of)) {
        found.add(part);
      }
      return true;
    });
  }
  return [...found];
}

/** That a value lies in its type. */
function fitting({ arithmetic, conditions }: KernelContext, { of, bits, signed }: WrapFit): Expression[] {
  const [lo, hi] = typeRange(bits, signed);
  return [
    conditions.atMostZero(arithmetic.addConstant(of, -hi)),
    conditions.atMostZero(arithmetic.addConstant(arithmetic.scale(of, -1), lo)),
  ];
}

function isPlainSum(expression: Expression): boolean {
  return !contains(expression, (part) => !PLAIN.has(part.op));
}

const PLAIN: ReadonlySet<Expression['op']> = new Set([
  'constant',
  'argument',
  'dimension',
  'thread',
  'counter',
  'sum',
  'product',
]);

/** counter ≤ count − 1 */
function iterations({ arithmetic, conditions }: KernelContext, { counter, count }: FoundLoop): Expression[] {
  if (count === undefined) return [];
  return [conditions.atMostZero(arithmetic.addConstant(arithmetic.subtract(counter, count), 1))];
}

const INTRICATE: ReadonlySet<Expression['op']> = new Set([
  'bits',
  'quotient',
  'remainder',
  'select',
  'minimum',
  'maximum',
  'or',
]);

/** More than sums, comparisons and wrapping, which intervals are good at. */
function isIntricate(expression: Expression): boolean {
  return contains(expression, (part) => !part.uniform && INTRICATE.has(part.op));
}
