import { goesElsewhere, isa, isCall, isReturn } from '../isa/index.js';
import type { IrFunction, IrInstruction } from '../ir.js';
import { typeBits } from '../scalarTypes.js';
import { addressRoots, basesOf, placeOf, stepOf, uniformBases, type AddressRoot } from './addresses.js';
import { expansion } from './expansions.js';
import type { MachineOp, MemoryOrder } from './machineOp.js';
import { registerUses, type RegisterUses } from './registerUses.js';
import { takenIn } from './takenIn.js';
import { registerValues } from './uniformValues.js';

/** A function as the register file sees it. */
export interface MachineCode {
  /** Operations of each block, in order. */
  readonly blocks: readonly (readonly MachineOp[])[];
  /** 32-bit registers that a value takes: 0 for what is uniform, constant, a predicate or part of another operation. */
  readonly widths: Uint8Array;
  /** Writes of each register: 0, 1, or 2 for more and for one that a guard may skip. */
  readonly writes: Uint8Array;
  /** Blocks that `.pragma "nounroll"` stands in. */
  readonly notUnrolled: ReadonlySet<number>;
}

export function machineCode(fn: IrFunction, uniformRegisters: boolean): MachineCode {
  const uses = registerUses(fn);
  const writes = countWrites(fn, uses);
  const inRegisters = registerValues(fn, uniformRegisters, uses);
  const widths = Uint8Array.from(fn.registers, ({ type }, register) => {
    if (type === 'pred') return 0;
    const bits = typeBits(type);
    // An address that a loop steps is kept in registers though it is uniform.
    const isStepped = bits === 64 && writes[register] !== 1;
    return inRegisters[register] === 1 || isStepped ? Math.ceil(bits / 32) : 0;
  });
  const parts = takenIn(fn, writes, widths, uses);
  const translation = new Translation(fn, uses, widths, parts);
  const notUnrolled = new Set<number>();
  const blocks = fn.blocks.map(({ index, first, last }) => {
    const ops: MachineOp[] = [];
    for (let at = first; at <= last; at++) {
      const instruction = fn.instructions[at];
      if (instruction === undefined) continue;
      if (instruction.nounroll === true) notUnrolled.add(index);
      const op = translation.of(instruction, index);
      if (op !== undefined) ops.push(op);
    }
    return ops;
  });
  return { blocks, widths, writes, notUnrolled };
}

function countWrites(fn: IrFunction, uses: RegisterUses): Uint8Array {
  const writes = new Uint8Array(fn.registers.length);
  for (const instruction of fn.instructions) {
    const weight = instruction.guard === undefined ? 1 : 2;
    for (const register of uses.writes[instruction.index] ?? [])
      writes[register] = Math.min(2, (writes[register] ?? 0) + weight);
  }
  return writes;
}

class Translation {
  private readonly roots: ReadonlyMap<number, AddressRoot>;
  private readonly bases: Uint8Array;

  constructor(
    private readonly fn: IrFunction,
    private readonly registers: RegisterUses,
    private readonly widths: Uint8Array,
    private readonly parts: readonly (readonly number[] | undefined)[],
  ) {
    this.roots = addressRoots(fn, parts);
    this.bases = uniformBases(fn, widths, parts);
  }

  of(instruction: IrInstruction, block: number): MachineOp | undefined {
    const { opcode, modifiers } = instruction;
    const defs = (this.registers.writes[instruction.index] ?? []).filter((register) => this.counts(register));
    const uses = new Set<number>();
    for (const register of this.registers.reads[instruction.index] ?? [])
      for (const part of this.parts[register] ?? [register]) if (this.counts(part)) uses.add(part);
    const order = memoryOrder(instruction);
    if (defs.length === 0 && order === 'none') {
      // What goes elsewhere reads registers though it writes none and touches no memory.
      const isLeaving = goesElsewhere(opcode) || isReturn(opcode) || isCall(opcode);
      if (!isLeaving || uses.size === 0) return undefined;
    }
    const { latency, temps } = expansion(instruction);
    return {
      defs,
      uses: [...uses],
      latency,
      temps,
      order,
      space: order === 'none' ? 'global' : spaceOf(modifiers),
      block,
      guarded: instruction.guard !== undefined,
      bases: basesOf(instruction, this.bases),
      place: order === 'read' || order === 'write' ? placeOf(instruction, this.roots) : undefined,
      step: stepOf(instruction),
      copy: opcode === 'mov' && uses.size === 1 && defs.length === 1,
    };
  }

  private counts(register: number): boolean {
    return (this.widths[register] ?? 0) > 0 || this.fn.registers[register]?.type === 'pred';
  }
}

function spaceOf(modifiers: readonly string[]): string {
  return modifiers.find((each) => each.startsWith('shared') || each.startsWith('local')) ?? 'global';
}

function memoryOrder({ opcode, modifiers }: IrInstruction): MemoryOrder {
  switch (isa(opcode).effects.kind) {
    case 'surface':
      return 'write';
    case 'load':
      if (modifiers.some((each) => each === 'volatile' || each === 'acquire')) return 'fence';
      return modifiers.some((each) => each === 'nc' || each === 'const' || each.startsWith('param'))
        ? 'none'
        : 'read';
    case 'store':
      return modifiers.some((each) => each.startsWith('param')) ? 'none' : 'write';
    case 'reduction':
      return 'write';
    case 'atomic':
    case 'barrier':
    case 'fence':
    case 'call':
    case 'copy':
      return 'fence';
    case 'pure':
    case 'address':
    case 'discard':
    case 'hint':
    case 'wait':
    case 'exchange':
    case 'matrix':
    case 'fetch':
    case 'query':
    case 'branch':
    case 'switch':
    case 'return':
    case 'exit':
    case 'trap':
    case 'breakpoint':
    case 'host':
    case 'unknown':
      return 'none';
  }
}
