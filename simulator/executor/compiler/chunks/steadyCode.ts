import { typeBits } from '../../../ptx/index.js';
import { wasmTypeOf } from '../instructions/index.js';
import type { ChunkInstructions } from './chunkInstructions.js';
import { extractLane, heldAs, type VectorOperands } from '../vector/index.js';
import type { SteadyForm } from '../predication/index.js';
import type { SteadyLoop } from './steadyLoops.js';

/** Writes what goes into a steady loop and comes out of it. */
export class SteadyCode implements SteadyForm {
  constructor(
    private readonly v: VectorOperands,
    private readonly instructions: ChunkInstructions,
    private readonly loop: SteadyLoop,
  ) {}

  /** Takes lane 0's values into the scalars; leaves whether all other lanes hold what follows from them. */
  pushIsSteady(): void {
    const { f } = this.v;
    let isFirst = true;
    for (const register of this.loop.tested) {
      const type = this.v.typeOf(register);
      f.get(this.v.localFor(register, 0));
      extractLane(this.v, wasmTypeOf(type), 0);
      if (type === 'pred') f.i32(1).op('i32And');
      f.set(this.v.scalar.localOf(register));
      this.eachLocal(register, (local) => {
        f.get(local).simd('v128Xor');
        if (!isFirst) f.simd('v128Or');
        isFirst = false;
      });
    }
    if (isFirst) f.i32(1);
    else f.simd('v128AnyTrue').op('i32Eqz');
  }

  /** Writes code in which scalars stand for the loop's registers. */
  within(body: () => void): void {
    const { plan } = this.loop;
    this.v.assuming(plan.shapes.shapes, () => this.instructions.assuming(plan, body));
  }

  /** Gives the lanes what the scalars stand for. @param pushStays pushes whether any lane goes round the loop again */
  leave(pushStays: () => void): void {
    const { f } = this.v;
    const { neededBehind, neededInside } = this.loop;
    for (const register of neededBehind) this.eachLocal(register, (local) => f.set(local));
    if (neededInside.length === 0) return;
    pushStays();
    f.if();
    for (const register of neededInside) this.eachLocal(register, (local) => f.set(local));
    f.end();
  }

  /** Pushes each part of what the lanes hold. */
  private eachLocal(register: number, take: (local: number) => void): void {
    const { v } = this;
    const type = v.typeOf(register);
    const halves = typeBits(type) === 64 ? ([0, 1] as const) : ([0] as const);
    for (let group = 0; group < v.groups; group++)
      for (const half of halves) {
        v.assuming(this.loop.plan.shapes.shapes, () =>
          v.use({ kind: 'register', register }, heldAs(type), group, half),
        );
        take(v.localsOf(register)[halves.length * group + half] ?? 0);
      }
  }
}
