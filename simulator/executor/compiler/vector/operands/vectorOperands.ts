import {
  isSignedType,
  typeBits,
  type IrFunction,
  type IrInstruction,
  type IrOperand,
  type ScalarType,
} from '../../../../ptx/index.js';
import type { FunctionBuilder, WasmType } from '../../../../wasm/index.js';
import { CANONICAL_NAN_32, type Library } from '../../library/index.js';
import type { OperandEmitter } from '../../scalar/index.js';
import { wasmTypeOf } from '../../instructions/index.js';
import { LaneOperands } from './laneOperands.js';
import { shapeOfOperand, UNIFORM, type LaneShape } from '../shapes/index.js';
import { packVector, unpackVector } from './vectorElements.js';

/** Writes a whole instruction for all groups of a chunk. */
export type VectorEmitter = (v: VectorOperands, instruction: IrInstruction) => void;

/** What vector code needs of the function around it. */
export interface ChunkSurroundings {
  /** Shape of each register. */
  readonly shapes: readonly LaneShape[];
  /** Shapes that varying registers have as long as lanes do not part. */
  readonly likely?: readonly LaneShape[] | undefined;
  readonly exact: Uint8Array;
  /** Local with the chunk's first lane in its warp. */
  readonly firstLane: number;
  /** For code written lane by lane: pushes a special register of the lane that `beginLane` named last. */
  pushLaneSpecial(name: string): 'i32' | 'i64';
  pushSymbol(name: string, offset: number, type: 'i32' | 'i64'): void;
}

/**
 * How vector code sees operands. A chunk is 4 · groups neighbouring lanes; emitters work group by group: use, use, op,
 * assign. A varying register is one v128 a group, or two when it holds 64 bits; predicates are masks of 0 and −1, 16 bits
 * lie zero-extended in 32.
 */
export class VectorOperands {
  readonly f: FunctionBuilder;
  readonly fn: IrFunction;
  readonly library: Library;
  /** One lane's view, for what is written lane by lane. */
  readonly lane: LaneOperands;
  private readonly locals = new Map<number, readonly number[]>();
  private shapes: readonly LaneShape[];
  private mask: readonly number[] | undefined;
  private kept: ReadonlySet<number> | undefined;

  /** @param scalar uniform registers, and lane 0 of affine ones. */
  constructor(
    readonly groups: number,
    readonly scalar: OperandEmitter,
    private readonly around: ChunkSurroundings,
  ) {
    this.f = scalar.f;
    this.fn = scalar.fn;
    this.library = scalar.library;
    this.shapes = around.shapes;
    this.lane = new LaneOperands(this, around.exact, {
      pushSpecial: (name) => around.pushLaneSpecial(name),
      pushSymbol: (name, offset, type) => {
        around.pushSymbol(name, offset, type);
      },
    });
  }

  /** Lanes of a chunk. */
  get width(): number {
    return this.groups * 4;
  }

  shapeOf(operand: IrOperand | undefined): LaneShape {
    return shapeOfOperand(operand, (register) => this.shapeOfRegister(register)) ?? UNIFORM;
  }

  shapeOfRegister(register: number): LaneShape {
    return this.shapes[register] ?? UNIFORM;
  }

  /** Writes code for which registers have other shapes. */
  assuming(shapes: readonly LaneShape[], body: () => void): void {
    const { shapes: before } = this;
    this.shapes = shapes;
    body();
    this.shapes = before;
  }

  /** The stride that a varying register has as long as lanes do not part. */
  likelyStrideOf(register: number): number | undefined {
    const shape = this.around.likely?.[register];
    return shape?.kind === 'affine' ? shape.stride : undefined;
  }

  typeOf(register: number): ScalarType {
    return this.scalar.typeOf(register);
  }

  isLoose(register: number): boolean {
    return this.scalar.isLoose(register);
  }

  /** A local for use within one instruction; the same name and type give the same local. */
  temporary(name: string, type: WasmType): number {
    return this.scalar.temporary(name, type);
  }

  /** The v128 locals of a varying register, from low lanes to high. */
  localsOf(register: number): readonly number[] {
    let locals = this.locals.get(register);
    if (locals === undefined) {
      const count = typeBits(this.typeOf(register)) === 64 ? 2 * this.groups : this.groups;
      locals = Array.from({ length: count }, () => this.f.local('v128'));
      this.locals.set(register, locals);
    }
    return locals;
  }

  /** The v128 local that holds a lane of a varying register. */
  localFor(register: number, lane: number): number {
    const wide = typeBits(this.typeOf(register)) === 64;
    return this.localsOf(register)[wide ? lane >> 1 : lane >> 2] ?? 0;
  }

