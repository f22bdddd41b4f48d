import type { IrInstruction } from '../../ptx/index.js';
import { comparisonEmitters } from './comparisonEmitter.js';
import { convert, convertsInline } from './conversionEmitter.js';
import { directedMode, floatEmitters } from './floatEmitter.js';
import type { ImportedOperations } from './importedOperations.js';
import { immediateOf, unsupported, type OperandEmitter } from './operandEmitter.js';
import { integerEmitters, lastType, type InstructionEmitter } from './integerEmitter.js';
import type { MemoryEmitter } from './memoryEmitter.js';

const memoryOpcodes = new Set(['ld', 'ldu', 'st', 'atom', 'red', 'cvta', 'isspacep']);

/** Memory order needs nothing where threads run one after another; hints and waits change no value. */
const silentOpcodes = new Set(['membar', 'fence', 'prefetch', 'nanosleep']);

/** Float operations that are written inline only in some forms. */
function floatIsInline(instruction: IrInstruction): boolean {
  const { opcode } = instruction;
  if (!Object.hasOwn(floatEmitters, opcode)) return false;
  const isDirected = directedMode(instruction) !== undefined;
  if (lastType(instruction) === 'f32') {
    return (
      !isDirected ||
      opcode === 'add' ||
      opcode === 'sub' ||
      opcode === 'mul' ||
      opcode === 'fma' ||
      opcode === 'mad'
    );
  }
  return !isDirected && opcode !== 'fma' && opcode !== 'mad';
}

/** The emitter that writes an instruction inline, or undefined when the arithmetic definitions are called instead. */
export function inlineEmitter(instruction: IrInstruction): InstructionEmitter | undefined {
  const { opcode, modifiers } = instruction;
  const type = lastType(instruction);
  if (opcode === 'cvt') return convertsInline(instruction) ? convert : undefined;
  if (Object.hasOwn(comparisonEmitters, opcode)) return comparisonEmitters[opcode];
  if (type === 'f32' || type === 'f64') return floatIsInline(instruction) ? floatEmitters[opcode] : undefined;
  if (modifiers.includes('sat') || !Object.hasOwn(integerEmitters, opcode)) return undefined;
  if (opcode === 'lop3' && immediateOf(instruction.sources[3]) === undefined) return undefined;
  return integerEmitters[opcode];
}

/** Whether an instruction needs a function imported for it. */
export function needsImport(instruction: IrInstruction): boolean {
  return (
    !memoryOpcodes.has(instruction.opcode) &&
    !silentOpcodes.has(instruction.opcode) &&
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
  if (silentOpcodes.has(instruction.opcode)) return;
  const guard = instruction.guard;
  if (guard !== undefined) {
    emit.f.get(emit.localOf(guard.register));
    if (guard.negated) emit.f.op('i32Eqz');
    emit.f.if();
  }
  emitUnguarded(instruction, emit, memory, imported);
  if (guard !== undefined) emit.f.end();
}

function emitUnguarded(
  instruction: IrInstruction,
  emit: OperandEmitter,
  memory: MemoryEmitter,
  imported: ImportedOperations,
): void {
  switch (instruction.opcode) {
    case 'ld':
    case 'ldu':
      memory.load(instruction);
      return;
    case 'st':
      memory.store(instruction);
      return;
    case 'atom':
    case 'red':
      memory.atomic(instruction);
      return;
    case 'cvta':
      memory.convertAddress(instruction);
      return;
    case 'isspacep':
      memory.isInSpace(instruction);
      return;
    default: {
      const inline = inlineEmitter(instruction);
      if (inline !== undefined) inline(emit, instruction);
      else if (!imported.emit(emit, instruction))
        throw unsupported(instruction, emit.fn, 'no meaning is defined');
    }
  }
}
