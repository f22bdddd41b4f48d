import { isMatrixExchange, typeBits, type IrFunction } from '../../../ptx/index.js';
import { matrixOperation } from '../../matrixExchanges/index.js';
import { WARP_SIZE } from '../area/index.js';
import type { NodeLiveness } from './nodeLiveness.js';

/** Where the 32 lanes of a warp keep one value, side by side: 4 bytes each, or 8. */
export interface ContextSlot {
  /** From the beginning of the warp's contexts. */
  readonly offset: number;
  readonly isWide: boolean;
}

/**
 * What waiting threads keep in memory, warp by warp: an exchange area, then one slot for each register live at a sync
 * point. A slot holds all lanes of the warp one after another, so that vector code loads and stores several at once.
 */
export interface ThreadContext {
  /** Bytes of one warp. */
  readonly warpBytes: number;
  readonly slotOf: ReadonlyMap<number, ContextSlot>;
  /** Whether any slot is of 8 bytes. */
  readonly hasWide: boolean;
  /** Where results of exchanges of matrices lie: register by register, lane by lane. */
  readonly results: number;
}

/**
 * Result of a warp operation for each lane, 4 bytes, and its predicate, 4 bytes; results of 8 bytes lie in `wide`, which
 * only kernels that have such operations keep.
 */
export const EXCHANGE = {
  value: 0,
  predicate: 4 * WARP_SIZE,
  bytes: 8 * WARP_SIZE,
  wide: 8 * WARP_SIZE,
} as const;

/** Locals of the addresses at which a lane's slots of 4 and of 8 bytes begin: a slot's offset is added to them. */
export interface ContextLocals {
  readonly narrow: number;
  readonly wide: number;
}

export function layoutContext(fn: IrFunction, liveness: NodeLiveness): ThreadContext {
  const kept = new Set(liveness.atSync.flatMap((set) => set.members()));
  const slotOf = new Map<number, ContextSlot>();
  const givesWide = fn.instructions.some(({ opcode }) => opcode === 'malloc');
  const results = EXCHANGE.bytes + (givesWide ? 8 * WARP_SIZE : 0);
  const made = fn.instructions.flatMap((each) =>
    isMatrixExchange(each.opcode) ? [matrixOperation(each, each.opcode)] : [],
  );
  const most = Math.max(0, ...made.map(({ outputs, isWide }) => outputs.length * (isWide ? 8 : 4)));
  let end: number = results + most * WARP_SIZE;
  for (const isWide of [true, false]) {
    for (const register of kept) {
      if ((typeBits(fn.registers[register]?.type ?? 'b32') === 64) !== isWide) continue;
      slotOf.set(register, { offset: end, isWide });
      end += (isWide ? 8 : 4) * WARP_SIZE;
    }
  }
  const hasWide =
    givesWide || made.some(({ isWide }) => isWide) || [...slotOf.values()].some(({ isWide }) => isWide);
  return { warpBytes: end, slotOf, hasWide, results };
}
