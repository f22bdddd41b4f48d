import type { IrInstruction, IrOperand } from '../../../ptx/index.js';
import { lastType, isNanBits } from '../instructions/index.js';
import type { InstructionEmitter } from './integerEmitter.js';
import type { LibraryFunction } from '../library/index.js';
import type { OperandEmitter } from './operandEmitter.js';

const LEAST_NORMAL = 2 ** -126;

/** Number of a directed rounding in the library's functions, or undefined for to nearest. */
export function directedMode(instruction: IrInstruction): number | undefined {
  for (const [mode, modifier] of ['rz', 'rm', 'rp'].entries())
    if (instruction.modifiers.includes(modifier)) return mode;
  return undefined;
}

function isSingle(instruction: IrInstruction): boolean {
  return lastType(instruction) === 'f32';
}

/** Pushes an f32 or f64 source, flushed when the instruction says `.ftz`. */
export function useFloat(
  emit: OperandEmitter,
  instruction: IrInstruction,
  operand: IrOperand | undefined,
): void {
  emit.use(operand, lastType(instruction));
  if (isSingle(instruction) && instruction.modifiers.includes('ftz')) flush(emit);
}

/** Makes a zero of its sign of a subnormal f32 on the stack. */
export function flush(emit: OperandEmitter): void {
  const f = emit.f;
  const value = emit.temporary('flushed', 'f32');
  f.set(value).f32(0).get(value).op('f32Copysign').get(value);
  f.get(value).op('f32Abs').f32(LEAST_NORMAL).op('f32Lt').op('select');
}

/** Takes the result, flushed and clamped as the instruction says. */
export function finishFloat(emit: OperandEmitter, instruction: IrInstruction): void {
  if (isSingle(instruction) && instruction.modifiers.includes('ftz')) flush(emit);
  finishRounded(emit, instruction);
}

/** The same of a result that is flushed already. */
function finishRounded(emit: OperandEmitter, instruction: IrInstruction): void {
  if (isSingle(instruction) && instruction.modifiers.includes('sat'))
    emit.f.call(emit.library.index('saturate'));
  emit.assignArithmetic(instruction.destinations[0], lastType(instruction));
}

/**
 * Of a double on the stack: where it is a NaN, the first NaN among two operands takes its place, quieted, or the
 * canonical NaN.
 */
export function chooseNan(emit: OperandEmitter, first: number, second: number): void {
  const f = emit.f;
  const result = emit.temporary('result', 'f64');
  f.tee(result).get(result).op('f64Ne').if();
  f.get(first).get(second).call(emit.library.index('passNan')).set(result).end().get(result);
}

/** Pushes an f64 source and keeps it in a temporary, whose local is returned. */
function keep(emit: OperandEmitter, operand: IrOperand | undefined, name: string): number {
  const local = emit.temporary(name, 'f64');
  emit.use(operand, 'f64');
  emit.f.set(local);
  return local;
}

/** f64 to nearest: of two NaN operands the second one is the result, of a quotient the first. */
function binaryDouble(
  what: 'Add' | 'Sub' | 'Mul' | 'Div',
  emit: OperandEmitter,
  instruction: IrInstruction,
): void {
  const a = keep(emit, instruction.sources[0], 'a');
  const b = keep(emit, instruction.sources[1], 'b');
  emit.f.get(a).get(b).op(`f64${what}`);
  if (what === 'Div') chooseNan(emit, a, b);
  else chooseNan(emit, b, a);
  emit.assign(instruction.destinations[0], 'f64');
}

/** add, sub, mul and div to nearest; f32 add, sub and mul in any direction. */
function binary(what: 'Add' | 'Sub' | 'Mul' | 'Div'): InstructionEmitter {
  return (emit, instruction) => {
    if (!isSingle(instruction)) {
      binaryDouble(what, emit, instruction);
      return;
    }
    const f = emit.f;
    const [a, b] = instruction.sources;
    const mode = directedMode(instruction);
    useFloat(emit, instruction, a);
    if (mode === undefined && (what === 'Mul' || what === 'Div') && instruction.modifiers.includes('ftz')) {
      // Rounding twice is as once: a quotient of 24 bits is not that close to the midpoint of two.
      f.op('f64PromoteF32');
      useFloat(emit, instruction, b);
      f.op('f64PromoteF32').op(`f64${what}`).call(emit.library.index('roundFlushed'));
      finishRounded(emit, instruction);
      return;
    }
    if (mode === undefined) {
      useFloat(emit, instruction, b);
      f.op(`f32${what}`);
    } else {
      f.op('f64PromoteF32');
      useFloat(emit, instruction, b);
      f.op('f64PromoteF32');
      if (what === 'Mul') {
        // The product is exact; adding a zero of its sign keeps a zero's sign in every direction.
        const exact = emit.temporary('product', 'f64');
        f.op('f64Mul').tee(exact).f64(0).get(exact).op('f64Copysign');
      } else if (what === 'Sub') {
        f.op('f64Neg');
      }
      f.i32(mode).call(emit.library.index('sumDirected'));
    }
    finishFloat(emit, instruction);
  };
}

