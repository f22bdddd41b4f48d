import {
  exchangesLanes,
  type IrFunction,
  isa,
  isAtomic,
  isLoad,
  isPlainLoad,
  isReturn,
  postDominators,
  readRegisters,
  writtenRegisters,
} from '../../../ptx/index.js';
import { spaceOf } from '../instructions/index.js';

/** Which values may differ over the lanes of a warp, and at which branches lanes may part. */
export interface LaneValues {
  /** 1 for registers whose values may differ over the lanes. */
  readonly varying: Uint8Array;
  /** Blocks at whose end lanes may take different ways and go on: who only has to leave does not count. */
  readonly parting: ReadonlySet<number>;
  /** Immediate post-dominator of each block; the number of blocks for none. */
  readonly meeting: Int32Array;
}

/** To a fixed point from below; what is written where only some lanes come counts as differing. */
export function laneValuesOf(fn: IrFunction): LaneValues {
  const meeting = postDominators(fn).immediate;
  const varying = new Uint8Array(fn.registers.length);
  const isParted = new Uint8Array(fn.blocks.length);
  const parting = new Set<number>();
  const reads = fn.instructions.map(readRegisters);
  const writes = fn.instructions.map(writtenRegisters);
  const differs = fn.instructions.map(({ opcode, modifiers, sources }) => {
    if (isPlainLoad(opcode)) return spaceOf(modifiers) !== 'param' && spaceOf(modifiers) !== 'const';
    if (isLoad(opcode) || isAtomic(opcode) || opcode === 'malloc') return true;
    if (exchangesLanes(opcode) && !isa(opcode).effects.isAgreed) return true;
    return sources.some(
      (source) => source.kind === 'special' && /^(tid|laneid|lanemask|clock|globaltimer)/.test(source.name),
    );
  });
  for (let changed = true; changed;) {
    changed = false;
    for (const block of fn.blocks) {
      for (let at = block.first; at <= block.last; at++) {
        const isNew = (writes[at] ?? []).some((register) => varying[register] === 0);
        if (!isNew) continue;
        const isVarying =
          differs[at] === true ||
          isParted[block.index] === 1 ||
          (reads[at] ?? []).some((register) => varying[register] === 1);
        if (!isVarying) continue;
        for (const register of writes[at] ?? []) varying[register] = 1;
        changed = true;
      }
      if (parting.has(block.index) || block.successors.length < 2) continue;
      if (block.successors.some((next) => leaves(fn, next))) continue;
      if (!(reads[block.last] ?? []).some((register) => varying[register] === 1)) continue;
      parting.add(block.index);
      for (const inside of between(fn, block.successors, meeting[block.index] ?? -1)) isParted[inside] = 1;
      changed = true;
    }
  }
  return { varying, parting, meeting };
}

/** Blocks on the ways from some blocks to another, without that one. */
export function between(fn: IrFunction, from: readonly number[], to: number): Set<number> {
  const seen = new Set<number>();
  const work = [...from];
  for (let block = work.pop(); block !== undefined; block = work.pop()) {
    if (block === to || seen.has(block)) continue;
    seen.add(block);
    work.push(...(fn.blocks[block]?.successors ?? []));
  }
  return seen;
}

/** Whether a block does nothing but end the thread. */
export function leaves(fn: IrFunction, index: number): boolean {
  const block = fn.blocks[index];
  if (block === undefined || block.first !== block.last) return false;
  const only = fn.instructions[block.first];
  return only?.guard === undefined && isReturn(only?.opcode ?? '');
}
