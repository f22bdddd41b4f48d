import type { IrInstruction, IrOperand, ScalarType } from '../ir.js';
import { literalValue, singleLiteral } from '../literals.js';
import type { NewInstruction } from './replacement.js';

type Register = IrOperand & { readonly kind: 'register' };

/** Whether a division ends in the product of its dividend and the divisor's reciprocal, each scaled alike. */
export function isProductOfReciprocal({ opcode, modifiers, types }: IrInstruction): boolean {
  return (
    opcode === 'div' && types[0] === 'f32' && modifiers.some((each) => each === 'approx' || each === 'full')
  );
}

/** Below it a divisor is scaled up, so that its reciprocal does not overflow. */
const LEAST_NORMAL = 2 ** -126;
/** Beyond it `div.full` scales a divisor down, so that its reciprocal is not flushed to zero. */
const LARGE = 2 ** 126;

/**
 * The two factors that the card multiplies at the end of `div.approx.f32` or `div.full.f32`, as measured: the reciprocal by
 * its special function unit, after the scaling that the form and its `.ftz` ask for. They hold at the place of the division.
 * @param before takes what computes them, at the place of the division
 */
export function quotientFactors(
  division: IrInstruction,
  before: NewInstruction[],
  fresh: (type: ScalarType) => Register,
): [IrOperand, IrOperand] {
  const [dividend, divisor] = division.sources;
  if (dividend === undefined || divisor === undefined)
    throw new RangeError(`line ${division.line}: '${division.opcode}' has two sources`);
  const isFlushing = division.modifiers.includes('ftz');
  const write = (
    opcode: string,
    modifiers: readonly string[],
    to: Register,
    sources: readonly IrOperand[],
    guard?: IrInstruction['guard'],
  ): void => {
    const instruction = { line: division.line, opcode, modifiers, types: ['f32'] as const };
    before.push({ ...instruction, ...(guard === undefined ? {} : { guard }), destinations: [to], sources });
  };
  const size = divisor.kind === 'float' ? Math.abs(literalValue(divisor)) : 0;
  // Literal divisors are inverted by the compiler, which rounds to the nearest.
  if (divisor.kind === 'float' && size >= LEAST_NORMAL && size <= LARGE)
    return [dividend, singleLiteral(1 / literalValue(divisor))];
  const reciprocal = fresh('f32');
  if (isFlushing && division.modifiers.includes('approx')) {
    write('rcp', ['approx', 'ftz', 'f32'], reciprocal, [divisor]);
    return [dividend, reciprocal];
  }
  const [scaled, divided] = [fresh('f32'), fresh('f32')];
  write('mov', ['f32'], scaled, [dividend]);
  write('mov', ['f32'], divided, [divisor]);
  const scale = (comparison: string, bound: number, factor: number, isNegated: boolean): void => {
    const [magnitude, predicate] = [fresh('f32'), fresh('pred')];
    const flush = isFlushing ? ['ftz'] : [];
    write('abs', ['f32'], magnitude, [divisor]);
    write('setp', [comparison, ...flush, 'f32'], predicate, [magnitude, singleLiteral(bound)]);
    const guard = { register: predicate.register, negated: isNegated };
    for (const each of [divided, scaled])
      write('mul', ['rn', ...flush, 'f32'], each, [each, singleLiteral(factor)], guard);
  };
  if (division.modifiers.includes('full')) scale('gt', LARGE, 0.25, false);
  if (!isFlushing) scale('geu', LEAST_NORMAL, 2 ** 24, true);
  write('rcp', ['approx', 'ftz', 'f32'], reciprocal, [divided]);
  return [scaled, reciprocal];
}
