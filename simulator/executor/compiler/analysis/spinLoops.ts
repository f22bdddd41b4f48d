import {
  analyzeLoops,
  dominates,
  dominators,
  type DominatorTree,
  endsThread,
  exchangesLanes,
  type IrFunction,
  type IrInstruction,
  type IrOperand,
  isAtomic,
  isBarrier,
  isLoad,
  isPlainLoad,
  isStore,
  postDominators,
  readRegisters,
  writesMemory,
  writtenRegisters,
} from '../../../ptx/index.js';
import { spaceOf } from '../instructions/index.js';

/** Loops in which a thread waits for what other threads write. */
export interface SpinLoops {
  /** Whether the kernel has any: then its threads must take turns. */
  readonly any: boolean;
  /** Whether in some of them it may wait for threads of other blocks. */
  readonly acrossBlocks: boolean;
  /** Basic blocks of each such loop. */
  readonly across: readonly ReadonlySet<number>[];
  /** Whether an edge back from one basic block to another goes round such a loop once more. */
  isSpin(from: number, to: number): boolean;
}

const strong = new Set(['volatile', 'relaxed', 'acquire', 'mmio']);

/**
 * Finds loops that end when memory changes: whether they go round again depends on a volatile, relaxed or acquire load,
 * on an atomic that asks the same place the same thing each time (a lock), or on nothing but a plain load of one place.
 * An atomic that moves things on by itself (a counter, a compare-and-swap that tries anew with what it found) waits for
 * nobody. Naming a loop that does not wait costs time, never a result.
 */
export function findSpinLoops(fn: IrFunction): SpinLoops {
  const trees: Trees = { above: dominators(fn), below: postDominators(fn) };
  const loops = loopsOf(fn);
  const waits = loops.map((blocks) => new LoopSlice(fn, blocks, trees).waits());
  const spinning = loops.filter((_, index) => waits[index] !== undefined);
  return {
    any: spinning.length > 0,
    acrossBlocks: waits.includes('grid'),
    across: loops.filter((_, index) => waits[index] === 'grid'),
    isSpin: (from, to) => {
      const around = loops.filter((blocks) => blocks.has(from) && blocks.has(to));
      const innermost = around.reduce<ReadonlySet<number> | undefined>(
        (least, blocks) => (least === undefined || blocks.size < least.size ? blocks : least),
        undefined,
      );
      return innermost !== undefined && spinning.includes(innermost);
    },
  };
}

interface Trees {
  readonly above: DominatorTree;
  readonly below: DominatorTree;
}

/** Blocks of each loop; all cycles that hang together and have several entrances count as one. */
function loopsOf(fn: IrFunction): ReadonlySet<number>[] {
  const { loops, backEdges, retreatingEdges } = analyzeLoops(fn);
  const isBackEdge = new Set(backEdges.map(([from, to]) => `${from} ${to}`));
  const found: ReadonlySet<number>[] = loops.map((loop) => new Set(loop.blocks));
  const cycles: ReadonlySet<number>[] = [];
  for (const [from, to] of retreatingEdges) {
    // Such an edge goes round in all of its strongly connected part, as every other one of that part does.
    if (isBackEdge.has(`${from} ${to}`) || cycles.some((blocks) => blocks.has(from))) continue;
    const ahead = reach(to, (block) => fn.blocks[block]?.successors ?? []);
    const behind = reach(from, (block) => fn.blocks[block]?.predecessors ?? []);
    cycles.push(new Set([...ahead].filter((block) => behind.has(block))));
  }
  return [...found, ...cycles];
}

function reach(start: number, next: (block: number) => readonly number[]): Set<number> {
  const seen = new Set([start]);
  const work = [start];
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    for (const each of next(at)) {
      if (seen.has(each)) continue;
      seen.add(each);
      work.push(each);
    }
  }
  return seen;
}

