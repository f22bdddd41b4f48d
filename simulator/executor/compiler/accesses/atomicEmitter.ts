import {
  scalarAtomic,
  spaceOf,
  type AccessSpace,
  lastType,
  loadName,
  storeName,
  unsupported,
  wasmTypeOf,
} from '../instructions/index.js';
import {
  type IrInstruction,
  type IrOperand,
  isAtomic,
  isSignedType,
  type ScalarType,
  typeBits,
} from '../../../ptx/index.js';
import { LOCAL_WINDOW_HIGH, SHARED_WINDOW_HIGH } from '../../memory/index.js';
import type { AtomicName, FunctionBuilder, OpName } from '../../../wasm/index.js';
import type { AddressEmitter, MemorySurroundings } from './addressEmitter.js';
import { combineHalves, type OperandEmitter } from '../scalar/index.js';
import type { ImportedOperations } from '../hostCalls/index.js';

/**
 * Atomics. Threads run one after another, so a plain read and write is atomic; one of a vector is one of each of its
 * elements. Where several host threads run blocks at once, what blocks do to memory that they share is atomic among them.
 */
export class AtomicEmitter {
  constructor(
    private readonly emit: OperandEmitter,
    private readonly addresses: AddressEmitter,
    private readonly around: MemorySurroundings,
  ) {}

  atomic(instruction: IrInstruction, imported: ImportedOperations): void {
    const f = this.emit.f;
    const type = lastType(instruction);
    const at = this.emit.temporary('address', 'i32');
    const offset = this.addresses.push(instruction, instruction.sources[0]);
    const value = instruction.sources[1];
    const destination = instruction.destinations[0];
    f.set(at);
    if (typeBits(type) === 128) {
      this.exchangeWide(instruction, at, offset);
      return;
    }
    const values = value?.kind === 'vector' ? value.elements : [value];
    const held = wasmTypeOf(type);
    const olds = values.map((_, index) => this.emit.temporary(`old ${index}`, held));
    const isShared = this.emit.library.isThreaded && spaceOf(instruction.modifiers) !== 'shared';
    values.forEach((each, index) => {
      const old = olds[index] ?? 0;
      const place = offset + (index * typeBits(type)) / 8;
      if (isShared) {
        this.combineAtOnce(instruction, imported, type, { at, place, old }, each);
        return;
      }
      const next = this.emit.temporary('next', held);
      f.get(at).memory(loadName(type), place).set(old).get(at);
      this.combine(instruction, imported, type, old, each);
      f.tee(next).memory(storeName(type), place);
      this.around.noteWrite(() => f.get(old).get(next).op(`${held}Ne`));
    });
    if (!isAtomic(instruction.opcode)) return;
    olds.forEach((old, index) => {
      f.get(old);
      this.emit.assign(
        destination?.kind === 'vector' ? destination.elements[index] : destination,
        bitsOf(type),
      );
    });
  }

  /** `exch.b128` and `cas.b128`, whose operands are pairs of 64-bit registers. */
  private exchangeWide(instruction: IrInstruction, at: number, offset: number): void {
    const f = this.emit.f;
    const [, value, replacement] = instruction.sources.map((source) =>
      source.kind === 'vector' ? source.elements : [],
    );
    const olds = [0, 1].map((half) => this.emit.temporary(`old ${half}`, 'i64'));
    const isSwap = instruction.modifiers.includes('cas');
    const matches = this.emit.temporary('matches', 'i32');
    olds.forEach((old, half) =>
      f
        .get(at)
        .memory('i64Load', offset + 8 * half)
        .set(old),
    );
    f.i32(1);
    olds.forEach((old, half) => {
      if (!isSwap) return;
      this.emit.use(value?.[half], 'b64');
      f.get(old).op('i64Eq').op('i32And');
    });
    f.set(matches);
    olds.forEach((old, half) => {
      f.get(at);
      this.emit.use((isSwap ? replacement : value)?.[half], 'b64');
      f.get(old)
        .get(matches)
        .op('select')
        .memory('i64Store', offset + 8 * half);
    });
    this.around.noteWrite(() => f.get(matches));
    const [destination] = instruction.destinations;
    if (destination?.kind !== 'vector') return;
    olds.forEach((old, half) => {
      f.get(old);
      this.emit.assign(destination.elements[half], 'b64');
    });
  }

  /**
   * Combines and writes with no other host thread in between, and keeps what was there. Only for what blocks may do in any
   * order (see blockIndependence), so for whole words.
   */
  private combineAtOnce(
    instruction: IrInstruction,
    imported: ImportedOperations,
    type: ScalarType,
    { at, place, old }: { readonly at: number; readonly place: number; readonly old: number },
    value: IrOperand | undefined,
  ): void {
    const f = this.emit.f;
    const held = wasmTypeOf(type);
    if (held !== 'i32' && held !== 'i64')
      throw unsupported(instruction, this.emit.fn, 'not atomic in threads');
    const direct = atomicOf(instruction, held);
    if (direct !== undefined) {
      f.get(at);
      this.emit.use(value, type, true);
      f.atomic(direct, place).set(old);
      return;
    }
    const seen = this.emit.temporary('seen', held);
    f.get(at).atomic(`${held}AtomicLoad`, place).set(seen);
    const again = f.loop();
    f.get(seen).set(old).get(at).get(old);
    this.combine(instruction, imported, type, old, value);
    f.atomic(`${held}AtomicCompareExchange`, place).tee(seen).get(old).op(`${held}Ne`).brIf(again).end();
  }

