import type { FunctionBuilder } from '../../../wasm/index.js';
import type { DynamicBytes } from '../instructions/index.js';
import { DYNAMIC_BYTES } from '../area/index.js';

/** Counts bytes where accesses happen: in locals until a warp ends. */
export class ByteCounters {
  private readonly locals = new Map<DynamicBytes, number>();

  constructor(private readonly f: FunctionBuilder) {}

  /** @param bytes their number, or what leaves it */
  add(what: DynamicBytes, bytes: number | (() => void)): void {
    let local = this.locals.get(what);
    if (local === undefined) {
      local = this.f.local('i32');
      this.locals.set(what, local);
    }
    if (typeof bytes === 'number') this.f.i32(bytes);
    else bytes();
    this.f.get(local).op('i32Add').set(local);
  }

  /** After a warp: everything to memory. */
  flush(): void {
    const { f } = this;
    for (const [what, local] of this.locals) {
      addToCounter(f, DYNAMIC_BYTES[what], () => f.get(local).op('i64ExtendI32U'));
      f.i32(0).set(local);
    }
  }
}

/** Adds an i64 that `push` leaves to the counter at an address. */
export function addToCounter(f: FunctionBuilder, at: number, push: () => void): void {
  f.area().area().memory('i64Load', at);
  push();
  f.op('i64Add').memory('i64Store', at);
}