  // --- masks ---

  /**
   * The active lanes from here on: a v128 local a group, or undefined when all are.
   * @param kept registers that must keep what they hold for other lanes; all, unless told
   */
  setMask(mask: readonly number[] | undefined, kept?: ReadonlySet<number>): void {
    this.mask = mask;
    this.kept = kept;
  }

  /** Writes code for those active lanes only that are in a mask besides. */
  underMask(mask: readonly number[], body: () => void): void {
    const { f, mask: outer, kept } = this;
    const both =
      outer === undefined
        ? mask
        : mask.map((local, group) => {
            const active = this.temporary(`active ${group}`, 'v128');
            f.get(local)
              .get(outer[group] ?? 0)
              .simd('v128And')
              .set(active);
            return active;
          });
    this.setMask(both);
    body();
    this.setMask(outer, kept);
  }

  get isMasked(): boolean {
    return this.mask !== undefined;
  }

  /** Pushes the mask of a group's active lanes; of a half, for 64-bit values. */
  pushMask(group: number, half?: 0 | 1): void {
    const { f } = this;
    const local = this.mask?.[group];
    if (local === undefined) {
      f.v128(-1, -1, -1, -1);
      return;
    }
    f.get(local);
    if (half !== undefined) f.simd(half === 0 ? 'i64x2ExtendLowI32x4S' : 'i64x2ExtendHighI32x4S');
  }

  /** Computes an i32 local with one bit a lane, set for active ones. */
  activeBits(): number {
    const { f, mask } = this;
    const bits = this.temporary('active', 'i32');
    if (mask === undefined) f.i32(this.width === 32 ? -1 : (1 << this.width) - 1);
    else {
      mask.forEach((local, group) => {
        f.get(local).simd('i32x4Bitmask');
        if (group > 0)
          f.i32(4 * group)
            .op('i32Shl')
            .op('i32Or');
      });
    }
    f.set(bits);
    return bits;
  }

  // --- values of all lanes ---

  /**
   * Pushes four lanes of a type of up to 32 bits (values extended as OperandEmitter.use does, predicates as masks), or two
   * lanes of a 64-bit type: 4 · group + 2 · half and the next.
   * @param bits whether the exact bits matter: then a NaN of arithmetic is made canonical.
   */
  use(operand: IrOperand | undefined, type: ScalarType, group: number, half: 0 | 1 = 0, bits = false): void {
    const { f } = this;
    if (operand === undefined) throw new RangeError('an operand is missing');
    const shape = this.shapeOf(operand);
    if (shape.kind === 'uniform') {
      this.scalar.use(operand, type, bits);
      this.splat(type);
      return;
    }
    switch (operand.kind) {
      case 'register':
        if (shape.kind === 'affine')
          this.useAffine(operand, this.typeOf(operand.register), shape.stride, type, group, half);
        else this.useVarying(operand.register, type, group, half, bits);
        return;
      case 'negatedPredicate':
        f.get(this.localsOf(operand.register)[group] ?? 0).simd('v128Not');
        return;
      case 'special':
        if (shape.kind === 'affine') this.useAffine(operand, 'u32', shape.stride, type, group, half);
        else this.useLaneMask(operand.name, type, group, half);
        return;
      case 'vector':
        packVector(this, operand.elements, type, group, half);
        return;
      case 'integer':
      case 'float':
      case 'symbol':
      case 'address':
      case 'pair':
      case 'sink':
      case 'label':
        throw new RangeError(`a ${operand.kind} has no value`);
    }
  }

  /**
   * Takes a v128 of `type` into a varying register, selected by the mask. Of a 64-bit type half 0 comes first, then half 1.
   */
  assign(operand: IrOperand | undefined, type: ScalarType, group: number, half: 0 | 1 = 0): void {
    const { f } = this;
    if (operand === undefined || operand.kind === 'sink') {
      f.op('drop');
      return;
    }
    if (operand.kind === 'vector') {
      unpackVector(this, operand.elements, type, group, half);
      return;
    }
    if (operand.kind !== 'register') throw new RangeError(`a ${operand.kind} cannot be written`);
    const { register } = operand;
    const target = this.typeOf(register);
    if (this.shapeOfRegister(register).kind !== 'varying')
      throw new RangeError(`register ${this.fn.registers[register]?.name ?? register} is a scalar here`);
    const isWide = typeBits(type) === 64;
    const becomesWide = typeBits(target) === 64;
    if (isWide && becomesWide) this.write(register, group, half);
    else if (isWide) this.assignNarrowed(register, type, group, half);
    else if (becomesWide) this.assignWidened(register, type, group);
    else {
      if (wasmTypeOf(type) === 'i32') this.narrow(type, target);
      this.write(register, group);
    }
  }