/** What decides whether a loop goes round again. */
class LoopSlice {
  private readonly instructions: IrInstruction[] = [];
  private readonly blockOf = new Map<number, number>();
  private readonly definitions = new Map<number, IrInstruction[]>();
  private readonly invariant = new Map<number, boolean>();
  /** Instructions inside the loop that the decision is made of. */
  private readonly deciding = new Set<IrInstruction>();

  constructor(
    private readonly fn: IrFunction,
    private readonly blocks: ReadonlySet<number>,
    private readonly trees: Trees,
  ) {
    for (const index of blocks) {
      const block = fn.blocks[index];
      for (let at = block?.first ?? 0; at <= (block?.last ?? -1); at++) {
        const instruction = fn.instructions[at];
        if (instruction === undefined) continue;
        this.instructions.push(instruction);
        this.blockOf.set(at, index);
        for (const register of writtenRegisters(instruction)) {
          const known = this.definitions.get(register);
          if (known === undefined) this.definitions.set(register, [instruction]);
          else known.push(instruction);
        }
      }
    }
  }

  /** Whose writes the loop waits for, if it waits. */
  waits(): 'block' | 'grid' | undefined {
    // Most loops have no load or atomic that could decide anything.
    if (!this.instructions.some((each) => isStrongLoad(each) || isLockLike(each) || looksPlainly(each)))
      return undefined;
    this.slice();
    const waiting = [...this.deciding].filter(
      (instruction) =>
        isStrongLoad(instruction) ||
        (isLockLike(instruction) && this.asksTheSame(instruction)) ||
        (looksPlainly(instruction) && this.isPlainWait(instruction)),
    );
    if (waiting.length === 0) return undefined;
    return waiting.every((each) => spaceOf(each.modifiers) === 'shared') ? 'block' : 'grid';
  }

  private slice(): void {
    const seen = new Set<number>();
    const work: number[] = [];
    for (const index of this.blocks) {
      const block = this.fn.blocks[index];
      const last = this.fn.instructions[block?.last ?? -1];
      if (block === undefined || last === undefined) continue;
      const ends = last.guard !== undefined && endsThread(last.opcode);
      if (!ends && block.successors.every((successor) => this.blocks.has(successor))) continue;
      work.push(...readRegisters(last));
    }
    let asksLocal = false;
    const decide = (instruction: IrInstruction): void => {
      if (this.deciding.has(instruction)) return;
      this.deciding.add(instruction);
      work.push(...readRegisters(instruction), ...this.controlling(instruction));
      if (asksLocal || !isPlainLoad(instruction.opcode) || spaceOf(instruction.modifiers) !== 'local') return;
      asksLocal = true;
      for (const other of this.instructions)
        if (isStore(other.opcode) && spaceOf(other.modifiers) === 'local') decide(other);
    };
    for (let register = work.pop(); register !== undefined; register = work.pop()) {
      if (seen.has(register)) continue;
      seen.add(register);
      for (const instruction of this.definitions.get(register) ?? []) decide(instruction);
    }
  }

  /** Registers of the branches inside the loop that decide whether an instruction runs. */
  private controlling(instruction: IrInstruction): number[] {
    const block = this.blockOf.get(instruction.index) ?? 0;
    const found: number[] = [];
    const { above, below } = this.trees;
    for (
      let at = above.immediate[block] ?? -1;
      at >= 0 && this.blocks.has(at);
      at = above.immediate[at] ?? -1
    ) {
      const last = this.fn.instructions[this.fn.blocks[at]?.last ?? -1];
      if (last?.guard !== undefined && !dominates(below, block, at)) found.push(last.guard.register);
    }
    return found;
  }

  /** Whether an atomic has the same address and, of a compare-and-swap, the same expected value each time round. */
  private asksTheSame(instruction: IrInstruction): boolean {
    const [address, value] = instruction.sources;
    if (!this.isInvariant(address)) return false;
    if (instruction.modifiers.includes('cas')) return this.isInvariant(value);
    // Adding something counts on; adding nothing reads.
    if (instruction.modifiers.includes('add')) return value?.kind === 'integer' && value.low === 0;
    return true;
  }

