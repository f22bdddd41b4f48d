import type { Expression, IntegerBits } from '../expressions/expression.js';
import { constantOf, isConstant, termsOf, typeRange, wrapNumber } from '../expressions/expression.js';
import { powerAbove } from '../expressions/expressionTable.js';
import { selectValue } from '../expressions/selection.js';
import type { Operands } from './operands.js';

/** The result of an instruction on bits modulo its width; undefined when it is not followed. */
export function bitResult(o: Operands): Expression | undefined {
  switch (o.instruction.opcode) {
    case 'and':
    case 'or':
    case 'xor':
      return wideMasked(o) ?? logic(o, o.instruction.opcode, o.raw(0), o.raw(1));
    case 'not':
      return o.arithmetic.reduce(o.arithmetic.addConstant(o.arithmetic.scale(o.raw(0), -1), -1), o.bits);
    case 'shl':
      return shiftLeft(o, o.raw(0), o.integer(1, 32, false));
    case 'shr':
      return shiftRight(o, o.integer(0), o.integer(1, 32, false));
    case 'bfe':
      return extract(o);
    case 'bfi':
      return insert(o);
    case 'prmt':
      return permuted(o);
    case 'popc':
      return o.unknown([0, o.bits]);
    case 'clz':
      return o.unknown([0, o.bits]);
    case 'bfind':
      return o.unknown([-1, 2 ** 32 - 1]);
    default:
      return undefined;
  }
}

export function logic(
  o: Operands,
  operation: 'and' | 'or' | 'xor',
  a: Expression,
  b: Expression,
): Expression {
  const { arithmetic, bits } = o;
  if (a.op === 'constant')
    return b.op === 'constant' ? folded(o, operation, a.value, b.value) : logic(o, operation, b, a);
  if (b.op === 'constant') {
    const known = withConstant(o, operation, a, b.value);
    if (known !== undefined) return known;
  }
  if (operation !== 'and') {
    const disjoint = disjointSum(o, a, b) ?? disjointSum(o, b, a);
    if (disjoint !== undefined) return disjoint;
  }
  if (a === b) return operation === 'xor' ? arithmetic.constant(0) : a;
  if (operation === 'and') {
    const kept = keptBySign(o, a, b) ?? keptBySign(o, b, a);
    if (kept !== undefined) return kept;
  }
  const [x, y] = [arithmetic.wrap(a, bits, true), arithmetic.wrap(b, bits, true)];
  const [first, second] = x.id < y.id ? [x, y] : [y, x];
  return arithmetic.table.make({ op: 'bits', operation, a: first, b: second, bits });
}

/** `and` with all ones or none, such as a sign spread over all bits, is a choice. */
function keptBySign(o: Operands, mask: Expression, value: Expression): Expression | undefined {
  if (mask.op !== 'select') return undefined;
  const side = (of: Expression): Expression | undefined => {
    if (isConstant(of, 0)) return of;
    return isConstant(of, -1) ? value : undefined;
  };
  const [a, b] = [side(mask.a), side(mask.b)];
  return a === undefined || b === undefined ? undefined : selectValue(o, mask.condition, a, b);
}

/** `and` of 64 bits with a mask beyond exact numbers that leaves a value's upper bits as they are: zero. */
function wideMasked(o: Operands): Expression | undefined {
  const { opcode, sources } = o.instruction;
  const [, mask] = sources;
  if (opcode !== 'and' || o.bits !== 64 || mask?.kind !== 'integer') return undefined;
  const bits = BigInt.asUintN(64, (BigInt(mask.high) << 32n) | BigInt(mask.low >>> 0));
  const low = trailingZeros(bits);
  const run = bits >> BigInt(low);
  if (bits < 2n ** 53n || (run & (run + 1n)) !== 0n || low > 52) return undefined;
  const value = o.integer(0, 64, false);
  if (value.hi >= Number(run << BigInt(low))) return undefined;
  return o.arithmetic.subtract(value, o.arithmetic.modulo(value, 2 ** low));
}

function folded(o: Operands, operation: 'and' | 'or' | 'xor', a: number, b: number): Expression {
  const [x, y] = [BigInt(a), BigInt(b)];
  const value = Number(operation === 'and' ? x & y : operation === 'or' ? x | y : x ^ y);
  return o.arithmetic.constant(wrapNumber(value, o.bits, true) ?? value);
}