  /** Takes an arithmetic float result; an exact f32 register gets the canonical NaN. */
  assignArithmetic(operand: IrOperand | undefined, type: ScalarType, group: number, half: 0 | 1 = 0): void {
    if (operand?.kind === 'register' && type === 'f32') {
      const isFloat = this.typeOf(operand.register) === 'f32';
      if (!isFloat || !this.isLoose(operand.register)) this.canonical();
    }
    this.assign(operand, type, group, half);
  }

  /** Makes the NaNs of an f32x4 on the stack the canonical one. */
  canonical(): void {
    const value = this.temporary('nan', 'v128');
    const bits = CANONICAL_NAN_32;
    this.f
      .tee(value)
      .i32(bits)
      .simd('i32x4Splat')
      .get(value)
      .get(value)
      .simd('f32x4Eq')
      .simd('v128Bitselect');
  }

  /** Makes a scalar of `type` on the stack a vector of it. */
  splat(type: ScalarType): void {
    const { f } = this;
    if (type === 'pred') {
      const value = this.temporary('splat', 'i32');
      f.set(value).i32(0).get(value).op('i32Sub').simd('i32x4Splat');
      return;
    }
    const held = wasmTypeOf(type);
    f.simd(
      held === 'i32'
        ? 'i32x4Splat'
        : held === 'i64'
          ? 'i64x2Splat'
          : held === 'f32'
            ? 'f32x4Splat'
            : 'f64x2Splat',
    );
  }

  // --- values of one lane ---

  /** Pushes a lane's value as a scalar of `type`. */
  useLane(operand: IrOperand | undefined, type: ScalarType, lane: number, bits = false): void {
    if (operand !== undefined) this.lane.loadAll(registersOf(operand), lane);
    this.lane.use(operand, type, bits);
  }

  /** Takes a scalar of `type` into a lane of a varying register. Whether the lane is active is for the caller to know. */
  assignLane(operand: IrOperand | undefined, type: ScalarType, lane: number): void {
    this.lane.assign(operand, type);
    if (operand !== undefined) for (const register of registersOf(operand)) this.lane.keep(register, lane);
  }

  // --- parts ---

  private useAffine(
    operand: IrOperand,
    held: ScalarType,
    stride: number,
    type: ScalarType,
    group: number,
    half: 0 | 1,
  ): void {
    const { f } = this;
    const isWide = typeBits(held) === 64;
    const becomesWide = typeBits(type) === 64;
    if (isWide && becomesWide) {
      const first = (4 * group + 2 * half) * stride;
      this.scalar.use(operand, 'u64');
      f.simd('i64x2Splat');
      const [low, high] = halves(first);
      const [nextLow, nextHigh] = halves(first + stride);
      f.v128(low, high, nextLow, nextHigh).simd('i64x2Add');
      return;
    }
    const first = 4 * group * stride;
    this.scalar.use(operand, 'u32');
    f.simd('i32x4Splat');
    f.v128(first, first + stride, first + 2 * stride, first + 3 * stride).simd('i32x4Add');
    if (becomesWide) this.widen(type, half);
    else this.extend(type, 'b32');
  }

  private useVarying(register: number, type: ScalarType, group: number, half: 0 | 1, bits: boolean): void {
    const { f } = this;
    const held = this.typeOf(register);
    const from = wasmTypeOf(held);
    const to = wasmTypeOf(type);
    const locals = this.localsOf(register);
    const isWide = from === 'i64' || from === 'f64';
    const becomesWide = to === 'i64' || to === 'f64';
    if (isWide && becomesWide) {
      f.get(locals[2 * group + half] ?? 0);
      return;
    }
    if (isWide) {
      if (from === 'f64') throw new RangeError(`${from} is not as wide as ${to}`);
      f.get(locals[2 * group] ?? 0)
        .get(locals[2 * group + 1] ?? 0)
        .shuffleWords(0, 2, 4, 6);
      if (to === 'i32') this.extend(type, 'b64');
      return;
    }
    f.get(locals[group] ?? 0);
    if (from === 'f32' && this.isLoose(register) && (bits || to !== from)) this.canonical();
    if (becomesWide) this.widen(from === 'f32' ? 'u64' : type, half);
    else if (from === 'i32' && to === 'i32' && type !== 'pred') this.extend(type, held);
  }

