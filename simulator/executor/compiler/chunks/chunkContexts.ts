import { isMatrixExchange, typeBits, type IrOperand, type ScalarType } from '../../../ptx/index.js';
import type { KernelPlan } from '../plan/index.js';
import { resultType, type RegionRegisters } from '../regions/index.js';
import { wasmTypeOf } from '../instructions/index.js';
import { matrixOperation } from '../../matrixExchanges/index.js';
import { WARP_SIZE } from '../area/index.js';
import { EXCHANGE, type ContextLocals } from '../analysis/index.js';
import { strideOf, type VectorOperands } from '../vector/index.js';

/** How a chunk's registers come from the contexts of its waiting lanes and go back to them: v128 by v128. */
export class ChunkContexts {
  /** @param context locals with the places of the chunk's first lane */
  constructor(
    private readonly v: VectorOperands,
    private readonly plan: KernelPlan,
    private readonly registers: RegionRegisters,
    private readonly context: ContextLocals,
  ) {}

  /** Brings the registers, and what the lanes waited for. */
  load(): void {
    const { f, scalar } = this.v;
    for (const register of this.registers.loaded()) {
      const slot = this.plan.context.slotOf.get(register);
      if (slot === undefined) continue;
      if (this.v.shapeOfRegister(register).kind === 'varying') {
        this.v.localsOf(register).forEach((local, index) => {
          this.loadPart(register, index);
          if (this.v.typeOf(register) === 'pred') f.simd('i32x4Neg');
          f.set(local);
        });
        continue;
      }
      const type = wasmTypeOf(this.v.typeOf(register));
      f.get(slot.isWide ? this.context.wide : this.context.narrow)
        .memory(`${type}Load`, slot.offset)
        .set(scalar.localOf(register));
    }
    this.loadExchanged();
  }

  /** Leaves 1 when what the code takes to be uniform or affine over the lanes is so; after `load`. */
  pushIsRegular(): void {
    const { f } = this.v;
    const regular = this.v.temporary('regular', 'v128');
    f.v128(-1, -1, -1, -1).set(regular);
    for (const register of this.registers.loaded()) {
      if (strideOf(this.v.shapeOfRegister(register)) === undefined) continue;
      if (!this.plan.context.slotOf.has(register)) continue;
      this.eachPart(register, (index) => {
        this.loadPart(register, index);
        this.pushPart(register, index);
        f.simd('i32x4Eq').get(regular).simd('v128And').set(regular);
      });
    }
    f.get(regular).simd('i32x4AllTrue');
  }

  /** Keeps what the region wrote of the registers that the waiting lanes need. */
  spill(point: number): void {
    const { f } = this.v;
    for (const register of this.registers.kept(point)) {
      const slot = this.plan.context.slotOf.get(register);
      if (slot === undefined) continue;
      const isLoose = this.v.typeOf(register) === 'f32' && this.v.isLoose(register);
      this.eachPart(register, (index) => {
        f.get(slot.isWide ? this.context.wide : this.context.narrow);
        this.pushPart(register, index);
        // A warp operation, here or at a later wait, looks at bits.
        if (isLoose && this.plan.exchanged.has(register)) this.v.canonical();
        f.simdMemory('v128Store', slot.offset + 16 * index);
      });
    }
  }

  /** A v128 of the register as contexts hold it: predicates are 0 or 1 there. */
  private pushPart(register: number, index: number): void {
    const { f } = this.v;
    const type = this.v.typeOf(register);
    const isVarying = this.v.shapeOfRegister(register).kind === 'varying';
    if (type === 'pred') {
      if (isVarying)
        f.get(this.v.localsOf(register)[index] ?? 0)
          .i32(31)
          .simd('i32x4ShrU');
      else f.get(this.v.scalar.localOf(register)).simd('i32x4Splat');
    } else if (isVarying) f.get(this.v.localsOf(register)[index] ?? 0);
    else if (typeBits(type) === 64)
      this.v.use({ kind: 'register', register }, type, index >> 1, index % 2 === 0 ? 0 : 1);
    else this.v.use({ kind: 'register', register }, wasmTypeOf(type) === 'i32' ? 'b32' : type, index);
  }

  private loadPart(register: number, index: number): void {
    const slot = this.plan.context.slotOf.get(register);
    if (slot === undefined) throw new RangeError('a register has no slot');
    this.v.f
      .get(slot.isWide ? this.context.wide : this.context.narrow)
      .simdMemory('v128Load', slot.offset + 16 * index);
  }

  private eachPart(register: number, write: (index: number) => void): void {
    const parts = typeBits(this.v.typeOf(register)) === 64 ? 2 * this.v.groups : this.v.groups;
    for (let index = 0; index < parts; index++) write(index);
  }

  private loadExchanged(): void {
    const { f } = this.v;
    const { resumed } = this.registers;
    const [destination] = resumed?.destinations ?? [];
    if (resumed === undefined || destination === undefined) return;
    const take = (to: IrOperand, type: ScalarType, from: number): void => {
      for (let group = 0; group < this.v.groups; group++) {
        if (type === 'b64') {
          for (const half of [0, 1] as const) {
            f.get(this.context.wide).simdMemory('v128Load', from + 16 * (2 * group + half));
            this.v.assign(to, type, group, half);
          }
          continue;
        }
        f.get(this.context.narrow).simdMemory('v128Load', from + 16 * group);
        if (type === 'pred') f.simd('i32x4Neg');
        this.v.assign(to, type, group);
      }
    };
    if (isMatrixExchange(resumed.opcode)) {
      const { outputs, isWide } = matrixOperation(resumed, resumed.opcode);
      outputs.forEach((output, register) => {
        take(
          output,
          isWide ? 'b64' : 'b32',
          this.plan.context.results + (isWide ? 8 : 4) * WARP_SIZE * register,
        );
      });
      return;
    }
    const type = resultType(resumed);
    take(
      destination.kind === 'pair' ? destination.first : destination,
      type,
      type === 'b64' ? EXCHANGE.wide : EXCHANGE.value,
    );
    if (destination.kind === 'pair') take(destination.second, 'pred', EXCHANGE.predicate);
  }
}