function withConstant(
  o: Operands,
  operation: 'and' | 'or' | 'xor',
  a: Expression,
  mask: number,
): Expression | undefined {
  const { arithmetic, bits } = o;
  if (operation === 'xor' || operation === 'or') {
    if (mask === 0) return a;
    if (mask !== -1) return undefined;
    return operation === 'or'
      ? arithmetic.constant(-1)
      : arithmetic.reduce(arithmetic.addConstant(arithmetic.scale(a, -1), -1), bits);
  }
  if (mask === 0) return arithmetic.constant(0);
  if (mask === -1) return a;
  // A run of ones from bit `low` to below bit `high`: what is left modulo 2^high, without what is left modulo 2^low.
  const unsigned = BigInt.asUintN(bits, BigInt(mask));
  const low = trailingZeros(unsigned);
  const run = unsigned >> BigInt(low);
  const length = (run & (run + 1n)) === 0n ? run.toString(2).length : -1;
  if (length < 0) return undefined;
  const high = low + length;
  // Of a number that is its bits already there is nothing to wrap.
  const value = a.lo >= 0 && a.hi < 2 ** bits ? a : arithmetic.wrap(a, bits, true);
  const below = low === 0 ? arithmetic.constant(0) : arithmetic.modulo(value, 2 ** low);
  if (high >= bits) return arithmetic.reduce(arithmetic.subtract(value, below), bits);
  if (high > 52) return undefined;
  // (⌊x / 2^low⌋ mod 2^length) · 2^low
  const shifted = low === 0 ? value : arithmetic.quotient(value, arithmetic.constant(2 ** low), 'floor');
  return arithmetic.scale(arithmetic.modulo(shifted, 2 ** length), 2 ** low);
}

function trailingZeros(value: bigint): number {
  let count = 0;
  for (let rest = value; rest !== 0n && (rest & 1n) === 0n; rest >>= 1n) count++;
  return count;
}

/** a | b = a ^ b = a + b when a is a multiple of a power of two beyond b. */
function disjointSum(o: Operands, a: Expression, b: Expression): Expression | undefined {
  if (b.lo < 0 || !Number.isFinite(b.hi)) return undefined;
  const power = powerAbove(b.hi);
  const isMultiple =
    termsOf(a).every((term) => term.coefficient % power === 0) && constantOf(a) % power === 0;
  return isMultiple ? o.arithmetic.reduce(o.arithmetic.add(a, b), o.bits) : undefined;
}

export function shiftLeft(o: Operands, value: Expression, by: Expression): Expression {
  const { arithmetic, bits } = o;
  if (by.op === 'constant') {
    if (by.value >= bits) return arithmetic.constant(0);
    if (by.value > 52) return o.unknown();
    return arithmetic.reduce(arithmetic.scale(value, 2 ** by.value), bits);
  }
  return arithmetic.multiply(value, arithmetic.power(by));
}

export function shiftRight(o: Operands, value: Expression, by: Expression): Expression {
  const { arithmetic } = o;
  if (by.op === 'constant') {
    const most = Math.min(by.value, o.bits);
    const shifted = shiftedChoice(o, by.value);
    if (shifted !== undefined) return shifted;
    if (by.value === o.bits - 1) {
      const isNegative = o.conditions.less(arithmetic.wrap(value, o.bits, true), arithmetic.constant(0));
      return selectValue(o, isNegative, arithmetic.constant(o.signed ? -1 : 1), arithmetic.constant(0));
    }
    if (most > 52) return value.lo >= 0 && value.hi < 2 ** 53 ? arithmetic.constant(0) : o.unknown();
    return arithmetic.quotient(value, arithmetic.constant(2 ** most), 'floor');
  }
  return arithmetic.quotient(value, arithmetic.power(by), 'floor');
}

/** A choice between two constants, such as a sign spread over all bits, shifted right. */
function shiftedChoice(o: Operands, by: number): Expression | undefined {
  const value = o.raw(0);
  if (value.op !== 'select' || value.a.op !== 'constant' || value.b.op !== 'constant') return undefined;
  const shift = (constant: number): Expression => {
    const bits = BigInt(constant);
    const whole = o.signed ? BigInt.asIntN(o.bits, bits) : BigInt.asUintN(o.bits, bits);
    return o.arithmetic.constant(Number(whole >> BigInt(by)));
  };
  return selectValue(o, value.condition, shift(value.a.value), shift(value.b.value));
}

