import { lastType, immediateOf } from '../instructions/index.js';
import { isSignedType, typeBits, type IrInstruction, type ScalarType } from '../../../ptx/index.js';
import type { OpName } from '../../../wasm/index.js';
import type { OperandEmitter } from './operandEmitter.js';

export type InstructionEmitter = (emit: OperandEmitter, instruction: IrInstruction) => void;

function prefix(type: ScalarType): 'i32' | 'i64' {
  return typeBits(type) === 64 ? 'i64' : 'i32';
}

/** An operation that wraps and does not look at the sign. */
function wrapping(name: 'Add' | 'Sub' | 'And' | 'Or' | 'Xor'): InstructionEmitter {
  return (emit, instruction) => {
    const type = lastType(instruction);
    emit.use(instruction.sources[0], type);
    emit.use(instruction.sources[1], type);
    emit.f.op(`${prefix(type)}${name}`);
    emit.assign(instruction.destinations[0], type);
  };
}

const widened: Partial<Record<ScalarType, ScalarType>> = { u16: 'u32', s16: 's32', u32: 'u64', s32: 's64' };

/** Leaves a product of the first two sources; @returns the type it has. */
function product(emit: OperandEmitter, instruction: IrInstruction): ScalarType {
  const f = emit.f;
  const type = lastType(instruction);
  const signed = isSignedType(type);
  const [a, b] = instruction.sources;
  const extend = (): void => {
    f.op(signed ? 'i64ExtendI32S' : 'i64ExtendI32U');
  };
  emit.use(a, type);
  const bits = typeBits(type);
  if (instruction.modifiers.includes('wide')) {
    if (bits === 32) extend();
    emit.use(b, type);
    if (bits === 32) extend();
    f.op(bits === 32 ? 'i64Mul' : 'i32Mul');
    return widened[type] ?? type;
  }
  if (!instruction.modifiers.includes('hi')) {
    emit.use(b, type);
    f.op(bits === 64 ? 'i64Mul' : 'i32Mul');
    return type;
  }
  if (bits === 64) {
    emit.use(b, type);
    f.call(emit.library.index(signed ? 'mulHighS64' : 'mulHighU64'));
  } else if (bits === 32) {
    extend();
    emit.use(b, type);
    extend();
    f.op('i64Mul').i64(32).op('i64ShrU').op('i32WrapI64');
  } else {
    emit.use(b, type);
    f.op('i32Mul').i32(16).op('i32ShrU');
  }
  return type;
}

const multiply: InstructionEmitter = (emit, instruction) => {
  const type = product(emit, instruction);
  emit.assign(instruction.destinations[0], type);
};

const multiplyAdd: InstructionEmitter = (emit, instruction) => {
  const type = product(emit, instruction);
  emit.use(instruction.sources[2], type);
  emit.f.op(`${prefix(type)}Add`);
  emit.assign(instruction.destinations[0], type);
};

function division(what: 'div' | 'rem'): InstructionEmitter {
  return (emit, instruction) => {
    const f = emit.f;
    const type = lastType(instruction);
    const width = prefix(type);
    const signed = isSignedType(type);
    emit.use(instruction.sources[0], type);
    emit.use(instruction.sources[1], type);
    const divisor = immediateOf(instruction.sources[1]);
    const isPlain = divisor !== undefined && divisor > 0 && divisor < 0x8000;
    if (isPlain) f.op(`${width}${what === 'div' ? 'Div' : 'Rem'}${signed ? 'S' : 'U'}`);
    else f.call(emit.library.index(`${what}${signed ? 'S' : 'U'}${width === 'i64' ? '64' : '32'}`));
    emit.assign(instruction.destinations[0], type);
  };
}

const negate: InstructionEmitter = (emit, instruction) => {
  const type = lastType(instruction);
  if (prefix(type) === 'i64') emit.f.i64(0);
  else emit.f.i32(0);
  emit.use(instruction.sources[0], type);
  emit.f.op(`${prefix(type)}Sub`);
  emit.assign(instruction.destinations[0], type);
};

const absolute: InstructionEmitter = (emit, instruction) => {
  const f = emit.f;
  const type = lastType(instruction);
  const width = prefix(type);
  const value = emit.temporary('abs', width);
  const zero = (): void => {
    if (width === 'i64') f.i64(0);
    else f.i32(0);
  };
  emit.use(instruction.sources[0], type);
  f.set(value);
  zero();
  f.get(value).op(`${width}Sub`).get(value).get(value);
  zero();
  f.op(`${width}LtS`).op('select');
  emit.assign(instruction.destinations[0], type);
};

