import {
  type IrFunction,
  type IrInstruction,
  type IrOperand,
  isAtomic,
  isLoad,
  type ScalarType,
  typeBits,
  writtenRegisters,
} from '../../../../ptx/index.js';
import { spaceOf, lastType, immediateOf } from '../../instructions/index.js';
import {
  affine,
  meetShapes,
  sameShape,
  shapeOfOperand,
  strideOf,
  UNIFORM,
  VARYING,
  type LaneShape,
} from './laneShapes.js';
import { startsRow } from './rowStarts.js';

/** What the analysis of shapes must know of masks. */
export interface MaskedInstructions {
  /** Registers that differ from lane to lane since some lanes do not write them. */
  readonly kept: ReadonlySet<number>;
  /** Instructions at which lanes must not part, by index. */
  readonly unchecked: ReadonlySet<number>;
}

/** What the analysis may assume and find. */
export interface ShapeOptions {
  /** Registers that are read before anything writes them: they start as 0. */
  readonly startAsZero: readonly number[];
  /** Instructions whose results come from other lanes. */
  readonly exchanges: ReadonlySet<number>;
  /** Whether generic addresses may be of local memory, where each thread has its own. */
  readonly hasLocal: boolean;
  readonly followsUniform: boolean;
  readonly followsAffine: boolean;
  readonly masked: MaskedInstructions;
}

export interface RegisterShapes {
  readonly shapes: readonly LaneShape[];
  /**
   * What an instruction's result is, before others that write the same register are met; `checked` says that it holds
   * only while no lane wraps in 32 bits, or while all lie in one row of 2^rowBits values.
   */
  readonly resultOf: (instruction: IrInstruction) => ResultShape;
  /** Shapes that varying registers have as long as lanes do not part. */
  readonly likely?: readonly LaneShape[];
}

export interface ResultShape {
  readonly shape: LaneShape;
  readonly checked?: 'signed' | 'unsigned' | 'row';
  readonly rowBits?: number;
}

const uniformResult: ResultShape = { shape: UNIFORM };
const varyingResult: ResultShape = { shape: VARYING };

/**
 * Finds how each register differs over the lanes of a chunk, to a fixed point from below. Lanes of a chunk always take the
 * same way through the code that this is used for, so shapes follow from data alone.
 */
export function analyseShapes(fn: IrFunction, options: ShapeOptions): RegisterShapes {
  const found: (LaneShape | undefined)[] = fn.registers.map(() => undefined);
  const all = { fn, options, ofRegister: (register: number) => found[register] };
  for (const register of options.startAsZero) found[register] = UNIFORM;
  for (const register of options.masked.kept) found[register] = VARYING;
  const writing = fn.instructions.flatMap((instruction) => {
    const written = writtenRegisters(instruction);
    return written.length === 0 ? [] : [{ instruction, written }];
  });
  for (let changed = true; changed;) {
    changed = false;
    for (const { instruction, written } of writing) {
      // What is varying stays so.
      if (written.every((register) => found[register]?.kind === 'varying')) continue;
      const result = resultShape(instruction, all);
      if (result === undefined) continue;
      let shapes = written.map((register) =>
        meetShapes(found[register], held(fn, register, result.shape, options)),
      );
      // Code that writes several registers writes them all as scalars, or all lane by lane.
      if (shapes.some(({ kind }) => kind === 'varying')) shapes = shapes.map(() => VARYING);
      for (const [index, register] of written.entries()) {
        const before = found[register];
        const after = shapes[index] ?? VARYING;
        if (before !== undefined && sameShape(before, after)) continue;
        found[register] = after;
        changed = true;
      }
    }
  }
  const shapes = found.map((shape) => shape ?? UNIFORM);
  const final = { fn, options, ofRegister: (register: number) => shapes[register] };
  const results = new Map<IrInstruction, ResultShape>();
  const resultOf = (instruction: IrInstruction): ResultShape => {
    let result = results.get(instruction);
    if (result === undefined) {
      result = resultShape(instruction, final) ?? varyingResult;
      results.set(instruction, result);
    }
    return result;
  };
  return { shapes, resultOf };
}