  /** `%lanemask_…`: shifts of a constant by the lane. */
  private useLaneMask(name: string, type: ScalarType, group: number, half: 0 | 1): void {
    const { f } = this;
    const which = name.slice('lanemask_'.length);
    const start = which === 'eq' ? 1 : which === 'lt' || which === 'ge' ? -1 : -2;
    const of = (lane: number): number => start << (4 * group + lane);
    f.v128(of(0), of(1), of(2), of(3)).get(this.around.firstLane).simd('i32x4Shl');
    if (which === 'le' || which === 'lt') f.simd('v128Not');
    if (typeBits(type) === 64) this.widen('u64', half);
  }

  /** Makes half of an i32x4 on the stack an i64x2. */
  private widen(type: ScalarType, half: 0 | 1): void {
    const isSigned = isSignedType(type);
    if (half === 0) this.f.simd(isSigned ? 'i64x2ExtendLowI32x4S' : 'i64x2ExtendLowI32x4U');
    else this.f.simd(isSigned ? 'i64x2ExtendHighI32x4S' : 'i64x2ExtendHighI32x4U');
  }

  /** Sign- or zero-extends small values on the stack to 32 bits. */
  private extend(type: ScalarType, held: ScalarType): void {
    const { f } = this;
    const size = typeBits(type);
    if (size >= 32 || type === 'pred') return;
    if (isSignedType(type))
      f.i32(32 - size)
        .simd('i32x4Shl')
        .i32(32 - size)
        .simd('i32x4ShrS');
    else if (size < typeBits(held)) this.keepLow(size);
  }

  /** Clears all but the low bits of each lane on the stack. */
  keepLow(bits: number): void {
    this.f
      .i32(bits === 8 ? 0xff : 0xffff)
      .simd('i32x4Splat')
      .simd('v128And');
  }

  /** As OperandEmitter brings values to the bits that a register holds. */
  private narrow(type: ScalarType, target: ScalarType): void {
    if (wasmTypeOf(target) !== 'i32' || target === 'pred') return;
    const from = typeBits(type);
    const to = typeBits(target);
    if (from < to && from < 32) {
      if (isSignedType(type)) this.extend(type, target);
      else this.keepLow(from);
    }
    if (to < 32) this.keepLow(to);
  }

  private assignWidened(register: number, type: ScalarType, group: number): void {
    const { f } = this;
    if (wasmTypeOf(type) === 'i32') this.narrow(type, typeBits(type) < 32 ? 'b32' : type);
    const value = this.temporary('widened', 'v128');
    const as = wasmTypeOf(type) === 'f32' ? 'u64' : type;
    f.set(value);
    for (const half of [0, 1] as const) {
      f.get(value);
      this.widen(as, half);
      this.write(register, group, half);
    }
  }

  private assignNarrowed(register: number, type: ScalarType, group: number, half: 0 | 1): void {
    const { f } = this;
    if (type === 'f64') throw new RangeError('f64 is not as wide as its register');
    const low = this.temporary('low lanes', 'v128');
    const high = this.temporary('high lanes', 'v128');
    if (half === 0) {
      f.set(low);
      return;
    }
    f.set(high).get(low).get(high).shuffleWords(0, 2, 4, 6);
    this.narrow('b32', this.typeOf(register));
    this.write(register, group);
  }

  private write(register: number, group: number, half?: 0 | 1): void {
    const { f } = this;
    const local = this.localsOf(register)[half === undefined ? group : 2 * group + half] ?? 0;
    if (this.mask !== undefined && this.kept?.has(register) !== false) {
      f.get(local);
      this.pushMask(group, half);
      f.simd('v128Bitselect');
    }
    f.set(local);
  }
}

function registersOf(operand: IrOperand): number[] {
  switch (operand.kind) {
    case 'register':
    case 'negatedPredicate':
      return [operand.register];
    case 'address':
      return typeof operand.base === 'number' ? [operand.base] : [];
    case 'vector':
      return operand.elements.flatMap(registersOf);
    case 'pair':
      return [operand.first, operand.second].flatMap(registersOf);
    case 'integer':
    case 'float':
    case 'special':
    case 'symbol':
    case 'sink':
    case 'label':
      return [];
  }
}

/** The type by which a register's local is read as it is. */
export function heldAs(type: ScalarType): ScalarType {
  return type !== 'pred' && wasmTypeOf(type) === 'i32' ? 'b32' : type;
}

/** Two's complement of 64 bits. */
function halves(value: number): [number, number] {
  return [value | 0, Math.floor(value / 2 ** 32) | 0];
}
