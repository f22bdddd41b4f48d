import {
  isSignedType,
  typeBits,
  type IrFunction,
  type IrOperand,
  type ScalarType,
} from '../../../ptx/index.js';
import type { FunctionBuilder, WasmType } from '../../../wasm/index.js';
import { wasmTypeOf } from '../instructions/index.js';
import { CANONICAL_NAN_32, CANONICAL_NAN_64_HIGH, type Library } from '../library/index.js';

/** Values that only the code around an instruction knows. */
export interface SurroundingValues {
  /** Pushes a special register; @returns the type that it has. */
  pushSpecial(name: string): 'i32' | 'i64';
  /** Pushes the address of a variable or parameter as i64 or i32. */
  pushSymbol(name: string, offset: number, type: 'i32' | 'i64'): void;
}

/**
 * Moves values between PTX operands and WebAssembly's stack. Each PTX register is a local; 16-bit ones hold their bits
 * zero-extended, predicates 0 or 1.
 */
export class OperandEmitter {
  private readonly temporaries = new Map<WasmType, Map<string, number>>();
  /** Of registers that have come up, -1 for others. */
  private readonly locals: Int32Array;

  constructor(
    readonly f: FunctionBuilder,
    readonly fn: IrFunction,
    readonly library: Library,
    private readonly exact: Uint8Array,
    private readonly surroundings: SurroundingValues,
    private readonly used: (register: number) => boolean,
  ) {
    this.locals = new Int32Array(fn.registers.length).fill(-1);
  }

  /** A local for use within one instruction; the same name and type give the same local. */
  temporary(name: string, type: WasmType): number {
    let ofType = this.temporaries.get(type);
    if (ofType === undefined) this.temporaries.set(type, (ofType = new Map<string, number>()));
    let local = ofType.get(name);
    if (local === undefined) {
      local = this.f.local(type);
      ofType.set(name, local);
    }
    return local;
  }

  localOf(register: number): number {
    const known = this.locals[register] ?? -1;
    if (known >= 0) return known;
    const declared = this.fn.registers[register];
    if (declared === undefined || !this.used(register))
      throw new RangeError(`register ${register} has no local`);
    const local = this.f.local(wasmTypeOf(declared.type));
    this.locals[register] = local;
    return local;
  }

  typeOf(register: number): ScalarType {
    return this.fn.registers[register]?.type ?? 'b32';
  }

  /** Whether a float register may hold any NaN where PTX has the canonical one. */
  isLoose(register: number): boolean {
    return this.exact[register] !== 1;
  }

  /**
   * Pushes an operand's value in the WebAssembly type of `type`: integers up to 32 bits by value (sign- or
   * zero-extended), others as they are.
   * @param bits whether the exact bits matter: then a NaN of arithmetic is made canonical.
   */
  use(operand: IrOperand | undefined, type: ScalarType, bits = false): void {
    const f = this.f;
    if (operand === undefined) throw new RangeError('an operand is missing');
    switch (operand.kind) {
      case 'register':
        this.useRegister(operand.register, type, bits);
        return;
      case 'negatedPredicate':
        f.get(this.localOf(operand.register)).op('i32Eqz');
        return;
      case 'integer':
        if (wasmTypeOf(type) === 'i64') f.i64Halves(operand.low, operand.high);
        else f.i32(truncate(operand.low, type));
        return;
      case 'float':
        this.useFloat(operand.width, operand.low, operand.high, type);
        return;
      case 'special': {
        const held = this.surroundings.pushSpecial(operand.name);
        const wanted = wasmTypeOf(type);
        if (wanted === 'i64' && held === 'i32') f.op('i64ExtendI32U');
        else if (wanted === 'i32' && held === 'i64') f.op('i32WrapI64');
        return;
      }
      case 'symbol':
        this.surroundings.pushSymbol(
          operand.name,
          operand.offset,
          wasmTypeOf(type) === 'i64' ? 'i64' : 'i32',
        );
        return;
      case 'vector':
        this.packVector(operand.elements, type);
        return;
      case 'address':
      case 'pair':
      case 'sink':
      case 'label':
        throw new RangeError(`a ${operand.kind} has no value`);
    }
  }

  /** Takes a value of the WebAssembly type of `type` from the stack into an operand, wrapped to the register's width. */
  assign(operand: IrOperand | undefined, type: ScalarType): void {
    const f = this.f;
    if (operand === undefined || operand.kind === 'sink') {
      f.op('drop');
      return;
    }
    if (operand.kind === 'vector') {
      this.unpackVector(operand.elements, type);
      return;
    }
    if (operand.kind !== 'register') throw new RangeError(`a ${operand.kind} cannot be written`);
    const target = this.typeOf(operand.register);
    const from = wasmTypeOf(type);
    const to = wasmTypeOf(target);
    if (from === to) this.narrow(type, target);
    else this.convert(from, to, type, target);
    f.set(this.localOf(operand.register));
  }

  /** Takes an arithmetic float result; an exact f32 register gets the canonical NaN. */
  assignArithmetic(operand: IrOperand | undefined, type: ScalarType): void {
    if (operand?.kind === 'register' && type === 'f32') {
      const isFloat = wasmTypeOf(this.typeOf(operand.register)) === type;
      if (!isFloat || !this.isLoose(operand.register)) this.canonical(type);
    }
    this.assign(operand, type);
  }

  /** Makes a NaN on the stack the canonical one. */
  canonical(type: 'f32' | 'f64'): void {
    const f = this.f;
    const value = this.temporary('nan', type);
    f.tee(value);
    if (type === 'f32') f.f32Bits(CANONICAL_NAN_32);
    else f.f64Halves(0, CANONICAL_NAN_64_HIGH);
    f.get(value)
      .get(value)
      .op(type === 'f32' ? 'f32Eq' : 'f64Eq')
      .op('select');
  }

