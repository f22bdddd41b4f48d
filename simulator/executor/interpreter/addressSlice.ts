import type { IrFunction, IrInstruction } from '../../ptx/index.js';
import {
  asksTextureUnit,
  type EffectKind,
  exchangesLanes,
  memberMask,
  isa,
  isAccess,
  isCopy,
  isStore,
  readRegisters,
  writesMemory,
  writtenRegisters,
} from '../../ptx/index.js';
import { scalarOperation } from '../arithmetic/index.js';
import { spaceOf } from '../compiler/instructions/index.js';

/**
 * How much of an instruction must run for a trace to see every path and address as they are: all of it; of an access only
 * where it goes; or nothing, as of arithmetic whose results are only stored.
 */
export type SlicePart = 'whole' | 'place' | 'nothing';

const slices = new WeakMap<IrFunction, readonly SlicePart[]>();

/**
 * The part of each instruction that decides, directly or through others, where lanes go and which addresses they access
 * (Weiser's static slice, with every branch, address and meeting of lanes as its criterion). Memory that some instruction
 * of the slice reads is kept right: whatever writes to its space is in the slice, too.
 */
export function addressSlice(fn: IrFunction): readonly SlicePart[] {
  let slice = slices.get(fn);
  if (slice === undefined) slices.set(fn, (slice = new Slicer(fn).parts()));
  return slice;
}

/** They read no memory, and what they do to a lane or a warp they always do. */
const ACTS: ReadonlySet<EffectKind> = new Set([
  'branch',
  'switch',
  'return',
  'exit',
  'trap',
  'breakpoint',
  'barrier',
  'wait',
  'fence',
  'hint',
  'discard',
]);

class Slicer {
  private readonly wanted: Uint8Array;
  private readonly taken: Uint8Array;
  /** Memory whose contents matter, by the space that accesses are written for. */
  private readonly contents = new Set<string>();

  constructor(private readonly fn: IrFunction) {
    this.wanted = new Uint8Array(fn.registers.length);
    this.taken = new Uint8Array(fn.instructions.length);
  }

  parts(): SlicePart[] {
    const { instructions } = this.fn;
    for (const instruction of instructions) this.begin(instruction);
    // Backwards, since what an instruction wants mostly stands before it.
    for (let isOpen = true; isOpen;) {
      isOpen = false;
      for (let index = instructions.length - 1; index >= 0; index--) {
        if (this.taken[index] === 0 && this.matters(instructions[index])) {
          this.take(instructions[index]);
          isOpen = true;
        }
      }
    }
    return instructions.map((instruction, index) => {
      if (this.taken[index] === 1 || !isPartial(instruction)) return 'whole';
      return isAccess(instruction.opcode) ? 'place' : 'nothing';
    });
  }

  /** What is wanted of an instruction whatever comes of it. */
  private begin(instruction: IrInstruction): void {
    const { opcode, guard, sources } = instruction;
    if (guard !== undefined) this.wanted[guard.register] = 1;
    if (isPartial(instruction)) {
      for (const source of sources) if (source.kind === 'address') this.want(source.base);
    } else if (exchangesLanes(opcode)) {
      // Lanes meet there, whether or not what they exchange matters.
      const members = memberMask(instruction);
      if (members?.kind === 'register') this.want(members.register);
    } else if (isCopy(opcode)) {
      for (const register of readRegisters(instruction)) this.want(register);
    } else this.take(instruction);
  }

  private want(register: number | string | undefined): void {
    if (typeof register === 'number') this.wanted[register] = 1;
  }

  private matters(instruction: IrInstruction): boolean {
    if (writtenRegisters(instruction).some((register) => this.wanted[register] === 1)) return true;
    const { opcode, modifiers } = instruction;
    // A copy writes where the block's other threads read it.
    if (isCopy(opcode)) return this.isRead('shared');
    return writesMemory(opcode) && this.isRead(spaceOf(modifiers));
  }

  private take(instruction: IrInstruction): void {
    const { opcode, modifiers, index } = instruction;
    this.taken[index] = 1;
    for (const register of readRegisters(instruction)) this.wanted[register] = 1;
    // What textures read is not written while a kernel runs.
    if (isComputation(instruction) || exchangesLanes(opcode) || asksTextureUnit(opcode)) return;
    if (ACTS.has(isa(opcode).effects.kind) || isStore(opcode)) return;
    // Calls of the device's runtime and whatever else may read what it likes.
    const space = isAccess(opcode) || isCopy(opcode) ? spaceOf(modifiers) : 'generic';
    // Nobody writes parameters or constants.
    if (space !== 'param' && space !== 'const') this.contents.add(space);
  }

  /** Whether contents that matter may lie there: a generic access may reach every memory. */
  private isRead(written: string): boolean {
    if (this.contents.size === 0) return false;
    if (written === 'generic' || this.contents.has('generic')) return true;
    return this.contents.has(written);
  }
}

/** Whether less than all of it can be done. */
function isPartial(instruction: IrInstruction): boolean {
  const { opcode, types } = instruction;
  // Values that no register holds have ways of their own.
  if (isAccess(opcode)) return !types.some((type) => type === 'b128' || type === 'pred');
  return isComputation(instruction) && !readsSpecial(instruction);
}

/** What computes registers of a lane from registers of that lane, and does nothing besides. */
function isComputation(instruction: IrInstruction): boolean {
  const { effects, syntax } = isa(instruction.opcode);
  return effects.kind === 'address' || syntax.isMove || scalarOperation(instruction) !== undefined;
}

/** A reading of the clock moves what later ones give. */
function readsSpecial({ sources }: IrInstruction): boolean {
  return sources.some((source) => source.kind === 'special');
}
