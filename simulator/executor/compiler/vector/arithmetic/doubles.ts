import type { IrInstruction } from '../../../../ptx/index.js';
import { directedMode } from '../../scalar/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { eachPart, keep, pushDouble, pushLong } from './parts.js';

/** Where the f64x2 on the stack is a NaN, the first NaN among operands in locals takes its place, or the canonical one. */
function chooseNans(v: VectorOperands, first: number, second: number): void {
  const { f } = v;
  const result = v.temporary('result', 'v128');
  f.tee(result).get(result).simd('f64x2Ne').simd('v128AnyTrue').if();
  f.get(first).get(second).get(result).call(v.library.index('chooseNans')).set(result).end().get(result);
}

/** Keeps an instruction's sources in temporaries, part by part, and takes what `write` leaves. */
function parts(
  v: VectorOperands,
  instruction: IrInstruction,
  write: (operands: readonly number[]) => void,
): void {
  eachPart(v, 'f64', (group, half) => {
    const operands = instruction.sources.map((source, index) => {
      v.use(source, 'f64', group, half);
      return keep(v, 'abc'.charAt(index));
    });
    write(operands);
    v.assign(instruction.destinations[0], 'f64', group, half);
  });
}

/** To nearest: of two NaN operands the second one is the result, of a quotient the first. */
function binary(what: 'Add' | 'Sub' | 'Mul' | 'Div'): VectorEmitter {
  return (v, instruction) => {
    parts(v, instruction, ([a = 0, b = 0]) => {
      v.f.get(a).get(b).simd(`f64x2${what}`);
      if (what === 'Div') chooseNans(v, a, b);
      else chooseNans(v, b, a);
    });
  };
}

/** Of NaN operands the second one is the result, then the third, then the first. */
const fused: VectorEmitter = (v, instruction) => {
  const { f } = v;
  parts(v, instruction, ([a = 0, b = 0, c = 0]) => {
    const result = v.temporary('result', 'v128');
    f.get(a).get(b).get(c).simd('f64x2RelaxedMadd').tee(result);
    f.get(result).simd('f64x2Ne').simd('v128AnyTrue').if();
    // Of the third and the first: the first one only where the third is a number.
    f.get(b).get(a).get(c).get(c).get(c).simd('f64x2Eq').simd('v128Bitselect');
    f.get(result).call(v.library.index('chooseNans')).set(result).end().get(result);
  });
};

function unary(what: 'Neg' | 'Abs' | 'Sqrt'): VectorEmitter {
  return (v, instruction) => {
    parts(v, instruction, ([a = 0]) => {
      v.f.get(a).simd(`f64x2${what}`);
      chooseNans(v, a, a);
    });
  };
}

const reciprocal: VectorEmitter = (v, instruction) => {
  parts(v, instruction, ([a = 0]) => {
    pushDouble(v, 1);
    v.f.get(a).simd('f64x2Div');
    chooseNans(v, a, a);
  });
};

/** A number wins over NaN; zeros are ordered by sign. */
function extreme(what: 'Min' | 'Max'): VectorEmitter {
  return (v, instruction) => {
    const { f } = v;
    parts(v, instruction, ([a = 0, b = 0]) => {
      const result = v.temporary('result', 'v128');
      f.get(a)
        .get(b)
        .simd(what === 'Min' ? 'v128Or' : 'v128And');
      f.get(b)
        .get(a)
        .simd(what === 'Min' ? 'f64x2Pmin' : 'f64x2Pmax');
      f.get(a).get(b).simd('f64x2Eq').simd('v128Bitselect').set(result);
      f.get(result).get(a).get(b).get(b).simd('f64x2Eq').simd('v128Bitselect');
      chooseNans(v, b, a);
    });
  };
}

const copySign: VectorEmitter = (v, instruction) => {
  parts(v, instruction, ([a = 0, b = 0]) => {
    v.f.get(a).get(b);
    pushLong(v, 0, -0x80000000);
    v.f.simd('v128Bitselect');
  });
};

/** @param fuses whether the machine's multiply-add rounds once. */
export function doubleVector(instruction: IrInstruction, fuses: boolean): VectorEmitter | undefined {
  if (directedMode(instruction) !== undefined || instruction.modifiers.includes('approx')) return undefined;
  switch (instruction.opcode) {
    case 'add':
      return binary('Add');
    case 'sub':
      return binary('Sub');
    case 'mul':
      return binary('Mul');
    case 'div':
      return binary('Div');
    case 'fma':
    case 'mad':
      return fuses ? fused : undefined;
    case 'neg':
      return unary('Neg');
    case 'abs':
      return unary('Abs');
    case 'sqrt':
      return unary('Sqrt');
    case 'rcp':
      return reciprocal;
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
