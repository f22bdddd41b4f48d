import type { IrInstruction, IrOperand } from '../../../../ptx/index.js';
import { directedMode } from '../../scalar/index.js';
import type { LibraryFunction } from '../../library/index.js';
import { isNanBits } from '../../instructions/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { finishSingle, flushes, LEAST_NORMAL, useFloat } from './floatOperands.js';
import { keep, pushSingle } from './parts.js';

/**
 * Takes f32 results of operands that lie in locals, under `.ftz`: where one is the least normal number or below, the
 * machine does not say what it was before it was rounded, and double precision does.
 */
function finishFlushed(
  v: VectorOperands,
  instruction: IrInstruction,
  group: number,
  name: LibraryFunction,
  operands: readonly number[],
): void {
  const { f } = v;
  const result = v.temporary('result', 'v128');
  f.tee(result).simd('f32x4Abs');
  pushSingle(v, LEAST_NORMAL);
  f.simd('f32x4Le').simd('v128AnyTrue').if();
  for (const local of operands) f.get(local);
  f.call(v.library.index(name)).set(result).end().get(result);
  finishSingle(v, instruction, group, true);
}

function keepFloats(v: VectorOperands, instruction: IrInstruction, group: number): number[] {
  return instruction.sources.map((source, index) => {
    useFloat(v, instruction, source, group);
    return keep(v, 'abc'.charAt(index));
  });
}

/** To nearest. */
function binary(what: 'Add' | 'Sub' | 'Mul' | 'Div'): VectorEmitter {
  return (v, instruction) => {
    const { f } = v;
    for (let group = 0; group < v.groups; group++) {
      // Sums of subnormal size are exact.
      if (flushes(instruction) && (what === 'Mul' || what === 'Div')) {
        const operands = keepFloats(v, instruction, group);
        for (const local of operands) f.get(local);
        f.simd(`f32x4${what}`);
        const name = what === 'Mul' ? 'productFlushedLanes' : 'quotientFlushedLanes';
        finishFlushed(v, instruction, group, name, operands);
        continue;
      }
      for (const source of instruction.sources) useFloat(v, instruction, source, group);
      f.simd(`f32x4${what}`);
      finishSingle(v, instruction, group);
    }
  };
}

const fused: VectorEmitter = (v, instruction) => {
  const { f } = v;
  for (let group = 0; group < v.groups; group++) {
    if (flushes(instruction) && v.library.fusesMultiplyAdd) {
      const operands = keepFloats(v, instruction, group);
      for (const local of operands) f.get(local);
      f.simd('f32x4RelaxedMadd');
      finishFlushed(v, instruction, group, 'fusedFlushedLanes', operands);
      continue;
    }
    for (const source of instruction.sources) useFloat(v, instruction, source, group);
    if (v.library.fusesMultiplyAdd) f.simd('f32x4RelaxedMadd');
    else f.call(v.library.index(flushes(instruction) ? 'fusedFlushedLanes' : 'fusedLanes'));
    finishSingle(v, instruction, group, flushes(instruction));
  }
};

const directedFunctions = ['fusedZeroLanes', 'fusedDownLanes', 'fusedUpLanes'] as const;

/** Sums and products in a direction, as a · b + c. */
function directed(what: 'Add' | 'Sub' | 'Mul' | 'Fused', name: LibraryFunction): VectorEmitter {
  return (v, instruction) => {
    const { f } = v;
    for (let group = 0; group < v.groups; group++) {
      const [a = 0, b = 0, c = 0] = keepFloats(v, instruction, group);
      f.get(a);
      if (what === 'Fused') f.get(b).get(c);
      else if (what === 'Mul') {
        // A zero of the product's sign keeps a zero's sign in every direction.
        f.get(b).get(a).get(b).simd('v128Xor');
        f.v128(-0x80000000, -0x80000000, -0x80000000, -0x80000000).simd('v128And');
      } else {
        pushSingle(v, 1);
        f.get(b);
        if (what === 'Sub') f.simd('f32x4Neg');
      }
      f.call(v.library.index(name));
      finishSingle(v, instruction, group);
    }
  };
}

function directedVector(opcode: string, name: LibraryFunction): VectorEmitter | undefined {
  switch (opcode) {
    case 'add':
      return directed('Add', name);
    case 'sub':
      return directed('Sub', name);
    case 'mul':
      return directed('Mul', name);
    case 'fma':
    case 'mad':
      return directed('Fused', name);
    default:
      return undefined;
  }
}