  private isPlainWait(instruction: IrInstruction): boolean {
    const [address] = instruction.sources;
    if (address?.kind !== 'address' || !this.isInvariant(address)) return false;
    const moves = (each: IrInstruction): boolean => {
      if (isBarrier(each.opcode)) return true;
      const [target] = each.sources;
      return writesMemory(each.opcode) && target?.kind === 'address' && target.base === address.base;
    };
    if (this.instructions.some(moves)) return false;
    return ![...this.deciding].some((each) =>
      writtenRegisters(each).some((register) => this.counts(register)),
    );
  }

  /** Whether a register's next value is made of its last one. */
  private counts(register: number): boolean {
    const seen = new Set<number>();
    const work = [register];
    for (let at = work.pop(); at !== undefined; at = work.pop()) {
      for (const definition of this.definitions.get(at) ?? []) {
        if (touchesMemory(definition)) continue;
        for (const read of readRegisters(definition)) {
          if (read === register) return true;
          if (seen.has(read)) continue;
          seen.add(read);
          work.push(read);
        }
      }
    }
    return false;
  }

  private isInvariant(operand: IrOperand | undefined, within: ReadonlySet<number> = new Set()): boolean {
    switch (operand?.kind) {
      case 'register':
      case 'negatedPredicate':
        return this.isRegisterInvariant(operand.register, within);
      case 'address':
        return typeof operand.base !== 'number' || this.isRegisterInvariant(operand.base, within);
      case 'vector':
        return operand.elements.every((each) => this.isInvariant(each, within));
      case 'pair':
      case 'label':
      case undefined:
        return false;
      case 'special':
        return !/^(clock|globaltimer)/.test(operand.name);
      case 'integer':
      case 'float':
      case 'symbol':
      case 'sink':
        return true;
    }
  }

  private isRegisterInvariant(register: number, within: ReadonlySet<number>): boolean {
    let known = this.invariant.get(register);
    // What is made of itself never is, from whichever of its parts one asks.
    if (known === undefined) this.invariant.set(register, (known = this.findInvariant(register, within)));
    return known;
  }

  private findInvariant(register: number, within: ReadonlySet<number>): boolean {
    const definitions = this.definitions.get(register);
    if (definitions === undefined) return true;
    const [only] = definitions;
    if (only === undefined || definitions.length > 1 || only.guard !== undefined || within.has(register))
      return false;
    if (touchesMemory(only) && !isParameterLoad(only)) return false;
    const inside = new Set([...within, register]);
    return only.sources.every((source) => this.isInvariant(source, inside));
  }
}

function touchesMemory({ opcode }: IrInstruction): boolean {
  return (
    exchangesLanes(opcode) ||
    isLoad(opcode) ||
    isAtomic(opcode) ||
    isBarrier(opcode) ||
    /^(vprintf|malloc)$/.test(opcode)
  );
}

function isParameterLoad({ opcode, modifiers }: IrInstruction): boolean {
  const space = spaceOf(modifiers);
  return isPlainLoad(opcode) && (space === 'param' || space === 'const');
}

function isShareable({ modifiers }: IrInstruction): boolean {
  const space = spaceOf(modifiers);
  return space === 'global' || space === 'shared' || space === 'generic';
}

function isStrongLoad(instruction: IrInstruction): boolean {
  return (
    isPlainLoad(instruction.opcode) &&
    isShareable(instruction) &&
    instruction.modifiers.some((modifier) => strong.has(modifier))
  );
}

function looksPlainly(instruction: IrInstruction): boolean {
  return isPlainLoad(instruction.opcode) && isShareable(instruction) && !instruction.modifiers.includes('nc');
}

/** An atomic whose result may tell that somebody else holds what is asked for. */
function isLockLike({ opcode, modifiers }: IrInstruction): boolean {
  return isAtomic(opcode) && !modifiers.includes('inc') && !modifiers.includes('dec');
}
