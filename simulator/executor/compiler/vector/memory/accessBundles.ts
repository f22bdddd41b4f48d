import {
  type IrFunction,
  type IrInstruction,
  isCall,
  isPlainLoad,
  type ScalarType,
  writtenRegisters,
} from '../../../../ptx/index.js';
import { accessBytes, spaceOf } from '../../instructions/index.js';
import type { AccessGroup } from '../../analysis/index.js';

/** Loads in one node at constant distances from one register: the first of them checks for all. */
export interface AccessBundle {
  /** Counted in the node. */
  readonly index: number;
  /** The instruction that checks. */
  readonly first: number;
  /** Least and largest of the constants. */
  readonly least: number;
  readonly most: number;
}

/** Constants farther apart are checked each by itself. */
const MOST_SPAN = 2 ** 20;

interface Open {
  /** Cache and type, which all have in common: they move in one way. */
  readonly group: AccessGroup;
  readonly type: ScalarType | undefined;
  readonly members: { readonly instruction: number; readonly offset: number }[];
}

/**
 * Finds the bundles of a node, by instruction. What has been found to be allowed stays so until the node ends, whatever
 * the cache of the accesses comes to hold in between; nothing is unmapped but by a call.
 */
export function findBundles(
  fn: IrFunction,
  body: readonly number[],
  groupOf: (instruction: IrInstruction) => AccessGroup,
): ReadonlyMap<number, AccessBundle> {
  const found = new Map<number, AccessBundle>();
  const open = new Map<number, Open>();
  let count = 0;
  const close = (base: number): void => {
    const members = open.get(base)?.members ?? [];
    open.delete(base);
    const [first] = members;
    if (first === undefined || members.length < 2) return;
    const offsets = members.map(({ offset }) => offset);
    const bundle = {
      index: count++,
      first: first.instruction,
      least: Math.min(...offsets),
      most: Math.max(...offsets),
    };
    for (const { instruction } of members) found.set(instruction, bundle);
  };
  for (const index of body) {
    const instruction = fn.instructions[index];
    if (instruction === undefined) continue;
    if (isCall(instruction.opcode)) for (const base of [...open.keys()]) close(base);
    const [address] = instruction.sources;
    const isLoad = isPlainLoad(instruction.opcode) && spaceOf(instruction.modifiers) === 'global';
    if (isLoad && instruction.guard === undefined && address?.kind === 'address') {
      const { base, offset } = address;
      if (typeof base === 'number') {
        const group = groupOf(instruction);
        const member = { instruction: index, offset };
        const known = open.get(base);
        const type = instruction.types.at(-1);
        if (known === undefined) open.set(base, { group, type, members: [member] });
        else if (
          known.group === group &&
          known.type === type &&
          fits(known, offset, accessBytes(instruction))
        )
          known.members.push(member);
      }
    }
    for (const register of writtenRegisters(instruction)) close(register);
  }
  for (const base of [...open.keys()]) close(base);
  return found;
}

/** Near the others, and aligned when they are. */
function fits({ members }: Open, offset: number, bytes: number): boolean {
  return members.every(
    (each) => Math.abs(each.offset - offset) <= MOST_SPAN && (each.offset - offset) % bytes === 0,
  );
}