/**
 * fma.f32: the product is exact in a double and the sum rounds to 53 bits. Only a sum whose 28 low bits are zero can be
 * the midpoint of two f32 (normal: bit 28 set; subnormal: clear), where rounding again may go wrong.
 */
const fused: InstructionEmitter = (emit, instruction) => {
  const f = emit.f;
  const [a, b, c] = instruction.sources;
  const mode = directedMode(instruction);
  if (mode === undefined && emit.library.fusesMultiplyAdd) {
    if (instruction.modifiers.includes('ftz')) fusedFlushed(emit, instruction);
    else fusedByMachine(emit, instruction);
    return;
  }
  const product = emit.temporary('product', 'f64');
  const addend = emit.temporary('addend', 'f64');
  const sum = emit.temporary('sum', 'f64');
  useFloat(emit, instruction, a);
  f.op('f64PromoteF32');
  useFloat(emit, instruction, b);
  f.op('f64PromoteF32').op('f64Mul').set(product);
  useFloat(emit, instruction, c);
  f.op('f64PromoteF32').set(addend);
  if (mode !== undefined) {
    f.get(product).get(addend).i32(mode).call(emit.library.index('sumDirected'));
  } else if (instruction.modifiers.includes('ftz')) {
    f.get(product).get(addend).get(product).get(addend).op('f64Add').call(emit.library.index('sumToOdd'));
    f.call(emit.library.index('roundFlushed'));
    finishRounded(emit, instruction);
    return;
  } else {
    f.get(product).get(addend).op('f64Add').tee(sum);
    f.op('i64ReinterpretF64').op('i32WrapI64').i32(0x0fffffff).op('i32And').op('i32Eqz').if('f32');
    f.get(product).get(addend).get(sum).call(emit.library.index('fusedSlow')).else();
    f.get(sum).op('f32DemoteF64').end();
  }
  finishFloat(emit, instruction);
};

/** The machine's own instruction, in all lanes of a vector. */
const fusedByMachine: InstructionEmitter = (emit, instruction) => {
  for (const source of instruction.sources) {
    useFloat(emit, instruction, source);
    emit.f.simd('f32x4Splat');
  }
  emit.f.simd('f32x4RelaxedMadd').simdLane('f32x4ExtractLane', 0);
  finishFloat(emit, instruction);
};

/** The same under `.ftz`: of a result that is the least normal number the machine does not say what it was before rounding. */
const fusedFlushed: InstructionEmitter = (emit, instruction) => {
  const f = emit.f;
  const operands = ['a', 'b', 'c'].map((name) => emit.temporary(name, 'f32'));
  const result = emit.temporary('result', 'f32');
  operands.forEach((local, index) => {
    useFloat(emit, instruction, instruction.sources[index]);
    f.tee(local).simd('f32x4Splat');
  });
  f.simd('f32x4RelaxedMadd').simdLane('f32x4ExtractLane', 0).tee(result);
  f.op('f32Abs').f32(LEAST_NORMAL).op('f32Le').if();
  for (const local of operands) f.get(local);
  f.call(emit.library.index('fusedFlushed')).set(result).end().get(result);
  finishRounded(emit, instruction);
};

/** fma.f64: of NaN operands the second one is the result, then the third, then the first. */
const fusedDouble: InstructionEmitter = (emit, instruction) => {
  const f = emit.f;
  const [a = 0, b = 0, c = 0] = instruction.sources.map((source, index) =>
    keep(emit, source, 'abc'.charAt(index)),
  );
  const result = emit.temporary('result', 'f64');
  for (const local of [a, b, c]) f.get(local).simd('f64x2Splat');
  f.simd('f64x2RelaxedMadd').simdLane('f64x2ExtractLane', 0).tee(result);
  f.get(result).op('f64Ne').if();
  f.get(b).get(c).get(a).get(c).get(c).op('f64Ne').op('select');
  f.call(emit.library.index('passNan')).set(result).end().get(result);
  emit.assign(instruction.destinations[0], 'f64');
};

/** The emitter of an instruction that needs the machine to fuse. */
export function fusedDoubles(instruction: IrInstruction): InstructionEmitter | undefined {
  const isFused = instruction.opcode === 'fma' || instruction.opcode === 'mad';
  const isNearest = directedMode(instruction) === undefined;
  return isFused && isNearest && lastType(instruction) === 'f64' ? fusedDouble : undefined;
}

