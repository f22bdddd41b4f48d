import type { IrInstruction } from '../../../ptx/index.js';
import { isa, typeBytes } from '../../../ptx/index.js';
import type { Expression } from '../expressions/expression.js';
import type { Operands } from '../transfer/operands.js';
import { loadedValue, note, noteShared, spaceOf, taintOfStore, type MemoryPlace } from './memoryTransfer.js';

/** Whether an instruction moves fragments of matrices between registers and memory. */
export function movesMatrices(instruction: IrInstruction): boolean {
  return loadsMatrices(instruction) || storesMatrices(instruction);
}

export function loadsMatrices({ opcode, modifiers }: IrInstruction): boolean {
  const { kind, reads, writes } = isa(opcode).effects;
  return kind === 'matrix' && reads !== undefined && (writes === undefined || modifiers[0] === 'load');
}

export function storesMatrices({ opcode, modifiers }: IrInstruction): boolean {
  const { kind, reads, writes } = isa(opcode).effects;
  return kind === 'matrix' && writes !== undefined && (reads === undefined || modifiers[0] === 'store');
}

/**
 * What such an instruction does: the access of the whole warp is noted for each of its threads, all of which give the same
 * address (of `wmma`), or a row of 16 bytes each. @returns what registers hold then, of which nothing but its taint is known
 */
export function accessMatrix(o: Operands, place: MemoryPlace): Expression[] {
  const { instruction } = o;
  const kind = loadsMatrices(instruction) ? 'read' : 'write';
  const { address, bytes } = instruction.opcode === 'wmma' ? fragment(o) : { address: o.raw(0), bytes: 16 };
  const space = spaceOf(o, address);
  if (kind === 'write') {
    taintOfStore(o, place, address, space, o.tainted);
    if (space === 'global') note(o, place, 'write', address, bytes);
    if (space !== 'global' || isGeneric(instruction)) noteShared(o, place, address, bytes, [undefined]);
    return [];
  }
  if (space === 'global') note(o, place, 'read', address, bytes);
  const [registers] = instruction.destinations;
  const count = registers?.kind === 'vector' ? registers.elements.length : 1;
  return Array.from({ length: count }, () => loadedValue(o, place, address, space, 64));
}

function isGeneric({ modifiers }: IrInstruction): boolean {
  return !modifiers.some((each) => /^(global|shared)/.test(each));
}

/** Bytes of a fragment in memory: lines at a stride, elements of a line one after another. */
function fragment(o: Operands): { readonly address: Expression; readonly bytes: number } {
  const { arithmetic, context, instruction } = o;
  const { modifiers, types, sources } = instruction;
  const extents = modifiers.map((each) => /^m(\d+)n(\d+)k(\d+)$/.exec(each)).find((each) => each !== null);
  // Elements of less than a byte have no type here.
  if (extents === undefined || types.length === 0) {
    return { address: context.opaque(64, o.source('a matrix of this shape'), o.tainted), bytes: 1 };
  }
  const [m, n, k] = extents.slice(1).map(Number) as [number, number, number];
  const [rows, columns] = [modifiers[1] === 'b' ? k : m, modifiers[1] === 'a' ? k : n];
  const [lines, elements] = modifiers.includes('row') ? [rows, columns] : [columns, rows];
  const bytes = typeBytes(o.type);
  const at = instruction.opcode === 'wmma' && storesMatrices(instruction) ? 2 : 1;
  if (sources[at] === undefined) return { address: o.raw(0), bytes: lines * elements * bytes };
  const stride = o.integer(at, 32, false);
  const line = context.opaque(32, o.source('a line of a matrix'), false, [0, lines - 1]);
  const offset = arithmetic.scale(arithmetic.multiply(stride, line), bytes);
  return { address: arithmetic.add(o.raw(0), offset), bytes: elements * bytes };
}
