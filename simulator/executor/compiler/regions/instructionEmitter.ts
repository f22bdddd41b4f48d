import {
  asksTextureUnit,
  changesNoValue,
  isAccess,
  isCopy,
  isOnAddress,
  isWait,
  memoryEffect,
} from '../../../ptx/index.js';
import type { IrInstruction } from '../../../ptx/index.js';
import {
  carryEmitter,
  comparisonEmitters,
  convert,
  convertsInline,
  directedMode,
  floatEmitters,
  fusedDoubles,
  halfEmitter,
  type OperandEmitter,
  integerEmitters,
  type InstructionEmitter,
} from '../scalar/index.js';
import type { ImportedOperations } from '../hostCalls/index.js';
import { immediateOf, unsupported, lastType } from '../instructions/index.js';
import type { MemoryEmitter } from '../accesses/index.js';
import { oneLaneEmitter } from '../vector/index.js';

/** Memory order needs nothing where threads run one after another; hints and waits change no value. */
export function isSilent(opcode: string): boolean {
  return changesNoValue(opcode) || isWait(opcode);
}

/** Float operations that are written inline only in some forms. */
function floatIsInline(instruction: IrInstruction): boolean {
  const { opcode, modifiers } = instruction;
  if (!Object.hasOwn(floatEmitters, opcode)) return false;
  const isDirected = directedMode(instruction) !== undefined;
  if (lastType(instruction) === 'f32') {
    const isFused = opcode === 'fma' || opcode === 'mad';
    if (modifiers.includes('xorsign')) return false;
    // What is subnormal before it is rounded is flushed, which matters where rounding goes up.
    if (isDirected && modifiers.includes('ftz')) return opcode === 'add' || opcode === 'sub';
    return !isDirected || opcode === 'add' || opcode === 'sub' || opcode === 'mul' || isFused;
  }
  return !isDirected && !modifiers.includes('approx') && opcode !== 'fma' && opcode !== 'mad';
}

const integerTypes = /^(?:pred|[bus](?:8|16|32|64))$/;

/** The emitter that writes an instruction inline, or undefined when the arithmetic definitions are called instead. */
export function inlineEmitter(instruction: IrInstruction): InstructionEmitter | undefined {
  return scalarEmitter(instruction) ?? oneLaneEmitter(instruction, false);
}

function scalarEmitter(instruction: IrInstruction): InstructionEmitter | undefined {
  const { opcode, modifiers } = instruction;
  const type = lastType(instruction);
  if (opcode === 'cvt') return convertsInline(instruction) ? convert : halfEmitter(instruction);
  if (instruction.carry !== undefined) return carryEmitter;
  const isFloat = type === 'f32' || type === 'f64';
  if (!isFloat && !integerTypes.test(type)) return halfEmitter(instruction);
  if (Object.hasOwn(comparisonEmitters, opcode))
    return /^b?f16/.test(instruction.types[0] ?? '') ? undefined : comparisonEmitters[opcode];
  if (isFloat) return floatIsInline(instruction) ? floatEmitters[opcode] : undefined;
  const isPlain = !modifiers.some((each) => each === 'sat' || each === 'relu' || each === 'cc');
  if (!isPlain || !Object.hasOwn(integerEmitters, opcode)) return undefined;
  if (
    opcode === 'lop3' &&
    (immediateOf(instruction.sources[3]) === undefined || instruction.sources.length > 4)
  )
    return undefined;
  return integerEmitters[opcode];
}

/** What the memory emitter writes. */
function isOfMemory(opcode: string): boolean {
  return isAccess(opcode) || isCopy(opcode) || isOnAddress(opcode) || asksTextureUnit(opcode);
}

/** Whether an instruction needs a function imported for it. */
export function needsImport(instruction: IrInstruction): boolean {
  return (
    !isOfMemory(instruction.opcode) &&
    !isSilent(instruction.opcode) &&
    inlineEmitter(instruction) === undefined
  );
}

/** Writes one instruction that neither branches nor waits, under its guard. */
export function emitInstruction(
  instruction: IrInstruction,
  emit: OperandEmitter,
  memory: MemoryEmitter,
  imported: ImportedOperations,
): void {
  if (isSilent(instruction.opcode)) return;
  const guard = instruction.guard;
  if (guard !== undefined) {
    emit.f.get(emit.localOf(guard.register));
    if (guard.negated) emit.f.op('i32Eqz');
    emit.f.if();
  }
  emitUnguarded(instruction, emit, memory, imported);
  if (guard !== undefined) emit.f.end();
}

/** Writes one instruction whose guard, if it has one, is known to hold. */
export function emitUnguarded(
  instruction: IrInstruction,
  emit: OperandEmitter,
  memory: MemoryEmitter,
  imported: ImportedOperations,
): void {
  switch (memoryEffect(instruction.opcode)) {
    case 'load':
      memory.load(instruction);
      return;
    case 'store':
      memory.store(instruction);
      return;
    case 'atomic':
    case 'reduction':
      memory.atomic(instruction, imported);
      return;
    case 'copy':
      // Copies are done where they are issued, so nothing is left to wait for.
      if (instruction.sources.length > 2) memory.copy(instruction);
      return;
    case 'discard':
      return;
    case undefined: {
      if (isOnAddress(instruction.opcode)) {
        memory.address(instruction);
        return;
      }
      if (asksTextureUnit(instruction.opcode)) {
        memory.fetch(instruction, imported);
        return;
      }
      const inline =
        inlineEmitter(instruction) ?? (emit.library.fusesMultiplyAdd ? fusedDoubles(instruction) : undefined);
      if (inline !== undefined) inline(emit, instruction);
      else if (!imported.emit(emit, instruction))
        throw unsupported(instruction, emit.fn, 'no meaning is defined');
    }
  }
}
