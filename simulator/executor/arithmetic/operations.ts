import type { IrInstruction, ScalarType } from '../../ptx/index.js';
import { isSignedType, operandTypes, typeBits } from '../../ptx/index.js';
import { bitOperations } from './bitOperations.js';
import { conversionOperation } from './conversionOperations.js';
import { floatOperations } from './floatOperations.js';
import { integerOperations } from './integerOperations.js';
import { comparisonOperations } from './comparisonOperations.js';
import type { OperationMaker, ScalarOperation } from './operationTypes.js';

const makers: Readonly<Record<string, OperationMaker>> = {
  ...integerOperations,
  ...bitOperations,
  ...floatOperations,
  ...comparisonOperations,
  cvt: conversionOperation,
};

/**
 * The meaning of an instruction that computes registers from registers alone. Undefined for those that touch memory,
 * other lanes, special registers or control. Arithmetic of float types takes the float table, all else the integer one.
 */
export function scalarOperation(instruction: IrInstruction): ScalarOperation | undefined {
  const { opcode, modifiers, types } = instruction;
  const type = types.at(-1) ?? 'b32';
  const floatName = `${opcode}.float`;
  const isFloat = type === 'f32' || type === 'f64';
  const name = isFloat && Object.hasOwn(makers, floatName) ? floatName : opcode;
  const maker = Object.hasOwn(makers, name) ? makers[name] : undefined;
  if (maker === undefined) return undefined;
  const declared = operandTypes(instruction);
  const made = maker({
    opcode,
    type,
    types,
    bits: typeBits(type),
    isSigned: isSignedType(type),
    has: (modifier) => modifiers.includes(modifier),
  });
  return {
    sources: made.sources ?? declared.sources.map((each) => each as ScalarType),
    result: made.result ?? (declared.destinations[0] as ScalarType),
    apply: made.apply,
    ...(made.second === undefined ? {} : { second: made.second }),
  };
}
