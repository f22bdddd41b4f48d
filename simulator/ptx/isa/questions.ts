import type { InstructionForm } from './form.js';
import type { ControlEffect, EffectKind, MemoryEffect } from './row.js';
import type { IrInstruction, IrOperand } from '../ir.js';
import { isa, isaRows, type MatrixExchange, type OpcodeOf, type ValueExchange } from './table.js';

/** Questions that many ask of an opcode, each answered by its row. */

function kindOf(opcode: string): EffectKind {
  return isa(opcode).effects.kind;
}

const reachesMemory: { readonly [K in EffectKind]: K extends MemoryEffect ? true : false } = {
  load: true,
  store: true,
  atomic: true,
  reduction: true,
  copy: true,
  discard: true,
  pure: false,
  address: false,
  hint: false,
  fence: false,
  wait: false,
  barrier: false,
  exchange: false,
  matrix: false,
  fetch: false,
  query: false,
  surface: false,
  branch: false,
  switch: false,
  return: false,
  exit: false,
  trap: false,
  breakpoint: false,
  call: false,
  host: false,
  unknown: false,
};

/** How it reaches memory by an address, if it does: matrices, calls and what nobody knows apart. */
export function memoryEffect(opcode: string): MemoryEffect | undefined {
  const kind = kindOf(opcode);
  return reachesMemory[kind] ? (kind as MemoryEffect) : undefined;
}

/** How control leaves it, if it does; a call comes back. */
export function controlEffect(opcode: string): ControlEffect | undefined {
  const { kind, control } = isa(opcode).effects;
  return control === undefined || control === 'calls' ? undefined : (kind as ControlEffect);
}

/** Order, hints and what is given up: nothing that a thread computes depends on it. */
export function changesNoValue(opcode: string): boolean {
  const kind = kindOf(opcode);
  return kind === 'fence' || kind === 'hint' || kind === 'discard';
}

/** Converts or tests an address. */
export function isOnAddress(opcode: string): boolean {
  return kindOf(opcode) === 'address';
}

/** The base opcodes that have forms. */
export function supportedOpcodes(): readonly string[] {
  return [...isaRows].filter(([, { forms }]) => forms.length > 0).map(([opcode]) => opcode);
}

/** The forms of a base opcode; none when it is not supported. */
export function formsOf(opcode: string): readonly InstructionForm[] {
  return isa(opcode).forms;
}

/** Whether instructions of a base opcode compute registers from registers, and nothing else. */
export function onlyComputes(opcode: string): opcode is OpcodeOf<'pure'> {
  return kindOf(opcode) === 'pure';
}

/** Whether lanes of a warp tell each other something by instructions of a base opcode, `bar.warp` apart. */
export function exchangesLanes(opcode: string): opcode is ValueExchange | MatrixExchange {
  return kindOf(opcode) === 'exchange';
}

const WHOLE_WARP: IrOperand = { kind: 'integer', low: -1, high: 0 };

/** The lanes that an operation of a warp says must meet, as a mask, if it names them: of a product of matrices all. */
export function memberMask({
  opcode,
  modifiers,
  sources,
}: Pick<IrInstruction, 'opcode' | 'modifiers' | 'sources'>): IrOperand | undefined {
  if (!modifiers.includes('sync')) return undefined;
  return isMatrixExchange(opcode) ? WHOLE_WARP : sources.at(-1);
}

/** Whether lanes of a warp give each other parts of matrices that they hold in registers: results and operands are rows of registers. */
export function isMatrixExchange(opcode: string): opcode is MatrixExchange {
  const { kind, isAligned } = isa(opcode).effects;
  return kind === 'exchange' && isAligned;
}

/** Whether lanes of a warp tell each other a value. */
export function exchangesValues(opcode: string): opcode is ValueExchange {
  return exchangesLanes(opcode) && !isMatrixExchange(opcode);
}

/** Loads, those of memory that nobody writes among them. */
export function isLoad(opcode: string): boolean {
  return kindOf(opcode) === 'load';
}

/** Loads of memory that others may write. */
export function isPlainLoad(opcode: string): boolean {
  const { kind, isReadOnly } = isa(opcode).effects;
  return kind === 'load' && !isReadOnly;
}

export function isStore(opcode: string): boolean {
  return kindOf(opcode) === 'store';
}

/** Atomic operations, whether or not they give back what was there. */
export function isUpdate(opcode: string): boolean {
  const kind = kindOf(opcode);
  return kind === 'atomic' || kind === 'reduction';
}

/** Atomic operations that give back what was there. */
export function isAtomic(opcode: string): boolean {
  return kindOf(opcode) === 'atomic';
}

/** Loads, stores and atomic operations: what reaches one place of memory by an address. */
export function isAccess(opcode: string): boolean {
  return isLoad(opcode) || writesMemory(opcode);
}

/** Stores and atomic operations. */
export function writesMemory(opcode: string): boolean {
  return isStore(opcode) || isUpdate(opcode);
}

/** Copies from memory to memory, and the waits for them. */
export function isCopy(opcode: string): boolean {
  return kindOf(opcode) === 'copy';
}

/** Order among accesses, as others see them. */
export function isFence(opcode: string): boolean {
  return kindOf(opcode) === 'fence';
}

/** Barriers of a block, and of a warp where modifiers say so. */
export function isBarrier(opcode: string): boolean {
  return kindOf(opcode) === 'barrier';
}

/** Gives way to other threads for some time. */
export function isWait(opcode: string): boolean {
  return kindOf(opcode) === 'wait';
}

export function isCall(opcode: string): boolean {
  return kindOf(opcode) === 'call';
}

/** Calls of the device runtime, which the host serves. */
export function isHostCall(opcode: string): opcode is OpcodeOf<'host'> {
  return kindOf(opcode) === 'host';
}

/** Whether a texture unit answers it: a fetch, or what an object is. */
export function asksTextureUnit(opcode: string): boolean {
  const kind = kindOf(opcode);
  return kind === 'fetch' || kind === 'query';
}

/** Whether it reads what a texture object names. */
export function isFetch(opcode: string): boolean {
  return kindOf(opcode) === 'fetch';
}

/** Whether it accesses what a surface object names; none is left in what runs. */
export function isOfSurface(opcode: string): boolean {
  return kindOf(opcode) === 'surface';
}

/** A branch to one label. */
export function isBranch(opcode: string): boolean {
  return kindOf(opcode) === 'branch';
}

/** A branch by an index into a list. */
export function isSwitch(opcode: string): boolean {
  return kindOf(opcode) === 'switch';
}

/** Branches of both kinds. */
export function goesElsewhere(opcode: string): boolean {
  return isa(opcode).effects.control === 'goes';
}

/** Returns and exits: the thread has nothing left to do. */
export function isReturn(opcode: string): boolean {
  const kind = kindOf(opcode);
  return kind === 'return' || kind === 'exit';
}

export function isTrap(opcode: string): boolean {
  return kindOf(opcode) === 'trap';
}

/** Returns, exits and traps. */
export function endsThread(opcode: string): boolean {
  return isa(opcode).effects.control === 'ends';
}

/** Whether a block ends with this instruction: a breakpoint without a debugger is an end as a trap is. */
export function endsBlock(opcode: string): boolean {
  return controlEffect(opcode) !== undefined;
}