function extreme(what: 'min' | 'max'): InstructionEmitter {
  return (emit, instruction) => {
    const f = emit.f;
    const type = lastType(instruction);
    const width = prefix(type);
    const a = emit.temporary('a', width);
    const b = emit.temporary('b', width);
    emit.use(instruction.sources[0], type);
    f.set(a);
    emit.use(instruction.sources[1], type);
    f.set(b).get(a).get(b).get(a).get(b);
    f.op(`${width}${what === 'min' ? 'Lt' : 'Gt'}${isSignedType(type) ? 'S' : 'U'}`).op('select');
    emit.assign(instruction.destinations[0], type);
  };
}

const complement: InstructionEmitter = (emit, instruction) => {
  const f = emit.f;
  const type = lastType(instruction);
  emit.use(instruction.sources[0], type);
  if (type === 'pred') f.op('i32Eqz');
  else if (prefix(type) === 'i64') f.i64(-1).op('i64Xor');
  else f.i32(-1).op('i32Xor');
  emit.assign(instruction.destinations[0], type);
};

/** Counts of the width and beyond shift everything out, where WebAssembly would take them modulo the width. */
function shift(direction: 'left' | 'right'): InstructionEmitter {
  return (emit, instruction) => {
    const f = emit.f;
    const type = lastType(instruction);
    const width = prefix(type);
    const bits = typeBits(type);
    const arithmetic = direction === 'right' && isSignedType(type);
    const name: OpName = `${width}${direction === 'left' ? 'Shl' : arithmetic ? 'ShrS' : 'ShrU'}`;
    const constant = immediateOf(instruction.sources[1]);
    const pushCount = (count: number): void => {
      if (width === 'i64') f.i64(count);
      else f.i32(count);
    };
    if (constant !== undefined) {
      const count = constant >>> 0;
      if (count >= bits && !arithmetic) {
        pushCount(0);
      } else {
        emit.use(instruction.sources[0], type);
        pushCount(Math.min(count, bits - 1));
        f.op(name);
      }
      emit.assign(instruction.destinations[0], type);
      return;
    }
    const count = emit.temporary('count', 'i32');
    emit.use(instruction.sources[1], 'u32');
    f.set(count);
    emit.use(instruction.sources[0], type);
    if (arithmetic)
      f.get(count)
        .i32(bits - 1)
        .get(count)
        .i32(bits)
        .op('i32LtU')
        .op('select');
    else f.get(count);
    if (width === 'i64') f.op('i64ExtendI32U');
    f.op(name);
    if (!arithmetic) {
      pushCount(0);
      f.get(count).i32(bits).op('i32LtU').op('select');
    }
    emit.assign(instruction.destinations[0], type);
  };
}

function countBits(name: 'Popcnt' | 'Clz'): InstructionEmitter {
  return (emit, instruction) => {
    const type = lastType(instruction);
    emit.use(instruction.sources[0], type);
    emit.f.op(`${prefix(type)}${name}`);
    if (prefix(type) === 'i64') emit.f.op('i32WrapI64');
    emit.assign(instruction.destinations[0], 'u32');
  };
}

const logic3: InstructionEmitter = (emit, instruction) => {
  const f = emit.f;
  const table = immediateOf(instruction.sources[3]) ?? 0;
  const names = ['a', 'b', 'c'].map((name) => emit.temporary(name, 'i32'));
  names.forEach((local, index) => {
    emit.use(instruction.sources[index], 'b32');
    f.set(local);
  });
  f.i32(0);
  for (let row = 0; row < 8; row++) {
    if (((table >>> row) & 1) === 0) continue;
    names.forEach((local, index) => {
      f.get(local);
      if ((row & (4 >> index)) === 0) f.i32(-1).op('i32Xor');
      if (index > 0) f.op('i32And');
    });
    f.op('i32Or');
  }
  emit.assign(instruction.destinations[0], 'b32');
};

export const integerEmitters: Readonly<Record<string, InstructionEmitter>> = {
  add: wrapping('Add'),
  sub: wrapping('Sub'),
  and: wrapping('And'),
  or: wrapping('Or'),
  xor: wrapping('Xor'),
  mul: multiply,
  mad: multiplyAdd,
  div: division('div'),
  rem: division('rem'),
  neg: negate,
  abs: absolute,
  min: extreme('min'),
  max: extreme('max'),
  not: complement,
  shl: shift('left'),
  shr: shift('right'),
  popc: countBits('Popcnt'),
  clz: countBits('Clz'),
  lop3: logic3,
};
