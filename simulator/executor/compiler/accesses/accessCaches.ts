import { isAccess, isCopy } from '../../../ptx/index.js';
import type { IrInstruction } from '../../../ptx/index.js';
import type { FunctionBuilder } from '../../../wasm/index.js';
import { accessBytes, spaceOf } from '../instructions/index.js';
import type { AccessGroup, AccessGroups } from '../analysis/index.js';
import { loadCache, type CacheLocals } from './accessWindows.js';
import { RECORD } from '../area/index.js';

/** What code of an access asks of a function's caches. */
export interface FoundCaches {
  groupOf(instruction: IrInstruction): AccessGroup;
  /** Cache of an instruction that may take its bytes one by one. */
  byteGroupOf(instruction: IrInstruction): AccessGroup;
  cacheLocals(group: AccessGroup): CacheLocals;
  /** Local with the number of places of 2^k bytes in shared memory that an access may start at. */
  sharedLimit(log2Bytes: number): number;
}

/** A function's locals for the caches of its accesses, and for how far shared memory reaches. */
export class AccessCaches implements FoundCaches {
  private readonly caches = new Map<number, CacheLocals>();
  private readonly sharedLimits = new Map<number, number>();

  constructor(
    private readonly f: FunctionBuilder,
    private readonly groups: AccessGroups,
    instructions: readonly IrInstruction[],
  ) {
    const { ofInstruction, byteGroupOf } = groups;
    for (const instruction of instructions) {
      for (const group of [ofInstruction.get(instruction.index), byteGroupOf.get(instruction.index)]) {
        if (group === undefined || this.caches.has(group.index)) continue;
        this.caches.set(group.index, { base: f.local('i64'), limit: f.local('i64'), offset: f.local('i32') });
      }
      const copies = isCopy(instruction.opcode) && instruction.sources.length > 2;
      const touches = copies || isAccess(instruction.opcode);
      const space = copies ? 'shared' : spaceOf(instruction.modifiers);
      if (!touches || (space !== 'shared' && space !== 'generic')) continue;
      const log2 = Math.log2(accessBytes(instruction));
      if (!this.sharedLimits.has(log2)) this.sharedLimits.set(log2, f.local('i32'));
    }
  }

  /** At the function's start. */
  load(): void {
    const { f } = this;
    for (const group of this.groups.groups) {
      const locals = this.caches.get(group.index);
      if (locals !== undefined) loadCache(f, group, locals);
    }
    for (const [log2, local] of this.sharedLimits) {
      f.area().memory('i32Load', RECORD.sharedBytes).i32(log2).op('i32ShrU').set(local);
    }
  }

  groupOf(instruction: IrInstruction): AccessGroup {
    const group = this.groups.ofInstruction.get(instruction.index);
    if (group === undefined) throw new RangeError(`line ${instruction.line} has no access group`);
    return group;
  }

  byteGroupOf(instruction: IrInstruction): AccessGroup {
    const group = this.groups.byteGroupOf.get(instruction.index);
    if (group === undefined) throw new RangeError(`line ${instruction.line} has no group of bytes`);
    return group;
  }

  cacheLocals(group: AccessGroup): CacheLocals {
    const found = this.caches.get(group.index);
    if (found === undefined) throw new RangeError(`access group ${group.index} has no locals`);
    return found;
  }

  sharedLimit(log2Bytes: number): number {
    const found = this.sharedLimits.get(log2Bytes);
    if (found === undefined) throw new RangeError(`no shared limit for 2^${log2Bytes} bytes`);
    return found;
  }
}