interface Known {
  readonly fn: IrFunction;
  readonly options: ShapeOptions;
  ofRegister(register: number): LaneShape | undefined;
}

/** Only whole integer registers are affine. */
function held(fn: IrFunction, register: number, shape: LaneShape, options: ShapeOptions): LaneShape {
  if (shape.kind === 'varying') return shape;
  const type = fn.registers[register]?.type ?? 'b32';
  if (shape.kind === 'uniform') return options.followsUniform ? shape : VARYING;
  return options.followsAffine && isWhole(type) ? shape : VARYING;
}

const wholeTypes: ReadonlySet<string> = new Set(['b32', 'u32', 's32', 'b64', 'u64', 's64']);

function isWhole(type: ScalarType): boolean {
  return wholeTypes.has(type);
}

/** @returns undefined while a source is not known yet */
function resultShape(instruction: IrInstruction, known: Known): ResultShape | undefined {
  const { opcode, sources, guard } = instruction;
  const { options } = known;
  const ofRegister = (register: number): LaneShape | undefined => known.ofRegister(register);
  if (options.exchanges.has(instruction.index)) return varyingResult;
  if (guard !== undefined) {
    const shape = known.ofRegister(guard.register);
    if (shape === undefined) return undefined;
    if (shape.kind === 'varying') return varyingResult;
  }
  if (isAtomic(opcode)) return varyingResult;
  const shapes = sources.map((source) => shapeOfOperand(source, ofRegister));
  if (instruction.carry?.reads === true) shapes.push(known.ofRegister(instruction.carry.register));
  if (shapes.some((shape) => shape === undefined)) return undefined;
  const strides = shapes.map((shape) => (shape === undefined ? undefined : strideOf(shape)));
  if (strides.every((stride) => stride === 0))
    return isOnePerThread(instruction, options) ? varyingResult : uniformResult;
  if (!options.followsAffine || strides.some((stride) => stride === undefined)) {
    // A choice by a uniform predicate among varying ones is varying too.
    return varyingResult;
  }
  return affineResult(instruction, strides as number[], known);
}

/** Loads of what every thread has for itself. */
function isOnePerThread({ opcode, modifiers }: IrInstruction, options: ShapeOptions): boolean {
  if (!isLoad(opcode)) return false;
  const space = spaceOf(modifiers);
  return space === 'local' || (space === 'generic' && options.hasLocal);
}

/** Of an instruction whose sources are all uniform or affine. */
function affineResult(instruction: IrInstruction, strides: readonly number[], known: Known): ResultShape {
  const { opcode, modifiers, sources, types } = instruction;
  const type = lastType(instruction);
  const of = (index: number): number => strides[index] ?? 0;
  const [a, b] = sources;
  if (instruction.carry !== undefined || modifiers.includes('sat') || instruction.selectors !== undefined)
    return varyingResult;
  if (opcode === 'cvt') return convertedShape(instruction, of(0), known);
  if (!isWhole(type)) return varyingResult;
  if (!sources.every((source) => isOfWidth(source, opcode, known))) return varyingResult;
  switch (opcode) {
    case 'mov':
    case 'cvta':
      return a?.kind === 'vector' ? varyingResult : { shape: affine(of(0)) };
    case 'add':
      return { shape: affine(of(0) + of(1)) };
    case 'sub':
      return { shape: affine(of(0) - of(1)) };
    case 'neg':
      return { shape: affine(-of(0)) };
    case 'shl': {
      const by = immediateOf(b);
      if (by === undefined || by < 0 || by > 30) return varyingResult;
      return { shape: affine(of(0) * 2 ** by) };
    }
    case 'shr':
    case 'and':
      return rowShape(instruction, of(0), known);
    case 'selp':
      return of(0) === of(1) && of(2) === 0 ? { shape: affine(of(0)) } : varyingResult;
    case 'mul':
    case 'mad': {
      if (modifiers.includes('hi') || types.length !== 1) return varyingResult;
      const product = productStride(a, b, of(0), of(1), type);
      if (product === undefined) return varyingResult;
      const shape = affine(product + (opcode === 'mad' ? of(2) : 0));
      if (!modifiers.includes('wide')) return { shape };
      if (typeBits(type) !== 32) return varyingResult;
      return product === 0 ? { shape } : checkedShape(instruction, shape, of(0) + of(1), known);
    }
    default:
      return varyingResult;
  }
}

