import { accessBytes, spaceOf } from '../instructions/index.js';
import {
  type IrFunction,
  type IrInstruction,
  isCopy,
  isLoad,
  isPlainLoad,
  writesMemory,
} from '../../../ptx/index.js';
import { AREA, CACHE } from '../area/index.js';

/** Global accesses that share one cached segment: same pointer, same size, same direction. */
export interface AccessGroup {
  readonly index: number;
  /** Where its cache lies in the executor's area. */
  readonly cacheAt: number;
  readonly bytes: number;
  readonly writes: boolean;
}

export interface AccessGroups {
  readonly groups: readonly AccessGroup[];
  /** Group of each instruction that may touch global memory, by instruction index. */
  readonly ofInstruction: ReadonlyMap<number, AccessGroup>;
  /** Groups of single bytes, of copies that may be of any size. */
  readonly byteGroupOf: ReadonlyMap<number, AccessGroup>;
}

const MAX_GROUPS = Math.floor((AREA.cachesEnd - AREA.caches) / CACHE.bytes);

/**
 * Groups accesses by the pointer parameter that their address derives from. The grouping only decides how often a
 * cached segment is replaced, so a wrong guess costs time and never a wrong address.
 */
export function groupAccesses(fn: IrFunction): AccessGroups {
  const roots = pointerRoots(fn);
  const byKey = new Map<string, AccessGroup>();
  const groups: AccessGroup[] = [];
  const ofInstruction = new Map<number, AccessGroup>();
  const byteGroupOf = new Map<number, AccessGroup>();
  const groupFor = (root: string, bytes: number, writes: boolean): AccessGroup => {
    const key = `${root} ${bytes} ${writes}`;
    const known = byKey.get(key);
    if (known !== undefined) return known;
    // Beyond the room for caches, sites of the same size and direction share the last ones.
    const index = groups.length < MAX_GROUPS ? groups.length : MAX_GROUPS - 1;
    const full =
      groups.length >= MAX_GROUPS
        ? groups.find((each) => each.bytes === bytes && each.writes === writes)
        : undefined;
    if (full === undefined && groups.length >= MAX_GROUPS)
      throw new RangeError('too many kinds of global access');
    const group = full ?? { index, cacheAt: AREA.caches + index * CACHE.bytes, bytes, writes };
    if (full === undefined) groups.push(group);
    byKey.set(key, group);
    return group;
  };
  for (const instruction of fn.instructions) {
    const { opcode, modifiers, sources, index } = instruction;
    const copies = isCopy(opcode) && sources.length > 2;
    const writes = writesMemory(opcode);
    if (!writes && !copies && !isLoad(opcode)) continue;
    const space = copies ? 'global' : spaceOf(modifiers);
    if (space === 'shared' || space === 'local' || space === 'param') continue;
    const operand = sources[copies ? 1 : 0];
    if (operand?.kind !== 'address') continue;
    const known = typeof operand.base === 'number' ? roots[operand.base] : `symbol ${operand.base ?? ''}`;
    const root = known ?? `site ${index}`;
    ofInstruction.set(index, groupFor(root, accessBytes(instruction), writes));
    if (copies && sources.length > 3) byteGroupOf.set(index, groupFor(root, 1, false));
  }
  return { groups, ofInstruction, byteGroupOf };
}

/** The one parameter or symbol that each 64-bit register's value is an offset from, where there is exactly one. */
function pointerRoots(fn: IrFunction): (string | undefined)[] {
  const roots = new Array<string | undefined>(fn.registers.length).fill(undefined);
  const conflicting = new Uint8Array(fn.registers.length);
  const learn = (register: number, root: string): boolean => {
    if (conflicting[register] === 1 || roots[register] === root) return false;
    if (roots[register] !== undefined) {
      conflicting[register] = 1;
      roots[register] = undefined;
    } else {
      roots[register] = root;
    }
    return true;
  };
  for (let changed = true, rounds = 0; changed && rounds < 32; rounds++) {
    changed = false;
    for (const instruction of fn.instructions) {
      const destination = instruction.destinations[0];
      if (destination?.kind !== 'register') continue;
      const root = rootOf(instruction, roots);
      if (root !== undefined && learn(destination.register, root)) changed = true;
    }
  }
  return roots;
}

function rootOf(instruction: IrInstruction, roots: readonly (string | undefined)[]): string | undefined {
  const { opcode, sources } = instruction;
  if (isPlainLoad(opcode) && spaceOf(instruction.modifiers) === 'param') {
    const address = sources[0];
    if (address?.kind !== 'address' || instruction.types.at(-1) !== 'u64') return undefined;
    return `param ${address.base ?? ''}+${address.offset}`;
  }
  if (opcode === 'mov' && sources[0]?.kind === 'symbol') return `symbol ${sources[0].name}`;
  if (opcode !== 'mov' && opcode !== 'cvta' && opcode !== 'add' && opcode !== 'sub' && opcode !== 'selp')
    return undefined;
  const found = new Set<string>();
  for (const source of sources) {
    if (source.kind !== 'register') continue;
    const root = roots[source.register];
    if (root !== undefined) found.add(root);
  }
  return found.size === 1 ? [...found][0] : undefined;
}
