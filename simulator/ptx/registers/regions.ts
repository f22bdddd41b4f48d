import type { IrFunction } from '../ir.js';
import type { MachineCode } from './machineCode.js';
import type { MachineOp } from './machineOp.js';

/** Blocks that the assembler schedules as one: chains, and short bodies of ifs, which it turns into predicated code. */
export interface Region {
  readonly blocks: readonly number[];
  readonly ops: readonly MachineOp[];
  /** Regions that follow, by their first block. */
  readonly successors: readonly number[];
}

/** Most operations of an if's body that becomes predicated code. */
const PREDICATED_OPS = 8;
/** Registers that an operation of such a body may need for itself: longer sequences stay behind a branch. */
const PREDICATED_TEMPS = 2;

/** A call takes no more than the stack has room for. */
const MOST_ARGUMENTS = 1024;

interface Draft extends Region {
  blocks: number[];
  ops: MachineOp[];
  successors: readonly number[];
}

/** Regions of a function, by their first block. */
export function formRegions(fn: IrFunction, code: MachineCode): ReadonlyMap<number, Region> {
  return new RegionFormer(fn, code).form();
}

class RegionFormer {
  private readonly drafts = new Map<number, Draft>();
  /** Edges into each block, from regions as they are. */
  private readonly entries: Int32Array;

  constructor(fn: IrFunction, code: MachineCode) {
    this.entries = new Int32Array(fn.blocks.length);
    for (const { index, successors } of fn.blocks) {
      this.drafts.set(index, { blocks: [index], ops: [...(code.blocks[index] ?? [])], successors });
      for (const next of successors) this.entries[next] = (this.entries[next] ?? 0) + 1;
    }
  }

  form(): ReadonlyMap<number, Region> {
    // From the end, so that inner ifs are grown before those around them.
    for (const start of [...this.drafts.keys()].reverse()) {
      const draft = this.drafts.get(start);
      if (draft !== undefined) while (this.grow(start, draft)) continue;
    }
    return this.drafts;
  }

  private grow(start: number, draft: Draft): boolean {
    const [first, second] = draft.successors;
    if (first === undefined) return false;
    if (second === undefined) {
      if (first === start || this.entries[first] !== 1) return false;
      draft.successors = this.append(draft, first, false);
      return true;
    }
    const [a, b] = [this.bodyEnd(first), this.bodyEnd(second)];
    if (b === first && first !== start) {
      this.append(draft, second, true);
      this.join(draft, first);
      return true;
    }
    if (a === second && second !== start) {
      this.append(draft, first, true);
      this.join(draft, second);
      return true;
    }
    if (a === undefined || a !== b) return false;
    this.append(draft, second, true);
    this.append(draft, first, true);
    this.join(draft, a);
    return true;
  }

  /** Where a short body of an if, entered from one place, goes on; undefined for what is none. */
  private bodyEnd(index: number): number | undefined {
    const draft = this.drafts.get(index);
    if (draft?.successors.length !== 1 || draft.ops.length > PREDICATED_OPS) return undefined;
    if (this.entries[index] !== 1 || draft.successors[0] === index) return undefined;
    const isShort = draft.ops.every((op) => op.order !== 'fence' && op.temps <= PREDICATED_TEMPS);
    return isShort ? draft.successors[0] : undefined;
  }

  private append(draft: Draft, next: number, guarded: boolean): readonly number[] {
    const other = this.drafts.get(next);
    if (other === undefined) throw new RangeError(`no region begins at block ${next}`);
    this.drafts.delete(next);
    const ops = guarded ? other.ops.map((op) => ({ ...op, guarded: true })) : other.ops;
    draft.blocks = joined(draft.blocks, other.blocks);
    draft.ops = joined(draft.ops, ops);
    return other.successors;
  }

  /** Two ways to a block have become one. */
  private join(draft: Draft, next: number): void {
    draft.successors = [next];
    this.entries[next] = (this.entries[next] ?? 0) - 1;
  }
}

/** One list of two, of which neither is used again: what is longer stays, since regions of long chains grow from their end. */
function joined<T>(before: T[], behind: T[]): T[] {
  if (before.length >= behind.length) {
    for (const one of behind) before.push(one);
    return before;
  }
  if (before.length > MOST_ARGUMENTS) return before.concat(behind);
  // Moves what is there in one go, where pushing it again would copy it one by one.
  behind.unshift(...before);
  return behind;
}
