import {
  asksTextureUnit,
  type IrFunction,
  type IrInstruction,
  type IrOperand,
  isa,
  isFence,
  isHostCall,
  isPlainLoad,
  isStore,
  isUpdate,
  isWait,
  memoryEffect,
  type MemoryEffect,
  readRegisters,
  writtenRegisters,
} from '../../../ptx/index.js';
import { accessBytes, scalarAtomic, spaceOf } from '../instructions/index.js';
import { OWN, pointerRootsOf, type PointerRoots } from './pointerRoots.js';

/** What tells whether blocks of a kernel may run at once and leave what they leave when they run in order. */
export interface BlockIndependence {
  /** Why they may not, whatever memory they are given. */
  readonly refusal?: string;
  /**
   * What the kernel reads of global memory, without what each thread reads where it writes itself, and what it writes.
   * Blocks may run at once when no memory is of both.
   */
  readonly reads: readonly PointerRoots[];
  readonly writes: readonly PointerRoots[];
}

/** One place of the kernel that reaches memory which blocks share. */
interface Access {
  readonly instruction: IrInstruction;
  readonly address: Extract<IrOperand, { kind: 'address' }>;
  readonly roots: PointerRoots;
}

/** Orders accesses of different threads: whoever asks for it counts on what others do. */
const ordered = new Set(['volatile', 'relaxed', 'acquire', 'release', 'acq_rel', 'mmio']);
const commutative = new Set(['add', 'and', 'or', 'xor', 'min', 'max']);
const places = /^(smid|nsmid|clock|globaltimer|gridid|envreg)/;

export function blockIndependence(fn: IrFunction): BlockIndependence {
  const roots = pointerRootsOf(fn);
  const loads: Access[] = [];
  const stores: Access[] = [];
  const atomics: Access[] = [];
  const lists: Readonly<Record<MemoryEffect, Access[] | undefined>> = {
    load: loads,
    copy: loads,
    store: stores,
    atomic: atomics,
    reduction: atomics,
    // What is given up may be anything, in whatever order blocks go.
    discard: undefined,
  };
  for (const instruction of fn.instructions) {
    const refusal = refusalOf(instruction, fn);
    if (refusal !== undefined)
      return { refusal: `line ${instruction.line}: ${refusal}`, reads: [], writes: [] };
    const { opcode, modifiers, sources } = instruction;
    const effect = memoryEffect(opcode);
    const list = effect === undefined ? undefined : lists[effect];
    const copies = effect === 'copy';
    if (list === undefined || (copies && sources.length <= 2)) continue;
    const space = copies ? 'global' : spaceOf(modifiers);
    if (space !== 'global' && space !== 'generic') continue;
    // Nobody writes what is read as constant.
    if (isa(opcode).effects.isReadOnly || modifiers.includes('nc')) continue;
    const address = sources[copies ? 1 : 0];
    if (address?.kind !== 'address') continue;
    const access = { instruction, address, roots: roots(address) };
    if (access.roots !== 'any' && access.roots.size === 1 && access.roots.has(OWN)) continue;
    list.push(access);
  }
  const reads = loads.filter((load) => !stores.some((store) => isOnePlace(fn, load, store)));
  return {
    reads: reads.map((each) => each.roots),
    writes: [...stores, ...atomics].map((each) => each.roots),
  };
}

function refusalOf(instruction: IrInstruction, fn: IrFunction): string | undefined {
  const { opcode, modifiers, sources, destinations, types } = instruction;
  if (asksTextureUnit(opcode)) return `${opcode} asks texture units, which one thread of the host has`;
  if (isHostCall(opcode)) return `${opcode} calls the host in order`;
  if (isFence(opcode)) {
    return modifiers.includes('cta') ? undefined : 'a fence among blocks';
  }
  if (isWait(opcode)) return 'it waits for others';
  const place = sources.find((source) => source.kind === 'special' && places.test(source.name));
  if (place?.kind === 'special') return `%${place.name} tells where or when a block runs`;
  const space = spaceOf(modifiers);
  const isShared = space === 'global' || space === 'generic';
  if (isShared && (isPlainLoad(opcode) || isStore(opcode))) {
    const order = modifiers.find((modifier) => ordered.has(modifier));
    if (order !== undefined) return `${opcode}.${order} of memory that blocks share`;
  }
  if (isUpdate(opcode) && isShared) {
    const type = types.at(-1) ?? 'b32';
    const isInteger = /^[bus](32|64)$/.test(type) && scalarAtomic(instruction) === undefined;
    if (!isInteger) return `an atomic on ${type} whose order may show`;
    if (!modifiers.some((modifier) => commutative.has(modifier))) return 'an atomic whose order may show';
    if (destinations.some((destination) => isRead(destination, fn))) return 'the result of an atomic is used';
  }
  return undefined;
}

function isRead(destination: IrOperand, fn: IrFunction): boolean {
  if (destination.kind === 'sink') return false;
  if (destination.kind !== 'register') return true;
  const { register } = destination;
  return fn.instructions.some((instruction) => readRegisters(instruction).includes(register));
}

/** Whether a thread reads with the load exactly what it writes with the store. */
function isOnePlace(fn: IrFunction, load: Access, store: Access): boolean {
  const { base, offset } = load.address;
  if (base !== store.address.base || offset !== store.address.offset) return false;
  if (accessBytes(load.instruction) > accessBytes(store.instruction)) return false;
  if (typeof base !== 'number') return true;
  const writers = fn.instructions.filter((instruction) => writtenRegisters(instruction).includes(base));
  if (writers.length <= 1) return true;
  const [from, to] = [load.instruction.index, store.instruction.index].sort((a, b) => a - b);
  const together = fn.blocks.some(({ first, last }) => first <= (from ?? 0) && (to ?? 0) <= last);
  return together && !writers.some(({ index }) => (from ?? 0) <= index && index < (to ?? 0));
}
