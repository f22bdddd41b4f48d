import type { Expression, IntegerBits } from '../expressions/expression.js';
import { isConstant } from '../expressions/expression.js';
import type { Operands } from './operands.js';

/** The result of an integer instruction modulo its width; undefined when it is not followed. */
export function integerResult(o: Operands): Expression | undefined {
  const { opcode, modifiers } = o.instruction;
  if (o.instruction.carry !== undefined || modifiers.includes('sat') || modifiers.includes('relu')) {
    return undefined;
  }
  const { arithmetic } = o;
  switch (opcode) {
    case 'add':
      return arithmetic.reduce(arithmetic.add(o.raw(0), o.raw(1)), o.bits);
    case 'sub':
      return arithmetic.reduce(arithmetic.subtract(o.raw(0), o.raw(1)), o.bits);
    case 'neg':
      return arithmetic.reduce(arithmetic.scale(o.raw(0), -1), o.bits);
    case 'mul':
      return product(o);
    case 'mad': {
      const factors = product(o);
      if (factors === undefined) return undefined;
      const width = modifiers.includes('wide') ? ((o.bits * 2) as IntegerBits) : o.bits;
      return arithmetic.reduce(arithmetic.add(factors, o.addend(width)), width);
    }
    case 'mul24':
    case 'mad24': {
      if (modifiers.includes('hi')) return undefined;
      const [a, b] = [o.integer(0), o.integer(1)];
      const most = o.signed ? 2 ** 23 - 1 : 2 ** 24 - 1;
      const isShort = (each: Expression): boolean =>
        each.lo >= (o.signed ? -(2 ** 23) : 0) && each.hi <= most;
      if (!isShort(a) || !isShort(b)) return undefined;
      const factors = arithmetic.multiply(a, b);
      return arithmetic.reduce(opcode === 'mad24' ? arithmetic.add(factors, o.raw(2)) : factors, 32);
    }
    case 'abs': {
      const value = o.integer(0, o.bits, true);
      const larger = arithmetic.maximum(value, arithmetic.scale(value, -1));
      // Of the least integer it is itself. Otherwise not below zero, which intervals of the two do not tell.
      return value.lo >= 0
        ? value
        : arithmetic.reduce(arithmetic.maximum(larger, arithmetic.constant(0)), o.bits);
    }
    case 'min':
      return arithmetic.minimum(o.integer(0), o.integer(1));
    case 'max':
      return arithmetic.maximum(o.integer(0), o.integer(1));
    case 'div':
      return arithmetic.quotient(o.integer(0), o.integer(1), o.signed ? 'zero' : 'floor');
    case 'rem': {
      const [a, b] = [o.integer(0), o.integer(1)];
      const rounding = o.signed ? 'zero' : 'floor';
      // By zero it is all ones, not a − 0 · (a / 0) = a. Of divisors that all threads share the launch is asked (zeroDivisor.ts).
      if (isConstant(b, 0)) return undefined;
      if (!b.uniform && b.lo <= 0 && b.hi >= 0) return arithmetic.remainder(a, b, rounding);
      const quotient = arithmetic.quotient(a, b, rounding);
      return arithmetic.subtract(a, arithmetic.multiply(quotient, b));
    }
    case 'sad': {
      const [a, b] = [o.integer(0), o.integer(1)];
      const distance = arithmetic.maximum(arithmetic.subtract(a, b), arithmetic.subtract(b, a));
      return arithmetic.reduce(arithmetic.add(distance, o.raw(2)), o.bits);
    }
    default:
      return undefined;
  }
}

function product(o: Operands): Expression | undefined {
  const { arithmetic } = o;
  const { modifiers } = o.instruction;
  if (modifiers.includes('lo')) return arithmetic.reduce(arithmetic.multiply(o.raw(0), o.raw(1)), o.bits);
  const [a, b] = [o.integer(0), o.integer(1)];
  if (modifiers.includes('wide')) return arithmetic.multiply(a, b);
  if (!modifiers.includes('hi')) return undefined;
  const whole = arithmetic.multiply(a, b);
  if (o.bits === 64) return undefined;
  return arithmetic.quotient(whole, arithmetic.constant(2 ** o.bits), 'floor');
}
