import { isa } from './isa/index.js';
import type { IrFunction, IrInstruction, IrOperand, ScalarType } from './ir.js';
import { typeBits } from './scalarTypes.js';
import { specialRegisterBits } from './specialRegisters.js';

export type OperandType = ScalarType | 'address' | 'label';

/** What a form says of operands, in order: their codes and the types that these give for the instruction. */
export interface ExpectedOperands {
  readonly codes: readonly string[];
  readonly types: readonly OperandType[];
}

/** Why operands do not fit the codes of a form, whose number they have; undefined when they do. */
export function checkOperands(
  operands: readonly IrOperand[],
  expected: ExpectedOperands,
  instruction: IrInstruction,
  fn: IrFunction,
  isWritten: boolean,
): string | undefined {
  for (let index = 0; index < operands.length; index++) {
    const operand = operands[index];
    if (operand === undefined) continue;
    const { codes, types } = expected;
    const reason = checkOperand(
      operand,
      codes[index] ?? '',
      types[index] ?? 'b32',
      instruction,
      fn,
      isWritten,
    );
    if (reason !== undefined)
      return `${isWritten ? 'destination' : 'source'} operand ${index + 1}: ${reason}`;
  }
  return undefined;
}

function checkOperand(
  operand: IrOperand,
  code: string,
  type: OperandType,
  instruction: IrInstruction,
  fn: IrFunction,
  isWritten: boolean,
): string | undefined {
  if (type === 'address') return checkAddress(operand, fn);
  if (type === 'label') return operand.kind === 'label' ? undefined : 'a label is expected';
  if (operand.kind === 'vector') {
    if (!code.startsWith('v')) return 'a vector is not expected here';
    const elementType = vectorElementType(operand.elements.length, type, instruction);
    if (elementType === undefined) return `a vector of ${operand.elements.length} does not fit .${type}`;
    for (const element of operand.elements) {
      if (element.kind === 'vector') return 'a vector inside a vector';
      const reason = checkOperand(element, '', elementType, instruction, fn, isWritten);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
  if (type === 'b128') return 'a .b128 register is expected';
  if (operand.kind === 'pair') {
    if (!code.endsWith('|p')) return 'a pair d|p is not expected here';
    if (operand.first.kind === 'pair' || operand.second.kind === 'pair') return 'a pair inside a pair';
    return (
      checkOperand(operand.first, '', type, instruction, fn, isWritten) ??
      checkOperand(operand.second, '', 'pred', instruction, fn, isWritten)
    );
  }
  if (operand.kind === 'register') return checkRegister(operand.register, type, instruction, fn);
  if (operand.kind === 'negatedPredicate') {
    if (isWritten || type !== 'pred' || !isa(instruction.opcode).syntax.isNegatable)
      return 'a negated predicate is not expected here';
    return checkRegister(operand.register, type, instruction, fn);
  }
  if (operand.kind === 'sink') return isWritten ? undefined : "'_' cannot be read";
  return isWritten ? 'a register is expected' : checkValue(operand, type, instruction);
}

function checkValue(operand: IrOperand, type: ScalarType, instruction: IrInstruction): string | undefined {
  if (operand.kind === 'special') return checkSpecial(operand.name, type, instruction);
  if (operand.kind === 'integer') {
    // The assembler takes integers for the bits of halves only where it moves bits.
    return /f/.test(type) ? `an integer where .${type} is expected` : undefined;
  }
  if (operand.kind === 'float') {
    return operand.width === typeBits(type)
      ? undefined
      : `a ${operand.width}-bit float where .${type} is expected`;
  }
  if (operand.kind === 'symbol') {
    if (isa(instruction.opcode).syntax.isMove && (typeBits(type) === 64 || typeBits(type) === 32))
      return undefined;
    return `the address ${operand.name} is not expected here`;
  }
  return 'a value is expected';
}

function checkSpecial(name: string, type: ScalarType, instruction: IrInstruction): string | undefined {
  if (!isa(instruction.opcode).syntax.isMove)
    return 'a special register can only be moved: mov it to a register first';
  const have = specialRegisterBits(name) ?? 0;
  const bits = typeBits(type);
  // Old texts move 32-bit special registers to .u16, and the number of the grid was once of 32 bits.
  const fits =
    bits === have || (have === 32 && bits === 16) || (name === 'gridid' && (bits === 32 || bits === 16));
  return fits && !/f/.test(type) ? undefined : `%${name} has ${have} bits, .${type} expected`;
}

function vectorElementType(
  count: number,
  type: ScalarType,
  instruction: IrInstruction,
): ScalarType | undefined {
  if (type === 'b128') return count === 2 ? 'b64' : undefined;
  if (!isa(instruction.opcode).syntax.isMove) return type;
  const bits = typeBits(type) / count;
  return count > 1 && (bits === 8 || bits === 16 || bits === 32) ? `b${bits}` : undefined;
}

function checkRegister(
  register: number,
  type: ScalarType,
  instruction: IrInstruction,
  fn: IrFunction,
): string | undefined {
  const found = fn.registers[register];
  if (found === undefined) return 'a register without a declaration';
  const bits = typeBits(type);
  const have = typeBits(found.type);
  if ((found.type === 'pred') !== (type === 'pred'))
    return `${found.name} is .${found.type}, .${type} expected`;
  // Loads, stores and conversions may use a register wider than the type (`ld.u8` into .b16).
  if (have === bits || (have > bits && isa(instruction.opcode).syntax.isWider)) return undefined;
  return `${found.name} is .${found.type}, .${type} expected`;
}

function checkAddress(operand: IrOperand, fn: IrFunction): string | undefined {
  if (operand.kind !== 'address') return 'an address in brackets is expected';
  if (typeof operand.base !== 'number') return undefined;
  const register = fn.registers[operand.base];
  if (register === undefined) return 'a register without a declaration';
  const bits = typeBits(register.type);
  if (register.type !== 'pred' && (bits === 64 || bits === 32)) return undefined;
  return `${register.name} is .${register.type}: an address has 32 or 64 bits`;
}
