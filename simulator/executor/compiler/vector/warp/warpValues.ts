import type { IrOperand } from '../../../../ptx/index.js';
import type { FunctionBuilder, WasmType } from '../../../../wasm/index.js';

/** Groups of four lanes of a warp. */
export const WARP_GROUPS = 8;

/** What a warp operation gives each lane: its result, and the predicate of `d|p`. */
export type WarpResult = 'value' | 'predicate';

/** Where lanes' values lie side by side in memory: at the address in a local plus a constant. */
export interface LanePlace {
  readonly base: number;
  readonly offset: number;
}

/** What warp operations read and give while all 32 lanes of a warp are together, four lanes at a time. */
export interface WarpValues {
  readonly f: FunctionBuilder;
  temporary(name: string, type: WasmType): number;
  /** Pushes four lanes' 32 bits, or their predicates as masks of 0 and −1. */
  use(operand: IrOperand | undefined, type: 'b32' | 'pred', group: number): void;
  /** Pushes two lanes' 64 bits. */
  useHalf(operand: IrOperand | undefined, group: number, half: 0 | 1): void;
  /** Where the lanes' values lie in memory, 4 bytes each or 8; written there first if they do not. */
  place(operand: IrOperand | undefined, type: 'b32' | 'b64'): LanePlace;
  /** Takes four lanes' results; predicates as masks. Everything has been read by then. */
  give(which: WarpResult, group: number): void;
  /** Takes an i32 that is every lane's result; predicates as 0 and 1. */
  giveUniform(which: WarpResult): void;
}