  private useRegister(register: number, type: ScalarType, bits: boolean): void {
    const f = this.f;
    const held = this.typeOf(register);
    const from = wasmTypeOf(held);
    const to = wasmTypeOf(type);
    f.get(this.localOf(register));
    if ((from === 'f32' || from === 'f64') && this.isLoose(register) && (bits || to !== from))
      this.canonical(from);
    if (from === to) {
      if (to === 'i32' && type !== 'pred' && (typeBits(type) < typeBits(held) || typeBits(type) < 32))
        this.extend(type, held);
      return;
    }
    if (from === 'i64' && to === 'i32') {
      f.op('i32WrapI64');
      this.extend(type, 'b64');
    } else if (from === 'i32' && to === 'i64') f.op(isSignedType(type) ? 'i64ExtendI32S' : 'i64ExtendI32U');
    else this.reinterpret(from, to);
  }

  /** Sign- or zero-extends a small value on the stack to i32. */
  private extend(type: ScalarType, held: ScalarType): void {
    const f = this.f;
    const size = typeBits(type);
    if (size >= 32) return;
    if (isSignedType(type)) f.op(size === 8 ? 'i32Extend8S' : 'i32Extend16S');
    else if (size < typeBits(held)) f.i32(size === 8 ? 0xff : 0xffff).op('i32And');
  }

  /** Brings a value of `type` to the bits that a register of type `target` of the same WebAssembly type holds. */
  private narrow(type: ScalarType, target: ScalarType): void {
    if (wasmTypeOf(target) !== 'i32' || target === 'pred') return;
    const f = this.f;
    const from = typeBits(type);
    const to = typeBits(target);
    if (from < to && from < 32) {
      if (isSignedType(type)) f.op(from === 8 ? 'i32Extend8S' : 'i32Extend16S');
      else f.i32(from === 8 ? 0xff : 0xffff).op('i32And');
    }
    if (to < 32) f.i32(to === 8 ? 0xff : 0xffff).op('i32And');
  }

  private convert(from: WasmType, to: WasmType, type: ScalarType, target: ScalarType): void {
    const f = this.f;
    if (from === 'i32' && to === 'i64') {
      this.narrow(type, typeBits(type) < 32 ? 'b32' : type);
      f.op(isSignedType(type) ? 'i64ExtendI32S' : 'i64ExtendI32U');
    } else if (from === 'i64' && to === 'i32') {
      f.op('i32WrapI64');
      this.narrow('b32', target);
    } else this.reinterpret(from, to);
  }

  private reinterpret(from: WasmType, to: WasmType): void {
    const f = this.f;
    if (from === 'i32' && to === 'f32') f.op('f32ReinterpretI32');
    else if (from === 'f32' && to === 'i32') f.op('i32ReinterpretF32');
    else if (from === 'i64' && to === 'f64') f.op('f64ReinterpretI64');
    else if (from === 'f64' && to === 'i64') f.op('i64ReinterpretF64');
    // A wider register holds an f32 in its lower half.
    else if (from === 'f32' && to === 'i64') f.op('i32ReinterpretF32').op('i64ExtendI32U');
    else if (from === 'i64' && to === 'f32') f.op('i32WrapI64').op('f32ReinterpretI32');
    else throw new RangeError(`${from} is not as wide as ${to}`);
  }

  private useFloat(width: 32 | 64, low: number, high: number, type: ScalarType): void {
    const f = this.f;
    switch (wasmTypeOf(type)) {
      case 'f32':
        f.f32Bits(low >>> 0);
        return;
      case 'f64':
        f.f64Halves(low >>> 0, high >>> 0);
        return;
      case 'i32':
        f.i32(low);
        return;
      case 'i64':
        f.i64Halves(low, width === 64 ? high : 0);
    }
  }

  /** `mov.b64 %rd, {%r0, %r1}`: elements from low to high. */
  private packVector(elements: readonly IrOperand[], type: ScalarType): void {
    const f = this.f;
    const size = typeBits(type) / elements.length;
    const element: ScalarType = size === 32 ? 'b32' : size === 16 ? 'b16' : 'b8';
    const wide = wasmTypeOf(type) === 'i64';
    elements.forEach((each, index) => {
      this.use(each, element, true);
      if (wide) f.op('i64ExtendI32U');
      if (index === 0) return;
      if (wide)
        f.i64(size * index)
          .op('i64Shl')
          .op('i64Or');
      else
        f.i32(size * index)
          .op('i32Shl')
          .op('i32Or');
    });
  }

  private unpackVector(elements: readonly IrOperand[], type: ScalarType): void {
    const f = this.f;
    const size = typeBits(type) / elements.length;
    const element: ScalarType = size === 32 ? 'b32' : size === 16 ? 'b16' : 'b8';
    const held = wasmTypeOf(type);
    const whole = this.temporary('vector', held);
    f.set(whole);
    elements.forEach((each, index) => {
      f.get(whole);
      if (held === 'i64')
        f.i64(size * index)
          .op('i64ShrU')
          .op('i32WrapI64');
      else f.i32(size * index).op('i32ShrU');
      if (size < 32) f.i32(size === 8 ? 0xff : 0xffff).op('i32And');
      this.assign(each, element);
    });
  }
}

function truncate(low: number, type: ScalarType): number {
  const size = typeBits(type);
  if (type === 'pred') return low & 1;
  if (size >= 32) return low;
  const shift = 32 - size;
  return isSignedType(type) ? (low << shift) >> shift : (low << shift) >>> shift;
}
