import { wasmTypeOf } from '../instructions/index.js';
import type { KernelPlan } from '../plan/index.js';
import { liveAt, type Resume, type ResumePoint } from '../regions/index.js';
import { heldAs, type VectorOperands } from '../vector/index.js';

/** The registers of a chunk whose lanes part: they go to memory, where each lane finds its own. */
export class PartingRegisters {
  private readonly noLanes: number;

  /** @param firstLane local with the chunk's first lane in its warp */
  constructor(
    private readonly v: VectorOperands,
    private readonly plan: KernelPlan,
    private readonly resume: Resume,
    private readonly firstLane: number,
  ) {
    this.noLanes = v.f.local('v128');
  }

  /** What is not needed at a point need not be kept in a machine register until lanes part there. */
  clearUnneeded(point: ResumePoint): void {
    const live = liveAt(this.plan.fn, this.plan.graph, this.plan.liveness, point);
    for (const register of this.resume.slots.keys()) if (!live.has(register)) this.clear(register);
  }

  /** Sets a register to 0 in all lanes. */
  clear(register: number): void {
    const { v } = this;
    const { f } = v;
    if (v.shapeOfRegister(register).kind === 'varying') {
      for (const local of v.localsOf(register)) f.get(this.noLanes).set(local);
      return;
    }
    const type = wasmTypeOf(v.typeOf(register));
    if (type === 'i32') f.i32(0);
    else if (type === 'i64') f.i64(0);
    else if (type === 'f32') f.f32(0);
    else f.f64(0);
    f.set(v.scalar.localOf(register));
  }

  /** Stores all that are needed at any point, lane after lane. */
  spill(): void {
    const { v } = this;
    const { f } = v;
    const [narrow, wide] = [v.temporary('parting words', 'i32'), v.temporary('parting pairs', 'i32')];
    f.get(this.firstLane).i32(2).op('i32Shl').area().op('i32Add').set(narrow);
    f.get(this.firstLane).i32(3).op('i32Shl').area().op('i32Add').set(wide);
    for (const [register, slot] of this.resume.slots) {
      const operand = { kind: 'register', register } as const;
      const type = v.typeOf(register);
      const isWide = wasmTypeOf(type) === 'i64' || wasmTypeOf(type) === 'f64';
      for (let group = 0; group < v.groups; group++) {
        for (const half of isWide ? ([0, 1] as const) : ([0] as const)) {
          const part = isWide ? 2 * group + half : group;
          f.get(isWide ? wide : narrow);
          if (v.shapeOf(operand).kind === 'varying') f.get(v.localsOf(register)[part] ?? 0);
          else v.use(operand, heldAs(type), group, half);
          f.simdMemory('v128Store', slot + 16 * part);
        }
      }
    }
  }
}
