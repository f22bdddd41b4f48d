import { endsThread, isPlainLoad, isa } from '../isa/index.js';
import { postDominators } from '../analysis/dominators.js';
import type { IrBlock, IrFunction, IrInstruction, IrOperand } from '../ir.js';
import { isFloatType } from '../scalarTypes.js';
import { registerUses, type RegisterUses } from './registerUses.js';

/**
 * Marks the registers whose values lie in registers of each thread. The others are the same in all threads of a warp: they
 * stay in constant memory or, where the card has them, in uniform registers.
 */
export function registerValues(
  fn: IrFunction,
  uniformRegisters: boolean,
  uses = registerUses(fn),
): Uint8Array {
  const marked = varyingRegisters(fn, uses);
  if (uniformRegisters) return marked;
  const starts = Uint8Array.from(fn.instructions, (each) => (isConstantMemory(each) ? 0 : 1));
  return spread(uses, marked, (index) => starts[index] === 1);
}

/** Whether an instruction only names what lies in constant memory: parameters, sizes of blocks and grid, constants. */
function isConstantMemory({ opcode, modifiers, sources }: IrInstruction): boolean {
  if (isPlainLoad(opcode)) return modifiers.some((each) => each.startsWith('param') || each === 'const');
  const [source] = sources;
  return /^(mov|cvta)$/.test(opcode) && (source?.kind !== 'special' || /^(nctaid|ntid)/.test(source.name));
}

/** Marks what those instructions write that `starts` holds for, and what is computed from it. @returns the marks */
function spread(
  { reads, writes }: RegisterUses,
  marked: Uint8Array,
  starts: (index: number) => boolean,
): Uint8Array {
  for (let changed = true; changed;) {
    changed = false;
    for (const [index, written] of writes.entries()) {
      if (written.length === 0) continue;
      const isMarked = starts(index) || (reads[index] ?? []).some((register) => marked[register] === 1);
      if (!isMarked) continue;
      for (const register of written) {
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
function varyingRegisters(fn: IrFunction, uses: RegisterUses): Uint8Array {
  const varying = new Uint8Array(fn.registers.length);
  const leaves = Uint8Array.from(fn.instructions, (each) => (leavesUniform(each) ? 1 : 0));
  const parted = new PartedBlocks(fn, uses);
  do spread(uses, varying, (index) => leaves[index] === 1 || parted.holds(index));
  while (parted.follow(varying));
  return varying;
}

function leavesUniform({ opcode, modifiers, types, sources }: IrInstruction): boolean {
  if (isPlainLoad(opcode)) return !modifiers.some((each) => each.startsWith('param') || each === 'const');
  if (!isa(opcode).isUniform) return true;
  if (opcode !== 'mov' && types.some(isFloatType)) return true;
  return sources.some(readsThread);
}

function readsThread(operand: IrOperand): boolean {
  return operand.kind === 'special' && !/^(ctaid|nctaid|ntid|n?clusterid|cluster_)/.test(operand.name);
}

/** Blocks that only some threads of a warp may be in. */
class PartedBlocks {
  private readonly blockOf: Int32Array;
  private readonly parted: Uint8Array;
  private readonly meetings: Int32Array;
  private readonly branches: Set<IrBlock>;

  constructor(
    private readonly fn: IrFunction,
    private readonly uses: RegisterUses,
  ) {
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

  holds(index: number): boolean {
    return this.parted[this.blockOf[index] ?? 0] === 1;
  }

  /** Marks what lies between branches by varying values and where their ways meet. @returns whether there was one that is new */
  follow(varying: Uint8Array): boolean {
    let found = false;
    for (const branch of this.branches) {
      const reads = this.uses.reads[branch.last] ?? [];
      if (!reads.some((register) => varying[register] === 1)) continue;
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
    return endsThread(this.fn.instructions[block.last]?.opcode ?? '');
  }
}
