import { postDominators } from '../analysis/dominators.js';
import { readRegisters, writtenRegisters } from '../analysis/registerUse.js';
import type { IrBlock, IrFunction, IrInstruction, IrOperand } from '../ir.js';
import { isFloatType } from '../scalarTypes.js';

/** Integer work that the uniform datapath does. */
const UNIFORM_OPCODES =
  /^(mov|cvta|cvt|add|sub|addc|subc|mul|mad|madc|mul24|mad24|shl|shr|shf|and|or|xor|not|neg|setp|selp|lop3|bfe|bfi|popc|prmt|bra|brx)$/;

/**
 * Marks the registers whose values lie in registers of each thread. The others are the same in all threads of a warp: they
 * stay in constant memory or, where the card has them, in uniform registers.
 */
export function registerValues(fn: IrFunction, uniformRegisters: boolean): Uint8Array {
  const marked = varyingRegisters(fn);
  if (uniformRegisters) return marked;
  return spread(fn, marked, (instruction) => !isConstantMemory(instruction));
}

/** Whether an instruction only names what lies in constant memory: parameters, sizes of blocks and grid, constants. */
function isConstantMemory({ opcode, modifiers, sources }: IrInstruction): boolean {
  if (opcode === 'ld') return modifiers.some((each) => each.startsWith('param') || each === 'const');
  const [source] = sources;
  return /^(mov|cvta)$/.test(opcode) && (source?.kind !== 'special' || /^(nctaid|ntid)/.test(source.name));
}

/** Marks what instructions that `starts` holds for write, and what is computed from it. @returns the marks */
function spread(
  fn: IrFunction,
  marked: Uint8Array,
  starts: (instruction: IrInstruction) => boolean,
): Uint8Array {
  for (let changed = true; changed;) {
    changed = false;
    for (const instruction of fn.instructions) {
      const isMarked =
        starts(instruction) || readRegisters(instruction).some((register) => marked[register] === 1);
      if (!isMarked) continue;
      for (const register of writtenRegisters(instruction)) {
        if (marked[register] === 1) continue;
        marked[register] = 1;
        changed = true;
      }
    }
  }
  return marked;
}

/**
 * Registers that may differ between the threads of a warp, or come of work that the uniform datapath does not do. A write
 * where only some of the threads are counts among them.
 */
function varyingRegisters(fn: IrFunction): Uint8Array {
  const varying = new Uint8Array(fn.registers.length);
  const parted = new PartedBlocks(fn);
  do spread(fn, varying, (instruction) => leavesUniform(instruction) || parted.holds(instruction));
  while (parted.follow(varying));
  return varying;
}

function leavesUniform({ opcode, modifiers, types, sources }: IrInstruction): boolean {
  if (opcode === 'ld') return !modifiers.some((each) => each.startsWith('param') || each === 'const');
  if (!UNIFORM_OPCODES.test(opcode)) return true;
  if (opcode !== 'mov' && types.some(isFloatType)) return true;
  return sources.some(readsThread);
}

function readsThread(operand: IrOperand): boolean {
  return operand.kind === 'special' && !/^(ctaid|nctaid|ntid)/.test(operand.name);
}

/** Blocks that only some threads of a warp may be in. */
class PartedBlocks {
  private readonly blockOf: Int32Array;
  private readonly parted: Uint8Array;
  private readonly meetings: Int32Array;
  private readonly branches: Set<IrBlock>;

  constructor(private readonly fn: IrFunction) {
    this.blockOf = new Int32Array(fn.instructions.length);
    this.parted = new Uint8Array(fn.blocks.length);
    this.meetings = postDominators(fn).immediate;
    for (const { index, first, last } of fn.blocks) this.blockOf.fill(index, first, last + 1);
    // Threads that end are out of the way of the others.
    this.branches = new Set(
      fn.blocks.filter(
        ({ successors }) => successors.length > 1 && !successors.some((next) => this.ends(next)),
      ),
    );
  }

  holds(instruction: IrInstruction): boolean {
    return this.parted[this.blockOf[instruction.index] ?? 0] === 1;
  }

  /** Marks what lies between branches by varying values and where their ways meet. @returns whether there was one that is new */
  follow(varying: Uint8Array): boolean {
    let found = false;
    for (const branch of this.branches) {
      const last = this.fn.instructions[branch.last];
      if (last === undefined || !readRegisters(last).some((register) => varying[register] === 1)) continue;
      this.branches.delete(branch);
      this.part(branch);
      found = true;
    }
    return found;
  }

  private part(branch: IrBlock): void {
    const seen = new Set<number>([branch.index, this.meetings[branch.index] ?? -1]);
    const work = [...branch.successors];
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      if (seen.has(block)) continue;
      seen.add(block);
      this.parted[block] = 1;
      work.push(...(this.fn.blocks[block]?.successors ?? []));
    }
  }

  private ends(index: number): boolean {
    const block = this.fn.blocks[index];
    if (block === undefined || block.successors.length > 0 || block.last > block.first) return false;
    return /^(ret|exit|trap)$/.test(this.fn.instructions[block.last]?.opcode ?? '');
  }
}
