import { readRegisters } from '../analysis/registerUse.js';
import type { IrFunction } from '../ir.js';
import type { MachineCode, MachineOp } from './machineOps.js';

/** Blocks that the assembler schedules as one: chains, and short bodies of ifs, which it turns into predicated code. */
export interface Region {
  readonly blocks: readonly number[];
  readonly ops: readonly MachineOp[];
  /** Regions that follow, by their first block. */
  readonly successors: readonly number[];
}

/** Most operations of an if's body that becomes predicated code. */
const PREDICATED_OPS = 8;

interface Draft {
  blocks: number[];
  ops: MachineOp[];
  successors: number[];
}

/** Regions of a function, by their first block. */
export function formRegions(fn: IrFunction, code: MachineCode): Map<number, Region> {
  const drafts = new Map<number, Draft>();
  for (const block of fn.blocks) {
    drafts.set(block.index, {
      blocks: [block.index],
      ops: [...(code.blocks[block.index] ?? [])],
      successors: [...block.successors],
    });
  }
  for (const start of [...drafts.keys()].reverse()) {
    const draft = drafts.get(start);
    if (draft !== undefined) while (grow(start, draft, drafts)) continue;
  }
  return drafts;
}

function grow(start: number, draft: Draft, drafts: Map<number, Draft>): boolean {
  const [first, second] = draft.successors;
  if (first === undefined) return false;
  if (second === undefined) {
    if (first === start || predecessors(first, drafts).length !== 1) return false;
    return append(draft, first, drafts, false);
  }
  const [a, b] = [drafts.get(first), drafts.get(second)];
  if (a === undefined || b === undefined) return false;
  if (isBody(second, b, drafts) && b.successors[0] === first && first !== start) {
    append(draft, second, drafts, true);
    draft.successors = [first];
    return true;
  }
  if (isBody(first, a, drafts) && a.successors[0] === second && second !== start) {
    append(draft, first, drafts, true);
    draft.successors = [second];
    return true;
  }
  if (isBody(first, a, drafts) && isBody(second, b, drafts) && a.successors[0] === b.successors[0]) {
    const join = a.successors;
    append(draft, second, drafts, true);
    append(draft, first, drafts, true);
    draft.successors = join;
    return true;
  }
  return false;
}

/** A short body of an if, entered from one place and left to one. */
function isBody(index: number, draft: Draft, drafts: Map<number, Draft>): boolean {
  return (
    draft.successors.length === 1 &&
    draft.successors[0] !== index &&
    draft.ops.length <= PREDICATED_OPS &&
    draft.ops.every((op) => op.order !== 'fence' && op.temps < 3) &&
    predecessors(index, drafts).length === 1
  );
}

function append(draft: Draft, next: number, drafts: Map<number, Draft>, guarded: boolean): boolean {
  const other = drafts.get(next);
  if (other === undefined) return false;
  draft.blocks.push(...other.blocks);
  for (const op of other.ops) draft.ops.push(guarded ? { ...op, guarded: true } : op);
  draft.successors = other.successors;
  drafts.delete(next);
  return true;
}

function predecessors(index: number, drafts: Map<number, Draft>): number[] {
  const found: number[] = [];
  for (const [start, draft] of drafts) if (draft.successors.includes(index)) found.push(start);
  return found;
}

/** Times that the assembler lays the body of a loop of one region out in a row: 1 when it does not count simply. */
export function unrolling(fn: IrFunction, start: number, region: Region, code: MachineCode): number {
  if (region.blocks.some((block) => code.notUnrolled.has(block))) return 1;
  if (!region.successors.includes(start)) return 1;
  if (region.blocks.length > 1) return 1;
  if (region.ops.length > 60) return 1;
  const inRegion = new Set(region.blocks);
  const last = fn.blocks[region.blocks.at(-1) ?? 0]?.last ?? 0;
  const branch = fn.instructions[last];
  const [condition] = branch === undefined ? [] : readRegisters(branch);
  if (condition === undefined) return 1;
  for (const block of region.blocks) {
    const { first, last: end } = fn.blocks[block] ?? { first: 0, last: -1 };
    for (let at = first; at <= end; at++) {
      const compare = fn.instructions[at];
      if (compare?.opcode !== 'setp' || compare.destinations[0]?.kind !== 'register') continue;
      if (compare.destinations[0].register !== condition) continue;
      return countsSimply(fn, readRegisters(compare), inRegion) ? 4 : 1;
    }
  }
  return 1;
}

/** One of the compared registers is stepped by a constant, and no other is written in the loop. */
function countsSimply(fn: IrFunction, compared: readonly number[], region: ReadonlySet<number>): boolean {
  let steps = 0;
  const follow = (register: number, depth: number): boolean => {
    for (const block of region) {
      const { first, last } = fn.blocks[block] ?? { first: 0, last: -1 };
      for (let at = first; at <= last; at++) {
        const instruction = fn.instructions[at];
        const destination = instruction?.destinations[0];
        if (
          instruction === undefined ||
          destination?.kind !== 'register' ||
          destination.register !== register
        )
          continue;
        if (instruction.opcode === 'mov' && depth < 3) {
          const [source] = readRegisters(instruction);
          return source !== undefined && follow(source, depth + 1);
        }
        if (!/^(add|sub)$/.test(instruction.opcode) || instruction.sources[1]?.kind !== 'integer')
          return false;
        steps++;
        return true;
      }
    }
    return true;
  };
  return compared.every((register) => follow(register, 0)) && steps === 1;
}