function unary(what: 'Neg' | 'Abs' | 'Sqrt'): InstructionEmitter {
  return (emit, instruction) => {
    if (isSingle(instruction)) {
      useFloat(emit, instruction, instruction.sources[0]);
      emit.f.op(`f32${what}`);
      finishFloat(emit, instruction);
      return;
    }
    const a = keep(emit, instruction.sources[0], 'a');
    emit.f.get(a).op(`f64${what}`);
    chooseNan(emit, a, a);
    emit.assign(instruction.destinations[0], 'f64');
  };
}

function isNumber(operand: IrOperand | undefined): boolean {
  return operand?.kind === 'float' && !isNanBits(operand.width, operand.low, operand.high);
}

/** A number wins over NaN; with `.NaN` a NaN wins. Zeros are ordered by sign, as WebAssembly has them. */
function extreme(what: 'Min' | 'Max'): InstructionEmitter {
  return (emit, instruction) => {
    const f = emit.f;
    const type = isSingle(instruction) ? 'f32' : 'f64';
    const [first, second] = instruction.sources;
    const a = emit.temporary('a', type);
    const b = emit.temporary('b', type);
    useFloat(emit, instruction, first);
    f.set(a);
    useFloat(emit, instruction, second);
    f.set(b).get(a).get(b).op(`${type}${what}`);
    if (!instruction.modifiers.includes('NaN')) {
      if (!isNumber(second)) f.get(a).get(b).get(b).op(`${type}Eq`).op('select');
      if (!isNumber(first)) f.get(b).get(a).get(a).op(`${type}Eq`).op('select');
    }
    if (type === 'f64') chooseNan(emit, b, a);
    finishFloat(emit, instruction);
  };
}

const reciprocal: InstructionEmitter = (emit, instruction) => {
  if (isApproximate(instruction)) {
    called('approximateReciprocal')(emit, instruction);
    return;
  }
  if (isSingle(instruction)) {
    emit.f.f32(1);
    useFloat(emit, instruction, instruction.sources[0]);
    emit.f.op('f32Div');
    finishFloat(emit, instruction);
    return;
  }
  const a = keep(emit, instruction.sources[0], 'a');
  emit.f.f64(1).get(a).op('f64Div');
  chooseNan(emit, a, a);
  emit.assign(instruction.destinations[0], 'f64');
};

function called(name: LibraryFunction): InstructionEmitter {
  return (emit, instruction) => {
    for (const source of instruction.sources) useFloat(emit, instruction, source);
    emit.f.call(emit.library.index(name));
    finishFloat(emit, instruction);
  };
}

const copySign: InstructionEmitter = (emit, instruction) => {
  const type = lastType(instruction);
  emit.use(instruction.sources[1], type, true);
  emit.use(instruction.sources[0], type, true);
  emit.f.op(type === 'f32' ? 'f32Copysign' : 'f64Copysign');
  emit.assign(instruction.destinations[0], type);
};

const nearestDivision = binary('Div');
const nearestRoot = unary('Sqrt');

function isApproximate(instruction: IrInstruction): boolean {
  return instruction.modifiers.includes('approx');
}

const division: InstructionEmitter = (emit, instruction) => {
  const isFull = instruction.modifiers.includes('full');
  if (!isFull && !isApproximate(instruction)) {
    nearestDivision(emit, instruction);
    return;
  }
  const name = isFull ? 'divideFully' : 'divideApproximately';
  if (!instruction.modifiers.includes('ftz')) {
    called(name)(emit, instruction);
    return;
  }
  for (const source of instruction.sources) useFloat(emit, instruction, source);
  emit.f.call(emit.library.index(`${name}Flushed`));
  finishRounded(emit, instruction);
};

export const floatEmitters: Readonly<Record<string, InstructionEmitter>> = {
  add: binary('Add'),
  sub: binary('Sub'),
  mul: binary('Mul'),
  div: division,
  mad: fused,
  fma: fused,
  neg: unary('Neg'),
  abs: unary('Abs'),
  sqrt: (emit, instruction) => {
    (isApproximate(instruction) ? called('approximateRoot') : nearestRoot)(emit, instruction);
  },
  min: extreme('Min'),
  max: extreme('Max'),
  rcp: reciprocal,
  rsqrt: called('approximateReciprocalRoot'),
  ex2: called('exponential2'),
  lg2: called('logarithm2'),
  sin: called('sine'),
  cos: called('cosine'),
  tanh: called('hyperbolicTangent'),
  copysign: copySign,
};