function unary(what: 'Neg' | 'Abs' | 'Sqrt'): VectorEmitter {
  return (v, instruction) => {
    for (let group = 0; group < v.groups; group++) {
      useFloat(v, instruction, instruction.sources[0], group);
      v.f.simd(`f32x4${what}`);
      finishSingle(v, instruction, group);
    }
  };
}

const reciprocal: VectorEmitter = (v, instruction) => {
  for (let group = 0; group < v.groups; group++) {
    pushSingle(v, 1);
    useFloat(v, instruction, instruction.sources[0], group);
    v.f.simd('f32x4Div');
    finishSingle(v, instruction, group);
  }
};

/** A number that no zero of the other sign equals, and zeros that win over those. */
function settlesTies(operand: IrOperand | undefined, what: 'Min' | 'Max'): boolean {
  if (operand?.kind !== 'float' || operand.width !== 32) return false;
  if (isNanBits(32, operand.low, operand.high)) return false;
  const bits = operand.low | 0;
  return what === 'Max' ? bits !== -0x80000000 : bits !== 0;
}

/** A number wins over NaN; with `.NaN` a NaN wins. Zeros are ordered by sign. */
function extreme(what: 'Min' | 'Max'): VectorEmitter {
  return (v, instruction) => {
    const { f } = v;
    const [first, second] = instruction.sources;
    const choose = what === 'Min' ? 'f32x4Pmin' : 'f32x4Pmax';
    for (let group = 0; group < v.groups; group++) {
      if (instruction.modifiers.includes('NaN')) {
        useFloat(v, instruction, first, group);
        useFloat(v, instruction, second, group);
        f.simd(`f32x4${what}`);
      } else if (settlesTies(second, what)) {
        // The first operand stays unless the second one is smaller, or greater.
        useFloat(v, instruction, second, group);
        useFloat(v, instruction, first, group);
        f.simd(choose);
      } else {
        useFloat(v, instruction, first, group);
        useFloat(v, instruction, second, group);
        const b = keep(v, 'b');
        const a = keep(v, 'a');
        const result = v.temporary('result', 'v128');
        // Of equal operands, zeros of both signs above all, the bits of both; of a NaN the other one.
        f.get(a)
          .get(b)
          .simd(what === 'Min' ? 'v128Or' : 'v128And');
        f.get(b).get(a).simd(choose).get(a).get(b).simd('f32x4Eq').simd('v128Bitselect').set(result);
        f.get(result).get(a).get(b).get(b).simd('f32x4Eq').simd('v128Bitselect');
      }
      finishSingle(v, instruction, group);
    }
  };
}

const copySign: VectorEmitter = (v, instruction) => {
  const { f } = v;
  for (let group = 0; group < v.groups; group++) {
    v.use(instruction.sources[0], 'b32', group, 0, true);
    v.use(instruction.sources[1], 'b32', group, 0, true);
    f.v128(-0x80000000, -0x80000000, -0x80000000, -0x80000000).simd('v128Bitselect');
    v.assign(instruction.destinations[0], 'f32', group);
  }
};

export function singleVector(instruction: IrInstruction): VectorEmitter | undefined {
  const { opcode, modifiers } = instruction;
  if (modifiers.includes('xorsign')) return undefined;
  const mode = directedMode(instruction);
  if (mode !== undefined) {
    const name = directedFunctions[mode];
    // Whether a flushed product was below the least normal number before it was rounded, double precision must say.
    if (name === undefined || (opcode === 'mul' && flushes(instruction))) return undefined;
    return directedVector(opcode, name);
  }
  const isExact = !modifiers.includes('approx') && !modifiers.includes('full');
  switch (opcode) {
    case 'add':
      return binary('Add');
    case 'sub':
      return binary('Sub');
    case 'mul':
      return binary('Mul');
    case 'div':
      return isExact ? binary('Div') : undefined;
    case 'fma':
    case 'mad':
      return fused;
    case 'neg':
      return unary('Neg');
    case 'abs':
      return unary('Abs');
    case 'sqrt':
      return isExact ? unary('Sqrt') : undefined;
    case 'rcp':
      return isExact ? reciprocal : undefined;
    case 'min':
      return extreme('Min');
    case 'max':
      return extreme('Max');
    case 'copysign':
      return copySign;
    default:
      return undefined;
  }
}
