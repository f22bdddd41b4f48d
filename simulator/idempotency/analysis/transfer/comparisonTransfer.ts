import type { IrOperand } from '../../../ptx/index.js';
import type { Expression } from '../expressions/expression.js';
import { chosenValue, selectValue } from '../expressions/selection.js';
import type { Operands } from './operands.js';

const unsignedRelations: Readonly<Record<string, string>> = { lo: 'lt', ls: 'le', hi: 'gt', hs: 'ge' };

/** The truth that `setp` or `set` compares, before it is combined with another predicate. */
function compared(o: Operands): Expression {
  const { modifiers } = o.instruction;
  if (!/^[sub]\d+$/.test(o.type)) return floatCompared(o) ?? o.unknownTruth();
  const named = modifiers.find((each) => /^(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)$/.test(each)) ?? '';
  const relation = unsignedRelations[named] ?? named;
  const { conditions } = o;
  const signed = o.signed && named === relation;
  const [a, b] = [o.integer(0, o.bits, signed), o.integer(1, o.bits, signed)];
  switch (relation) {
    case 'eq':
      return conditions.equal(a, b);
    case 'ne':
      return conditions.not(conditions.equal(a, b));
    case 'lt':
      return conditions.less(a, addend(o, a, b, signed));
    case 'le':
      return conditions.lessEqual(addend(o, b, a, signed), b);
    case 'gt':
      return conditions.less(b, addend(o, b, a, signed));
    case 'ge':
      return conditions.lessEqual(addend(o, a, b, signed), a);
    default:
      return o.unknownTruth();
  }
}

/**
 * What to compare an unsigned number with in place of `one`: compilers test n − 1 − t < n as a carry, n − 1 − t < −1 − t. A
 * sum is less than one addend exactly when it is less than the other; the one that all threads share says more.
 */
function addend(o: Operands, sum: Expression, one: Expression, signed: boolean): Expression {
  if (signed || one.uniform) return one;
  const [whole, part] = [sum, one].map((each) =>
    each.op === 'wrap' && each.bits >= o.bits ? each.of : each,
  );
  if (whole === undefined || part === undefined) return one;
  const other = o.arithmetic.reduce(o.arithmetic.subtract(whole, part), o.bits);
  return other.uniform ? o.arithmetic.wrap(other, o.bits, false) : one;
}

/** Whether an argument in floating point is zero, of either sign: all bits but the first are. */
function floatCompared(o: Operands): Expression | undefined {
  const { modifiers, sources } = o.instruction;
  const [, zero] = sources;
  const value = o.raw(0);
  const isZero = zero?.kind === 'float' && zero.low === 0 && zero.high === 0;
  if (!isZero || value.op !== 'argument' || o.type !== 'f32' || modifiers.includes('ftz')) return undefined;
  const { arithmetic, conditions } = o;
  const magnitude = arithmetic.modulo(arithmetic.table.argument(value.offset, value.bytes, false), 2 ** 31);
  if (modifiers.includes('eq')) return conditions.isZero(magnitude);
  return modifiers.includes('neu') ? conditions.not(conditions.isZero(magnitude)) : undefined;
}

function combined(o: Operands, truth: Expression): Expression {
  const operation = o.instruction.modifiers.find((each) => /^(and|or|xor)$/.test(each));
  const other = o.instruction.sources[2];
  if (operation === undefined || other === undefined) return truth;
  return truthLogic(o, operation as 'and' | 'or' | 'xor', truth, o.read(other));
}

export function truthLogic(
  o: Operands,
  operation: 'and' | 'or' | 'xor',
  a: Expression,
  b: Expression,
): Expression {
  const { conditions } = o;
  if (operation === 'and') return conditions.and([a, b]);
  if (operation === 'or') return conditions.or([a, b]);
  return conditions.or([conditions.and([a, conditions.not(b)]), conditions.and([conditions.not(a), b])]);
}

/** `setp`: the truths of its one or two destinations. */
export function setPredicate(o: Operands): Expression[] {
  const truth = compared(o);
  const isPair = o.instruction.destinations[0]?.kind === 'pair';
  if (/x2$/.test(o.type)) return isPair ? [o.unknownTruth(), o.unknownTruth()] : [o.unknownTruth()];
  return isPair ? [combined(o, truth), combined(o, o.conditions.not(truth))] : [combined(o, truth)];
}

/** `set`: all ones (or 1.0) when the comparison holds, else 0. */
export function setValue(o: Operands): Expression | undefined {
  const [to = 'b32'] = o.instruction.types;
  if (/f/.test(to)) return undefined;
  const { arithmetic } = o;
  return selectValue(o, combined(o, compared(o)), arithmetic.constant(-1), arithmetic.constant(0));
}

/** `selp`. */
export function selected(o: Operands): Expression {
  const predicate: IrOperand | undefined = o.instruction.sources[2];
  const condition = predicate === undefined ? o.unknownTruth() : o.read(predicate);
  if (o.type === 'pred') return o.conditions.choose(condition, o.raw(0), o.raw(1));
  return chosenValue(o, condition, o.raw(0), o.raw(1), o.bits);
}

/** `slct`: a where c ≥ 0, else b. */
export function signSelected(o: Operands): Expression | undefined {
  if (o.type !== 's32') return undefined;
  // Constants are read as of the width of what is compared.
  const [to = 'b32'] = o.instruction.types;
  const isWide = !to.endsWith('32');
  if (isWide && o.instruction.sources.slice(0, 2).some(({ kind }) => kind === 'integer')) return undefined;
  const condition = o.conditions.lessEqual(o.arithmetic.constant(0), o.integer(2, 32, true));
  return selectValue(o, condition, o.raw(0), o.raw(1));
}
