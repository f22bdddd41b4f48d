import { isa } from '../../ptx/index.js';
import type { OperationMaker, OperationShape, Value } from './operationTypes.js';

/**
 * `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc` and their `.cc` forms. The condition code is the carry out of an
 * adder: a card subtracts by adding the complement, so after `sub.cc` it is 1 where nothing was borrowed (PTX calls it the
 * borrow, which differs only where a chain of subtractions is read by an addition).
 */
export function carryOperation(opcode: string, modifiers: readonly string[]): OperationMaker | undefined {
  const { carry } = isa(opcode).syntax;
  return carry === 'in' || (carry === 'out' && modifiers.includes('cc')) ? maker : undefined;
}

/** The sum before it is cut to the width, of operands as unsigned numbers. */
function sum(shape: OperationShape): (values: readonly Value[]) => bigint {
  const width = shape.bits;
  const unsigned = (value: Value | undefined): bigint => BigInt.asUintN(width, BigInt(value ?? 0));
  const isSubtraction = shape.opcode.startsWith('sub');
  const reads = shape.opcode.endsWith('c');
  const carry = (value: Value | undefined): bigint => (reads ? BigInt(value ?? 0) : isSubtraction ? 1n : 0n);
  if (!shape.opcode.startsWith('mad')) {
    return ([a, b, c]) => unsigned(a) + unsigned(isSubtraction ? ~BigInt(b ?? 0) : b) + carry(c);
  }
  return ([a, b, c, d]) => {
    const product = BigInt(a ?? 0) * BigInt(b ?? 0);
    return unsigned(shape.has('hi') ? product >> BigInt(width) : product) + unsigned(c) + carry(d);
  };
}

const maker: OperationMaker = (shape) => {
  const { type, bits } = shape;
  const total = sum(shape);
  const count = shape.opcode.startsWith('mad') ? 3 : 2;
  return {
    sources: [
      ...Array.from({ length: count }, () => type),
      ...(shape.opcode.endsWith('c') ? (['pred'] as const) : []),
    ],
    result: type,
    apply: (...values) => {
      const result = BigInt.asIntN(bits, total(values));
      return bits === 64 ? result : Number(result);
    },
    ...(shape.has('cc')
      ? { carryOut: (...values: Value[]) => Number((total(values) >> BigInt(bits)) & 1n) }
      : {}),
  };
};
