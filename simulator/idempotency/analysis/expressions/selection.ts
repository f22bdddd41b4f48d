import type { Arithmetic } from './arithmetic.js';
import type { Conditions } from './conditions.js';
import type { Expression, IntegerBits } from './expression.js';
import { constantOf, termsOf } from './expression.js';
import { withRemainders } from './remainders.js';

interface Builder {
  readonly arithmetic: Arithmetic;
  readonly conditions: Conditions;
}

/** condition ? a : b, as a minimum or maximum where it is one. */
export function selectValue(
  { arithmetic, conditions }: Builder,
  condition: Expression,
  a: Expression,
  b: Expression,
): Expression {
  if (a === b || condition === conditions.yes) return a;
  if (condition === conditions.no) return b;
  if (condition.op === 'not') return selectValue({ arithmetic, conditions }, condition.of, b, a);
  if (condition.op === 'atMostZero') {
    // x − y + c ≤ 0 with c of 0 or 1 says x ≤ y or x < y.
    const difference = arithmetic.subtract(a, b);
    const [one, other] = [
      arithmetic.subtract(condition.of, difference),
      arithmetic.add(condition.of, difference),
    ];
    const isZeroOrOne = (each: Expression): boolean =>
      each.op === 'constant' && (constantOf(each) === 0 || constantOf(each) === 1);
    if (isZeroOrOne(one)) return arithmetic.minimum(a, b);
    if (isZeroOrOne(other)) return arithmetic.maximum(a, b);
  }
  if (condition.op === 'isZero') {
    const joined = continued(arithmetic, condition.of, a, b);
    if (joined !== undefined) return joined;
  }
  return arithmetic.table.make({ op: 'select', condition, a, b });
}

/**
 * r = 0 ? a : a + c · (max(0, r − 1) + 1) with r ≥ 0, as it stands behind a loop of r iterations that none skips: a + c · r.
 */
function continued(
  arithmetic: Arithmetic,
  zero: Expression,
  a: Expression,
  b: Expression,
): Expression | undefined {
  for (const times of [zero, arithmetic.scale(zero, -1)]) {
    const before = arithmetic.maximum(arithmetic.table.constant(0), arithmetic.addConstant(times, -1));
    const steps = termsOf(b).filter((term) => term.factors.includes(before));
    if (before.op !== 'maximum' || steps.length === 0) continue;
    const factor = arithmetic.sum(
      steps.reduce((total, { coefficient, factors }) => total + (factors.length === 1 ? coefficient : 0), 0),
      steps.flatMap(({ coefficient, factors }) => {
        const left = [...factors];
        left.splice(left.indexOf(before), 1);
        return left.length === 0 ? [] : [{ coefficient, factors: left }];
      }),
    );
    const whole = arithmetic.add(a, arithmetic.multiply(factor, times));
    const plain = arithmetic.add(
      arithmetic.subtract(b, arithmetic.multiply(factor, before)),
      arithmetic.multiply(factor, arithmetic.addConstant(times, -1)),
    );
    if (plain === whole && withRemainders(arithmetic, times).lo >= 0) return whole;
  }
  return undefined;
}

/**
 * condition ? a : b as a register's value. The condition compares integers, the registers hold numbers modulo their width:
 * where the condition speaks of the signed or unsigned value, that is taken.
 */
export function chosenValue(
  builder: Builder,
  condition: Expression,
  a: Expression,
  b: Expression,
  bits: IntegerBits,
): Expression {
  const plain = selectValue(builder, condition, a, b);
  if (plain.op !== 'select' || condition.op !== 'atMostZero') return plain;
  for (const signed of [true, false]) {
    const [x, y] = [builder.arithmetic.wrap(a, bits, signed), builder.arithmetic.wrap(b, bits, signed)];
    if (x === a && y === b) continue;
    const ordered = selectValue(builder, condition, x, y);
    if (ordered.op !== 'select') return ordered;
  }
  return plain;
}
