import { typeBits, type IrFunction } from '../../ptx/index.js';
import type { NodeLiveness } from './nodeLiveness.js';

/** What a waiting thread keeps in memory: an exchange area, then one slot for each register live at a sync point. */
export interface ThreadContext {
  /** Bytes of one thread. */
  readonly stride: number;
  readonly slotOf: ReadonlyMap<number, number>;
}

/** Result of a warp operation for the lane, 8 bytes, and its predicate, 4 bytes. */
export const EXCHANGE = { value: 0, predicate: 8, bytes: 16 } as const;

export function layoutContext(fn: IrFunction, liveness: NodeLiveness): ThreadContext {
  const kept = new Set(liveness.atSync.flatMap((set) => set.members()));
  const slotOf = new Map<number, number>();
  let end: number = EXCHANGE.bytes;
  for (const wide of [true, false]) {
    for (const register of kept) {
      if ((typeBits(fn.registers[register]?.type ?? 'b32') === 64) !== wide) continue;
      slotOf.set(register, end);
      end += wide ? 8 : 4;
    }
  }
  return { stride: Math.ceil(end / 16) * 16, slotOf };
}
