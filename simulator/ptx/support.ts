import { instructionForms } from './forms.js';
import type { InstructionForm } from './forms.js';
import type { IrFunction, IrInstruction, IrOperand, ScalarType } from './ir.js';
import { isScalarType, typeBits } from './scalarTypes.js';

/** Type of each operand of an instruction, in order; `address` and `label` for what has none. */
export interface OperandTypes {
  readonly destinations: readonly OperandType[];
  readonly sources: readonly OperandType[];
}

export type OperandType = ScalarType | 'address' | 'label';

const readableSpecials =
  /^(?:(?:tid|ntid|ctaid|nctaid)\.[xyz]|laneid|warpid|nwarpid|lanemask_(?:eq|le|lt|ge|gt)|dynamic_smem_size|total_smem_size)$/;

/** The supported form that an instruction has, or undefined. */
function formOf(instruction: IrInstruction): InstructionForm | undefined {
  const forms = Object.hasOwn(instructionForms, instruction.opcode)
    ? instructionForms[instruction.opcode]
    : undefined;
  const types = instruction.types.join('.');
  const others = instruction.modifiers.filter((modifier) => !isScalarType(modifier));
  return forms?.find(
    (form) =>
      form.types.test(types) &&
      others.every((modifier) => form.allowed.test(modifier)) &&
      form.required.every((required) => others.some((modifier) => required.test(modifier))),
  );
}

const doubled: Partial<Record<ScalarType, ScalarType>> = { u16: 'u32', s16: 's32', u32: 'u64', s32: 's64' };

function resolve(code: string, types: readonly ScalarType[]): OperandType {
  const last = types.at(-1) ?? 'b32';
  switch (code.replace(/^[v{]|[}]$|\|p$/g, '')) {
    case 'T':
      return last;
    case 'T1':
      return types[0] ?? last;
    case 'W':
      return doubled[last] ?? last;
    case 'a':
      return 'address';
    case 'l':
      return 'label';
    case 'i':
      return 'b32';
    case 'p':
      return 'pred';
    default:
      return code.replace(/\|p$/, '') as ScalarType;
  }
}

/** Operand types of a supported instruction. @throws RangeError when the instruction is not supported. */
export function operandTypes(instruction: IrInstruction): OperandTypes {
  const form = formOf(instruction);
  if (form === undefined)
    throw new RangeError(`${instruction.opcode} at line ${instruction.line} is not supported`);
  return {
    destinations: form.destinations.map((code) => resolve(code, instruction.types)),
    sources: form.sources.map((code) => resolve(code, instruction.types)),
  };
}

/** Why an instruction cannot run, or undefined when it can. */
export function checkInstruction(instruction: IrInstruction, fn: IrFunction): string | undefined {
  if (!Object.hasOwn(instructionForms, instruction.opcode)) return 'this instruction is not supported';
  const form = formOf(instruction);
  if (form === undefined) return 'this combination of modifiers and types is not supported';
  return (
    checkCount(instruction.destinations, form.destinations, 'destination') ??
    checkCount(instruction.sources, form.sources, 'source') ??
    checkOperands(instruction.destinations, form.destinations, instruction, fn, true) ??
    checkOperands(instruction.sources, form.sources, instruction, fn, false) ??
    checkVector(instruction) ??
    checkBarrier(instruction)
  );
}

/** A block has the barriers 0 to 15; of `bar.warp.sync` the operand is a mask. */
function checkBarrier({ opcode, modifiers, sources }: IrInstruction): string | undefined {
  if ((opcode !== 'bar' && opcode !== 'barrier') || modifiers.includes('warp')) return undefined;
  const [barrier] = sources;
  if (barrier?.kind !== 'integer' || (barrier.high === 0 && barrier.low >>> 0 <= 15)) return undefined;
  const written = BigInt.asIntN(64, (BigInt(barrier.high) << 32n) | BigInt(barrier.low >>> 0));
  return `barrier ${written}: a block has the barriers 0 to 15`;
}

function checkCount(
  operands: readonly IrOperand[],
  codes: readonly string[],
  what: string,
): string | undefined {
  const least = codes.filter((code) => !code.startsWith('{')).length;
  if (operands.length >= least && operands.length <= codes.length) return undefined;
  return `it has ${operands.length} ${what} operands, ${least === codes.length ? least : `${least} to ${codes.length}`} expected`;
}

function checkOperands(
  operands: readonly IrOperand[],
  codes: readonly string[],
  instruction: IrInstruction,
  fn: IrFunction,
  isWritten: boolean,
): string | undefined {
  for (const [index, operand] of operands.entries()) {
    const code = codes[index] ?? '';
    const reason = checkOperand(operand, code, resolve(code, instruction.types), instruction, fn, isWritten);
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
    if (isWritten || type !== 'pred' || !/^(setp|set|vote|and|or|xor|not|selp)$/.test(instruction.opcode)) {
      return 'a negated predicate is not expected here';
    }
    return checkRegister(operand.register, type, instruction, fn);
  }
  if (operand.kind === 'sink') return isWritten ? undefined : "'_' cannot be read";
  return isWritten ? 'a register is expected' : checkValue(operand, type, instruction);
}

function checkValue(operand: IrOperand, type: ScalarType, instruction: IrInstruction): string | undefined {
  if (operand.kind === 'special') {
    if (!readableSpecials.test(operand.name)) return `%${operand.name} is not supported`;
    return instruction.opcode === 'mov' ? undefined : 'a special register can only be moved';
  }
  if (operand.kind === 'integer') {
    return type === 'f32' || type === 'f64' ? `an integer where .${type} is expected` : undefined;
  }
  if (operand.kind === 'float') {
    return operand.width === typeBits(type)
      ? undefined
      : `a ${operand.width}-bit float where .${type} is expected`;
  }
  if (operand.kind === 'symbol') {
    if (instruction.opcode === 'mov' && (typeBits(type) === 64 || typeBits(type) === 32)) return undefined;
    return `the address ${operand.name} is not expected here`;
  }
  return 'a value is expected';
}

function vectorElementType(
  count: number,
  type: ScalarType,
  instruction: IrInstruction,
): ScalarType | undefined {
  if (instruction.opcode !== 'mov') return type;
  const bits = typeBits(type) / count;
  return bits === 8 || bits === 16 || bits === 32 ? `b${bits}` : undefined;
}

function checkVector(instruction: IrInstruction): string | undefined {
  const width = instruction.modifiers.includes('v2') ? 2 : instruction.modifiers.includes('v4') ? 4 : 0;
  const all = [...instruction.destinations, ...instruction.sources];
  const vectors = all.filter((operand) => operand.kind === 'vector');
  if (instruction.opcode === 'mov') return vectors.length > 1 ? 'a vector moved to a vector' : undefined;
  if (vectors.some((vector) => vector.elements.length !== width) || (width > 0 && vectors.length === 0)) {
    return width > 0 ? `a vector of ${width} is expected` : 'a vector is not expected here';
  }
  const type = instruction.types.at(-1);
  if (width > 0 && type !== undefined && typeBits(type) * width > 128)
    return 'a vector of more than 128 bits';
  return undefined;
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
  const mayBeWider = /^(ld|ldu|st|cvt)$/.test(instruction.opcode);
  if (have === bits || (mayBeWider && have > bits)) return undefined;
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