  /** Floats are added by the memory system, which flushes subnormals, except in shared memory. */
  private addSingle(space: AccessSpace, old: number, operand: number): void {
    const f = this.emit.f;
    const flush = this.emit.library.index('flush');
    if (space !== 'shared') {
      f.get(old).call(flush).get(operand).call(flush).op('f32Add').call(flush);
      this.emit.canonical('f32');
    }
    if (space === 'global' || space === 'const') return;
    f.get(old).get(operand).op('f32Add');
    this.emit.canonical('f32');
    if (space === 'shared') return;
    this.pushIsGlobal().op('select');
  }

  /**
   * Doubles: the memory system passes a NaN on as it is, the operand's before its own; in shared memory an addition does,
   * which quiets it, memory's first.
   */
  private addDouble(space: AccessSpace, old: number, operand: number): void {
    const f = this.emit.f;
    const sum = this.emit.temporary('sum', 'f64');
    const passNan = this.emit.library.index('passNan');
    f.get(old).get(operand).op('f64Add').tee(sum).get(sum).op('f64Ne').if();
    if (space !== 'shared') {
      f.get(operand).get(old).get(old).get(operand).call(passNan);
      f.get(old).get(old).op('f64Ne').op('select').get(operand).get(operand).op('f64Ne').op('select');
    }
    if (space !== 'global' && space !== 'const') f.get(old).get(operand).call(passNan);
    if (space !== 'global' && space !== 'const' && space !== 'shared') this.pushIsGlobal().op('select');
    f.set(sum).end().get(sum);
  }

  /** Whether a generic address is one of global memory. */
  private pushIsGlobal(): FunctionBuilder {
    const high = this.emit.temporary('high', 'i32');
    const f = this.emit.f;
    return f
      .get(high)
      .i32(SHARED_WINDOW_HIGH)
      .op('i32Ne')
      .get(high)
      .i32(LOCAL_WINDOW_HIGH)
      .op('i32Ne')
      .op('i32And');
  }

  /** Leaves what an atomic writes. */
  private combine(
    instruction: IrInstruction,
    imported: ImportedOperations,
    type: ScalarType,
    old: number,
    value: IrOperand | undefined,
  ): void {
    const f = this.emit.f;
    const width = wasmTypeOf(type);
    const operand = this.emit.temporary('operand', width);
    const replacement = instruction.sources[2];
    const has = (modifier: string): boolean => instruction.modifiers.includes(modifier);
    this.emit.use(value, type, true);
    if (has('exch')) return;
    f.set(operand);
    const scalar = scalarAtomic(instruction);
    if (scalar !== undefined) {
      if (combineHalves(this.emit, scalar, [old, operand])) return;
      f.get(old).get(operand);
      imported.call(f, scalar);
      return;
    }
    if (has('advance')) {
      f.get(old).get(operand).call(this.emit.library.index('advanceMbarrier'));
      return;
    }
    if (has('cas')) {
      this.emit.use(replacement, type, true);
      f.get(old)
        .get(old)
        .get(operand)
        .op(width === 'i64' ? 'i64Eq' : 'i32Eq')
        .op('select');
      return;
    }
    if (width === 'f64') {
      this.addDouble(spaceOf(instruction.modifiers), old, operand);
      return;
    }
    if (width === 'f32') {
      this.addSingle(spaceOf(instruction.modifiers), old, operand);
      return;
    }
    for (const [modifier, name] of [
      ['add', 'Add'],
      ['and', 'And'],
      ['or', 'Or'],
      ['xor', 'Xor'],
    ] as const) {
      if (!has(modifier)) continue;
      f.get(old).get(operand).op(`${width}${name}`);
      return;
    }
    if (has('min') || has('max')) {
      const name: OpName = `${width}${has('min') ? 'Lt' : 'Gt'}${isSignedType(type) ? 'S' : 'U'}`;
      f.get(old).get(operand).get(old).get(operand).op(name).op('select');
    } else if (has('inc')) {
      f.i32(0).get(old).i32(1).op('i32Add').get(old).get(operand).op('i32GeU').op('select');
    } else if (has('dec')) {
      f.get(operand).get(old).i32(1).op('i32Sub');
      f.get(old).op('i32Eqz').get(old).get(operand).op('i32GtU').op('i32Or').op('select');
    } else throw unsupported(instruction, this.emit.fn, 'this atomic is not supported');
  }
}

/** The machine's own read-modify-write, for what it has one for. */
function atomicOf({ modifiers }: IrInstruction, held: 'i32' | 'i64'): AtomicName | undefined {
  for (const [modifier, name] of [
    ['add', 'Add'],
    ['and', 'And'],
    ['or', 'Or'],
    ['xor', 'Xor'],
  ] as const) {
    if (modifiers.includes(modifier)) return `${held}Atomic${name}`;
  }
  return undefined;
}

/** Halves are moved as their bits. */
function bitsOf(type: ScalarType): ScalarType {
  return /^b?f16/.test(type) ? (typeBits(type) === 16 ? 'b16' : 'b32') : type;
}