/** Strides of what is widened, so that the way to the last lane is less than half of what 32 bits hold. */
const MOST_WIDENED_STRIDE = 2 ** 24;

/** @param stride of the value that is widened */
function checkedShape(
  instruction: IrInstruction,
  shape: LaneShape,
  stride: number,
  known: Known,
): ResultShape {
  if (known.options.masked.unchecked.has(instruction.index)) return varyingResult;

  // A check under a guard would have to be skipped with it.
  if (instruction.guard !== undefined || shape.kind === 'varying') return varyingResult;
  if (Math.abs(stride) > MOST_WIDENED_STRIDE) return varyingResult;
  return { shape, checked: lastType(instruction).startsWith('s') ? 'signed' : 'unsigned' };
}

/** A chunk has at most so many lanes, as a power of two. */
const CHUNK_BITS = 5;

/**
 * `tid >> 5` and `tid & 31`: the row that all lanes of a chunk are in and their place in it, when rows are as wide as
 * chunks and begin with them.
 */
function rowShape(instruction: IrInstruction, stride: number, known: Known): ResultShape {
  const { opcode, sources, guard, index } = instruction;
  const constant = immediateOf(sources[1]);
  if (constant === undefined || stride !== 1 || typeBits(lastType(instruction)) !== 32) return varyingResult;
  const rowBits = opcode === 'shr' ? constant : Math.log2(constant + 1);
  if (!Number.isInteger(rowBits) || rowBits < CHUNK_BITS || rowBits > 30) return varyingResult;
  if (guard !== undefined || known.options.masked.unchecked.has(index)) return varyingResult;
  if (!startsRow(known.fn, sources[0])) return varyingResult;
  return { shape: opcode === 'shr' ? UNIFORM : affine(1), checked: 'row', rowBits };
}

function convertedShape(instruction: IrInstruction, stride: number, known: Known): ResultShape {
  const [to, from] = [instruction.types[0], instruction.types.at(-1)];
  if (to === undefined || from === undefined || !isWhole(to) || !isWhole(from)) return varyingResult;
  if (instruction.modifiers.length !== 2 || !isOfWidth(instruction.sources[0], 'cvt', known, from))
    return varyingResult;
  const shape = affine(stride);
  return typeBits(to) > typeBits(from) ? checkedShape(instruction, shape, stride, known) : { shape };
}

/** Stride of a product; undefined unless at most one factor differs over the lanes, and the other is a constant. */
function productStride(
  a: IrOperand | undefined,
  b: IrOperand | undefined,
  strideA: number,
  strideB: number,
  type: ScalarType,
): number | undefined {
  if (strideA === 0 && strideB === 0) return 0;
  if (strideA !== 0 && strideB !== 0) return undefined;
  const factor = factorOf(strideA === 0 ? a : b, type);
  return factor === undefined ? undefined : factor * (strideA + strideB);
}

/** The value of an integer immediate in a type. */
function factorOf(operand: IrOperand | undefined, type: ScalarType): number | undefined {
  if (operand?.kind !== 'integer') return undefined;
  const { low, high } = operand;
  if (typeBits(type) === 32) return type.startsWith('u') ? low >>> 0 : low | 0;
  return high * 2 ** 32 + (low >>> 0);
}

/** Whether an operand is of the width that its instruction computes in, where that is not certain anyway. */
function isOfWidth(operand: IrOperand, opcode: string, known: Known, type?: ScalarType): boolean {
  if (operand.kind !== 'register') return true;
  const held = known.fn.registers[operand.register]?.type ?? 'b32';
  if (held === 'pred') return opcode === 'selp';
  return type === undefined ? isWhole(held) : isWhole(held) && typeBits(held) === typeBits(type);
}
