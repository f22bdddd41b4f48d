import { asksTextureUnit, isAtomic, isCall, isLoad } from '../ptx/index.js';
import type { LoadedModule, Segment } from '../executor/index.js';
import { mapped, type MemoryRegions } from '../faults/index.js';
import type { IrFunction } from '../ptx/index.js';

const POINTER_BYTES = 8;
const POINTER_TYPES: ReadonlySet<string> = new Set(['b64', 'u64', 's64', 'b128']);
/** A value that comes from there may be a pointer that no argument is. Shared and local memory hold what the launch put there. */
const POINTERLESS_SPACES = ['param', 'shared', 'local'];

/** All memory of a context that kernels may write, allocation by allocation. */
export function writableMemory({ space }: LoadedModule): MemoryRegions {
  return mapped(space.segments().filter(isWritable));
}

/**
 * What a launch can reach, as far as its arguments tell: allocations into which one of them points, and the module's variables.
 * All memory of its context where the kernel may take pointers from memory.
 */
export function reachableMemory(module: LoadedModule, kernel: IrFunction, params: Uint8Array): MemoryRegions {
  if (mayFollowPointers(kernel)) return writableMemory(module);
  const { space, symbols } = module;
  const found = new Set<Segment>();
  const reach = (address: number): void => {
    const segment = space.find(address);
    if (segment !== undefined && isWritable(segment)) found.add(segment);
  };
  const view = new DataView(params.buffer, params.byteOffset, params.byteLength);
  for (let at = 0; at + POINTER_BYTES <= params.length; at += POINTER_BYTES) {
    reach(Number(view.getBigUint64(at, true)));
  }
  for (const address of symbols.values()) reach(address);
  return mapped([...found]);
}

function isWritable({ permission }: Segment): boolean {
  return permission === 'readWrite';
}

function mayFollowPointers({ instructions }: IrFunction): boolean {
  return instructions.some(({ opcode, modifiers, types }) => {
    // A surface's memory is named by its object, which no argument points into.
    if (isCall(opcode) || asksTextureUnit(opcode)) return true;
    if (!isLoad(opcode) && !isAtomic(opcode)) return false;
    if (!types.some((type) => POINTER_TYPES.has(type))) return false;
    return !modifiers.some((each) => POINTERLESS_SPACES.some((space) => each.startsWith(space)));
  });
}
