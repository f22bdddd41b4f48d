import type { FunctionBuilder } from '../../../wasm/index.js';
import { REGION_RESULT } from '../area/index.js';

/** Whether the lanes that ran all came to one state. */
export class LaneSummary {
  private readonly seen: number;
  private readonly last: number;
  private readonly difference: number;

  constructor(private readonly f: FunctionBuilder) {
    this.seen = f.local('i32');
    this.last = f.local('i32');
    this.difference = f.local('i32');
  }

  /** Before the first lane. */
  start(): void {
    this.f.i32(0).set(this.seen).i32(0).set(this.difference);
  }

  /** After a lane. @param status local with its state */
  add(status: number): void {
    const { f, seen, last, difference } = this;
    f.get(status).get(last).op('i32Xor').get(seen).op('i32And').get(difference).op('i32Or').set(difference);
    f.get(status).set(last).i32(-1).set(seen);
  }

  /** Leaves the state that every lane reached, or `mixed`. */
  push(): void {
    this.f.i32(REGION_RESULT.mixed).get(this.last).get(this.difference).op('select');
  }
}
