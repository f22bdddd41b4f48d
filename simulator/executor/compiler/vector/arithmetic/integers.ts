import { isSignedType, typeBits, type IrInstruction, type ScalarType } from '../../../../ptx/index.js';
import { lastType } from '../../instructions/index.js';
import type { VectorEmitter, VectorOperands } from '../operands/index.js';
import { eachPart, elementwise, isWide, joinWords, keep, lanesOf, pushLong, simdName } from './parts.js';

/** An operation that wraps and does not look at the sign. */
function wrapping(name: 'Add' | 'Sub'): VectorEmitter {
  return (v, instruction) => {
    const type = lastType(instruction);
    elementwise(v, instruction, type, () => v.f.simd(simdName(lanesOf(type), name)));
  };
}

const widened: Partial<Record<ScalarType, ScalarType>> = { u16: 'u32', s16: 's32', u32: 'u64', s32: 's64' };

/** Type of a product, and what pushes one part of it. */
interface Product {
  readonly type: ScalarType;
  readonly push: (group: number, half: 0 | 1) => void;
}

function product(
  v: VectorOperands,
  { sources: [a, b], modifiers }: IrInstruction,
  type: ScalarType,
): Product {
  const { f } = v;
  const sign = isSignedType(type) ? 'S' : 'U';
  const useBoth = (group: number, half: 0 | 1 = 0): void => {
    v.use(a, type, group, half);
    v.use(b, type, group, half);
  };
  if (modifiers.includes('wide')) {
    const push = (group: number, half: 0 | 1): void => {
      useBoth(group);
      if (typeBits(type) === 32) f.simd(`i64x2Extmul${half === 0 ? 'Low' : 'High'}I32x4${sign}`);
      else f.simd('i32x4Mul');
    };
    return { type: widened[type] ?? type, push };
  }
  if (!modifiers.includes('hi')) {
    const push = (group: number, half: 0 | 1): void => {
      useBoth(group, half);
      f.simd(isWide(type) ? 'i64x2Mul' : 'i32x4Mul');
    };
    return { type, push };
  }
  const push = (group: number): void => {
    useBoth(group);
    if (typeBits(type) === 16) {
      f.simd('i32x4Mul').i32(16).simd('i32x4ShrU');
      return;
    }
    const right = keep(v, 'b');
    const left = keep(v, 'a');
    f.get(left).get(right).simd(`i64x2ExtmulLowI32x4${sign}`);
    f.get(left).get(right).simd(`i64x2ExtmulHighI32x4${sign}`);
    joinWords(v, 'upper');
  };
  return { type, push };
}

const multiply: VectorEmitter = (v, instruction) => {
  const { type, push } = product(v, instruction, lastType(instruction));
  eachPart(v, type, (group, half) => {
    push(group, half);
    v.assign(instruction.destinations[0], type, group, half);
  });
};

const multiplyAdd: VectorEmitter = (v, instruction) => {
  const { type, push } = product(v, instruction, lastType(instruction));
  eachPart(v, type, (group, half) => {
    push(group, half);
    v.use(instruction.sources[2], type, group, half);
    v.f.simd(simdName(lanesOf(type), 'Add'));
    v.assign(instruction.destinations[0], type, group, half);
  });
};

function unary(name: 'Neg' | 'Abs'): VectorEmitter {
  return (v, instruction) => {
    const type = lastType(instruction);
    elementwise(v, instruction, type, () => v.f.simd(simdName(lanesOf(type), name)));
  };
}

/** Small unsigned integers compare as signed ones of 32 bits. */
function extreme(what: 'Min' | 'Max'): VectorEmitter {
  return (v, instruction) => {
    const { f } = v;
    const type = lastType(instruction);
    const isSigned = isSignedType(type);
    elementwise(v, instruction, type, () => {
      if (!isWide(type)) {
        f.simd(`i32x4${what}${isSigned ? 'S' : 'U'}`);
        return;
      }
      const b = keep(v, 'b');
      const a = keep(v, 'a');
      f.get(a).get(b);
      for (const each of [a, b]) {
        f.get(each);
        if (!isSigned) flipSign(v);
      }
      f.simd(what === 'Min' ? 'i64x2LtS' : 'i64x2GtS').simd('v128Bitselect');
    });
  };
}

/** Makes unsigned 64-bit lanes on the stack compare as signed ones. */
export function flipSign(v: VectorOperands): void {
  pushLong(v, 0, -0x80000000);
  v.f.simd('v128Xor');
}

/** `sad`: |a − b| + c of 32 bits and less. */
const sumOfDifference: VectorEmitter = (v, instruction) => {
  const { f } = v;
  const type = lastType(instruction);
  const sign = isSignedType(type) ? 'S' : 'U';
  elementwise(v, instruction, type, () => {
    const [c, b, a] = [keep(v, 'c'), keep(v, 'b'), keep(v, 'a')];
    f.get(a).get(b).simd(`i32x4Max${sign}`).get(a).get(b).simd(`i32x4Min${sign}`);
    f.simd('i32x4Sub').get(c).simd('i32x4Add');
  });
};

export function integerVector(instruction: IrInstruction): VectorEmitter | undefined {
  const { opcode, modifiers } = instruction;
  const type = lastType(instruction);
  const wide = isWide(type);
  switch (opcode) {
    case 'add':
      return wrapping('Add');
    case 'sub':
      return wrapping('Sub');
    case 'mul':
    case 'mad':
      if (modifiers.includes('hi') && wide) return undefined;
      return opcode === 'mul' ? multiply : multiplyAdd;
    case 'neg':
      return unary('Neg');
    case 'abs':
      return unary('Abs');
    case 'min':
      return extreme('Min');
    case 'max':
      return extreme('Max');
    case 'sad':
      return wide ? undefined : sumOfDifference;
    default:
      return undefined;
  }
}
