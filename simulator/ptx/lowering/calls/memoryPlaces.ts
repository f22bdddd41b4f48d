import { isPlainLoad, isStore } from '../../isa/index.js';
import type { IrOperand, IrVariable } from '../../ir.js';
import { integer } from '../../literals.js';
import { address, register, type DraftCode, type DraftInstruction } from './draftCode.js';
import type { BodyExpansion } from './expansion.js';
import type { ParameterStorages } from './parameterStorage.js';
import { copyStorage } from './sharedBodies.js';

/** Where a body's variables lie: in a frame when activations of it nest, else in `.local` variables of the kernel. */
export interface BodyMemory {
  /** Offsets in the frame, by name. */
  readonly frame: ReadonlyMap<string, number>;
  readonly frameBytes: number;
  /** Variables of the kernel that the body needs. */
  readonly variables: readonly IrVariable[];
}

export function placeVariables(
  expansion: BodyExpansion,
  storages: ParameterStorages,
  isRecursive: boolean,
): BodyMemory {
  const parameters = storages.inMemoryOf(expansion.name);
  const own = [...expansion.variables.values()];
  if (!isRecursive) {
    for (const name of parameters) storages.placeAt(name, { variable: name });
    return {
      frame: new Map(),
      frameBytes: 0,
      variables: [...own, ...parameters.map((name) => storages.variableOf(name))],
    };
  }
  const frame = new Map<string, number>();
  let end = 0;
  const place = (name: string, bytes: number, align: number): number => {
    const offset = Math.ceil(end / align) * align;
    frame.set(name, offset);
    end = offset + bytes;
    return offset;
  };
  const isLocal = (variable: IrVariable): boolean => variable.space === 'local';
  for (const { name, bytes, align } of own.filter(isLocal)) place(name, bytes, Math.max(align, 1));
  for (const name of parameters) {
    const { bytes, align } = storages.extentOf(name);
    storages.placeAt(name, { frameOffset: place(name, bytes, align) });
  }
  return { frame, frameBytes: end, variables: own.filter((variable) => !isLocal(variable)) };
}

/** The body's code with parameters of calls as registers or memory, and variables in frames found by the stack's top. */
export function resolveMemory(
  expansion: BodyExpansion,
  storages: ParameterStorages,
  { frame }: BodyMemory,
): DraftCode {
  const { names } = expansion.code;
  return expansion.code.rewritten((instruction, into) => {
    if (instruction.sharedCall !== undefined) {
      into.emit(instruction);
      return;
    }
    const copy = instruction.storageCopy;
    if (copy !== undefined) {
      const place = (storage: string): { storage: string; above: number } => ({ storage, above: 0 });
      copyStorage(storages, instruction.line, place(copy.from), place(copy.to), into);
      return;
    }
    if (storages.rewriteAccess(instruction, into)) return;
    const inMemory = accessesMemory(instruction, storages) ? inLocal(instruction) : instruction;
    if (frame.size === 0) {
      into.emit(inMemory);
      return;
    }
    const resolve = (operand: IrOperand): IrOperand => {
      if (operand.kind === 'address' && typeof operand.base === 'string') {
        const offset = frame.get(operand.base);
        return offset === undefined ? operand : address(names.stackTop, offset + operand.offset);
      }
      if (operand.kind === 'vector') return { ...operand, elements: operand.elements.map(resolve) };
      if (operand.kind !== 'symbol') return operand;
      const offset = frame.get(operand.name);
      return offset === undefined ? operand : pointTo(into, inMemory, offset + operand.offset);
    };
    into.emit({ ...inMemory, sources: inMemory.sources.map(resolve) });
  });
}

/** The address of a place in the frame, in a register of the width that the instruction takes. */
function pointTo(into: DraftCode, { line, types }: DraftInstruction, offset: number): IrOperand {
  const { names } = into;
  const isWide = /64$/.test(types.at(-1) ?? 'b64');
  const pointer = names.register('%frameAddress', isWide ? 'b64' : 'b32');
  const top = register(names.stackTop);
  if (isWide) {
    into.add(line, 'cvt.u64.u32', { destinations: [register(pointer)], sources: [top] });
    into.add(line, 'add.s64', {
      destinations: [register(pointer)],
      sources: [register(pointer), integer(offset)],
    });
  } else into.add(line, 'add.s32', { destinations: [register(pointer)], sources: [top, integer(offset)] });
  return register(pointer);
}

function accessesMemory({ opcode, sources }: DraftInstruction, storages: ParameterStorages): boolean {
  const [target] = sources;
  if (
    !(isPlainLoad(opcode) || isStore(opcode)) ||
    target?.kind !== 'address' ||
    typeof target.base !== 'string'
  )
    return false;
  return storages.has(target.base);
}

function inLocal(instruction: DraftInstruction): DraftInstruction {
  const modifiers = instruction.modifiers.map((each) => (/^param(::\w+)?$/.test(each) ? 'local' : each));
  return { ...instruction, modifiers };
}
