import type { IrInstruction, OpcodeOf, ScalarType } from '../../ptx/index.js';
import { isSignedType, operandTypes, typeBits } from '../../ptx/index.js';
import { bitOperations } from './bitOperations.js';
import { carryOperation } from './carryOperations.js';
import { conversionOperation } from './conversionOperations.js';
import { floatOperations } from './floatOperations.js';
import { integerOperations } from './integerOperations.js';
import { comparisonOperations } from './comparisonOperations.js';
import { halfOperations } from './halfOperations.js';
import type { OperationMaker, ScalarOperation } from './operationTypes.js';
import { packedIntegerOperations } from './packedOperations.js';
import { videoOperations } from './videoOperations.js';

/** What computes; moves are made by executors, and carries by `carryOperation`. */
type Meant = Exclude<OpcodeOf<'pure'>, 'mov' | 'addc' | 'subc' | 'madc'>;

/** By opcode, and by opcode and `.float`. It does not compile while an opcode has a row and no meaning. */
const makers: Readonly<Record<string, OperationMaker>> = {
  ...integerOperations,
  ...bitOperations,
  ...floatOperations,
  ...comparisonOperations,
  ...videoOperations,
  cvt: conversionOperation,
} satisfies Readonly<Record<Meant, OperationMaker>>;

/** The table that knows an instruction: by the types that it ends in. */
function makerOf(opcode: string, type: ScalarType): OperationMaker | undefined {
  const own = (table: Readonly<Record<string, OperationMaker>>, name: string): OperationMaker | undefined =>
    Object.hasOwn(table, name) ? table[name] : undefined;
  if (/^b?f16(?:x2)?$/.test(type))
    return own(halfOperations, opcode) ?? (opcode === 'cvt' ? conversionOperation : undefined);
  if (/^[us]16x2$/.test(type)) return own(packedIntegerOperations, opcode);
  if (type === 'f32' || type === 'f64') return own(makers, `${opcode}.float`) ?? own(makers, opcode);
  return own(makers, opcode);
}

/**
 * The meaning of an instruction that computes registers from registers alone. Undefined for those that touch memory,
 * other lanes, special registers or control.
 */
export function scalarOperation(instruction: IrInstruction): ScalarOperation | undefined {
  const { opcode, modifiers, types } = instruction;
  const type = types.at(-1) ?? 'b32';
  const maker = carryOperation(opcode, modifiers) ?? makerOf(opcode, type);
  if (maker === undefined) return undefined;
  const made = maker({
    opcode,
    type,
    types,
    modifiers,
    selectors: instruction.selectors ?? [],
    bits: typeBits(type),
    isSigned: isSignedType(type),
    has: (modifier) => modifiers.includes(modifier),
  });
  const declared =
    made.sources === undefined || made.result === undefined ? operandTypes(instruction) : undefined;
  return {
    sources: made.sources ?? declared?.sources.map((each) => each as ScalarType) ?? [],
    result: made.result ?? (declared?.destinations[0] as ScalarType),
    apply: made.apply,
    ...(made.numbers === undefined ? {} : { numbers: made.numbers }),
    ...(made.second === undefined ? {} : { second: made.second }),
    ...(made.carryOut === undefined ? {} : { carryOut: made.carryOut }),
  };
}
