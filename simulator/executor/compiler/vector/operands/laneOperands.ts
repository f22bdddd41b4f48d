import type { IrInstruction } from '../../../../ptx/index.js';
import type { ScalarWasmType } from '../../../../wasm/index.js';
import { OperandEmitter, type SurroundingValues } from '../../scalar/index.js';
import { wasmTypeOf } from '../../instructions/index.js';
import type { VectorOperands } from './vectorOperands.js';

/**
 * The scalar view of one lane, for code that is written lane by lane: registers that differ between lanes get a scalar
 * local each, which `load` fills from the lane and `keep` puts back; uniform ones are read where they are.
 */
export class LaneOperands extends OperandEmitter {
  private readonly ofRegister = new Map<number, number>();

  constructor(
    private readonly vector: VectorOperands,
    exact: Uint8Array,
    surroundings: SurroundingValues,
  ) {
    super(vector.f, vector.fn, vector.library, exact, surroundings, () => false);
  }

  override localOf(register: number): number {
    if (this.vector.shapeOfRegister(register).kind === 'uniform') return this.vector.scalar.localOf(register);
    let local = this.ofRegister.get(register);
    if (local === undefined) {
      local = this.f.local(wasmTypeOf(this.typeOf(register)));
      this.ofRegister.set(register, local);
    }
    return local;
  }

  /** Brings a register's value in a lane into its scalar local. */
  load(register: number, lane: number): void {
    const { f, vector } = this;
    const shape = vector.shapeOfRegister(register);
    if (shape.kind === 'uniform') return;
    const type = wasmTypeOf(this.typeOf(register));
    if (shape.kind === 'affine') {
      f.get(vector.scalar.localOf(register));
      if (lane > 0) {
        if (type === 'i64') f.i64(lane * shape.stride).op('i64Add');
        else f.i32(lane * shape.stride).op('i32Add');
      }
      f.set(this.localOf(register));
      return;
    }
    f.get(vector.localFor(register, lane));
    extractLane(vector, type, lane);
    if (this.typeOf(register) === 'pred') f.i32(1).op('i32And');
    f.set(this.localOf(register));
  }

  /** Puts a varying register's scalar local back into a lane. */
  keep(register: number, lane: number): void {
    const { f, vector } = this;
    const type = wasmTypeOf(this.typeOf(register));
    const whole = vector.localFor(register, lane);
    const isPredicate = this.typeOf(register) === 'pred';
    f.get(whole);
    if (isPredicate) f.i32(0);
    f.get(this.localOf(register));
    if (isPredicate) f.op('i32Sub');
    replaceLane(vector, type, lane);
    f.set(whole);
  }

  /** All registers that an instruction reads. */
  loadAll(registers: readonly number[], lane: number): void {
    for (const register of new Set(registers)) this.load(register, lane);
  }
}

/** Takes a v128; leaves a lane of it. */
export function extractLane({ f }: VectorOperands, type: ScalarWasmType, lane: number): void {
  if (type === 'i64') f.simdLane('i64x2ExtractLane', lane & 1);
  else if (type === 'f64') f.simdLane('f64x2ExtractLane', lane & 1);
  else f.simdLane(type === 'f32' ? 'f32x4ExtractLane' : 'i32x4ExtractLane', lane & 3);
}

function replaceLane({ f }: VectorOperands, type: ScalarWasmType, lane: number): void {
  if (type === 'i64') f.simdLane('i64x2ReplaceLane', lane & 1);
  else if (type === 'f64') f.simdLane('f64x2ReplaceLane', lane & 1);
  else f.simdLane(type === 'f32' ? 'f32x4ReplaceLane' : 'i32x4ReplaceLane', lane & 3);
}

/** Whether an instruction looks at special registers that differ between lanes. */
export function readsLaneSpecials({ sources }: IrInstruction): boolean {
  return sources.some((source) => source.kind === 'special' && /^(tid\.x|laneid|lanemask)/.test(source.name));
}