function extract(o: Operands): Expression | undefined {
  const [at, length] = [o.raw(1), o.raw(2)];
  if (o.signed || at.op !== 'constant' || length.op !== 'constant') return undefined;
  const [start, count] = [at.value & 255, length.value & 255];
  if (start + count > o.bits || count > 52 || start > 52) return undefined;
  const shifted = o.arithmetic.quotient(o.integer(0), o.arithmetic.constant(2 ** start), 'floor');
  return o.arithmetic.modulo(shifted, 2 ** count);
}

/** Replaces bits of b by the low bits of a. */
function insert(o: Operands): Expression | undefined {
  const [at, length] = [o.raw(2), o.raw(3)];
  if (at.op !== 'constant' || length.op !== 'constant') return undefined;
  const [start, count] = [at.value & 255, length.value & 255];
  if (start + count > o.bits || start > 52 || count === 0) return undefined;
  const { arithmetic } = o;
  if (start + count === o.bits) {
    // The whole of a, moved up, above the low bits of b.
    const kept = arithmetic.modulo(arithmetic.wrap(o.raw(1), o.bits, true), 2 ** start);
    return arithmetic.reduce(arithmetic.add(kept, arithmetic.scale(o.raw(0), 2 ** start)), o.bits);
  }
  if (start + count > 52) return undefined;
  const b = arithmetic.wrap(o.raw(1), o.bits, false);
  const low = arithmetic.modulo(b, 2 ** start);
  const rest = arithmetic.subtract(b, arithmetic.modulo(b, 2 ** (start + count)));
  const inserted = arithmetic.scale(
    arithmetic.modulo(arithmetic.wrap(o.raw(0), o.bits, false), 2 ** count),
    2 ** start,
  );
  return arithmetic.reduce(arithmetic.add(arithmetic.add(low, rest), inserted), o.bits);
}

/** Bytes of two registers, chosen by constants: runs of neighbours as digits of the register that they are of. */
function permuted(o: Operands): Expression | undefined {
  const selector = o.raw(2);
  if (selector.op !== 'constant' || o.instruction.modifiers.length > 1) return undefined;
  const chosen = [0, 1, 2, 3].map((at) => (selector.value >>> (4 * at)) & 15);
  // Replicated signs are not followed.
  if (chosen.some((each) => each > 7)) return undefined;
  const { arithmetic } = o;
  let total = arithmetic.constant(0);
  for (let at = 0, length = 1; at < 4; at += length) {
    const from = chosen[at] ?? 0;
    for (length = 1; at + length < 4 && from + length < 8; length++) {
      if (chosen[at + length] !== from + length || (from < 4 && from + length >= 4)) break;
    }
    const register = o.raw(from < 4 ? 0 : 1);
    const first = from % 4;
    const above =
      first === 0
        ? register
        : arithmetic.quotient(
            arithmetic.wrap(register, 32, false),
            arithmetic.constant(2 ** (8 * first)),
            'floor',
          );
    const run =
      first + length === 4 && first > 0
        ? above
        : first === 0 && length === 4
          ? register
          : arithmetic.modulo(above, 2 ** (8 * length));
    total = arithmetic.add(total, arithmetic.scale(run, 2 ** (8 * at)));
  }
  return arithmetic.reduce(total, 32);
}

/** `cvt` between integers. */
export function converted(o: Operands): Expression | undefined {
  const [to = 'b32', from = 'b32'] = o.instruction.types;
  if (!/^[sub]\d+$/.test(to) || !/^[sub]\d+$/.test(from)) return undefined;
  // Of two or three registers.
  if (o.instruction.modifiers.includes('pack')) return undefined;
  const sourceBits = Number(from.slice(1)) as IntegerBits;
  const targetBits = Number(to.slice(1)) as IntegerBits;
  const value = o.integer(0, sourceBits, from.startsWith('s'));
  const [lo, hi] = typeRange(targetBits, to.startsWith('s'));
  if (o.instruction.modifiers.includes('sat')) {
    if (targetBits === 64) return undefined;
    return o.arithmetic.minimum(
      o.arithmetic.maximum(value, o.arithmetic.constant(lo)),
      o.arithmetic.constant(hi),
    );
  }
  // A narrower result is extended to its register by its own sign.
  return targetBits < sourceBits ? o.arithmetic.wrap(value, targetBits, to.startsWith('s')) : value;
}
