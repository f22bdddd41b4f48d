import {
  isFloatType,
  isSignedType,
  typeBits,
  type IrInstruction,
  type IrOperand,
  type ScalarType,
} from '../../ptx/index.js';
import { LOCAL_WINDOW_HIGH, SHARED_WINDOW_HIGH } from '../memory/index.js';
import type { LocalLayout, SharedLayout } from '../module/index.js';
import type { FaultCode } from '../types.js';
import type { OpName } from '../wasm/index.js';
import { accessBytes, type AccessGroup } from './accessGroups.js';
import { AREA, CACHE, faultNumber, RECORD } from './executorArea.js';
import { spaceOf, type AccessSpace } from './instructionClass.js';
import type { JournalKind } from './journalEmitter.js';
import { lastType } from './integerEmitter.js';
import { NO_OFFSET_HIGH } from './library.js';
import { unsupported, type OperandEmitter } from './operandEmitter.js';
import { wasmTypeOf } from './registerTypes.js';

/** Locals that hold one access cache inside a function. */
export interface CacheLocals {
  readonly base: number;
  readonly limit: number;
  readonly offset: number;
}

/** Byte counters of accesses whose guard or generic address decides when they count. */
export type DynamicBytes = 'globalLoad' | 'globalStore' | 'shared';

/** Whether the bytes of an access are counted where it happens instead of by its place in the kernel. */
export function countsDynamically(instruction: IrInstruction): boolean {
  return instruction.guard !== undefined || spaceOf(instruction.modifiers) === 'generic';
}

/** What the function around the memory accesses provides. */
export interface MemorySurroundings {
  readonly sharedLayout: SharedLayout;
  readonly localLayout: LocalLayout;
  groupOf(instruction: IrInstruction): AccessGroup;
  cacheLocals(group: AccessGroup): CacheLocals;
  /** Local with the number of places of 2^k bytes in shared memory that an access may start at. */
  sharedLimit(log2Bytes: number): number;
  /** Local with the address of the thread's local memory. */
  localBase(): number;
  /** Adds the bytes of an access that not every thread at this place makes, or that may be in any space. */
  countBytes(what: DynamicBytes, bytes: number): void;
  /** Leaves the thread at this instruction; the fault is in the launch record. */
  leaveWithFault(instruction: IrInstruction): void;
  /**
   * Before an access to global memory that is allowed: writes it to the journal of observed code. Its place in the node's
   * memory is on the stack and stays there.
   */
  recordAccess(instruction: IrInstruction, kind: JournalKind, bytes: number, pushAddress: () => void): void;
  /** A write that others may wait for; `pushChanged` leaves 1 when it changed anything. */
  noteWrite(pushChanged?: () => void): void;
}

/** Loads, stores and atomics: every address is checked and translated where it is used. */
export class MemoryEmitter {
  constructor(
    private readonly emit: OperandEmitter,
    private readonly around: MemorySurroundings,
  ) {}

  load(instruction: IrInstruction): void {
    const f = this.emit.f;
    const [address] = instruction.sources;
    const [destination] = instruction.destinations;
    const type = lastType(instruction);
    const offset = this.pushAddress(instruction, address);
    if (destination?.kind !== 'vector') {
      const effective = this.registerView(destination, type);
      f.memory(loadName(effective), offset);
      this.emit.assign(destination, effective);
      return;
    }
    const at = this.emit.temporary('address', 'i32');
    f.set(at);
    destination.elements.forEach((element, index) => {
      const effective = this.registerView(element, type);
      f.get(at).memory(loadName(effective), offset + (index * typeBits(type)) / 8);
      this.emit.assign(element, effective);
    });
  }

  store(instruction: IrInstruction): void {
    const f = this.emit.f;
    const [address, value] = instruction.sources;
    const type = lastType(instruction);
    const space = spaceOf(instruction.modifiers);
    if (space !== 'local' && space !== 'param') this.around.noteWrite();
    const offset = this.pushAddress(instruction, address);
    if (value?.kind !== 'vector') {
      const effective = this.registerView(value, type);
      this.emit.use(value, effective, true);
      f.memory(storeName(effective), offset);
      return;
    }
    const at = this.emit.temporary('address', 'i32');
    f.set(at);
    value.elements.forEach((element, index) => {
      const effective = this.registerView(element, type);
      f.get(at);
      this.emit.use(element, effective, true);
      f.memory(storeName(effective), offset + (index * typeBits(type)) / 8);
    });
  }

  /** Blocks run one after another and threads too, so a plain read and write is atomic. */
  atomic(instruction: IrInstruction): void {
    const f = this.emit.f;
    const type = lastType(instruction);
    const held = wasmTypeOf(type);
    const at = this.emit.temporary('address', 'i32');
    const old = this.emit.temporary('old', held);
    const offset = this.pushAddress(instruction, instruction.sources[0]);
    f.tee(at).memory(loadName(type), offset).set(old);
    const next = this.emit.temporary('next', held);
    f.get(at);
    this.combine(instruction, type, old);
    f.tee(next).memory(storeName(type), offset);
    this.around.noteWrite(() => f.get(old).get(next).op(`${held}Ne`));
    if (instruction.opcode === 'red') return;
    f.get(old);
    this.emit.assign(instruction.destinations[0], type);
  }

  /** Leaves 1 when a generic address lies in the space. */
  isInSpace(instruction: IrInstruction): void {
    const f = this.emit.f;
    const high = this.emit.temporary('high', 'i32');
    this.emit.use(instruction.sources[0], 'u64');
    f.i64(32).op('i64ShrU').op('i32WrapI64').set(high);
    switch (spaceOf(instruction.modifiers)) {
      case 'shared':
        f.get(high).i32(SHARED_WINDOW_HIGH).op('i32Eq');
        break;
      case 'local':
        f.get(high).i32(LOCAL_WINDOW_HIGH).op('i32Eq');
        break;
      case 'global':
        f.get(high)
          .i32(SHARED_WINDOW_HIGH)
          .op('i32Ne')
          .get(high)
          .i32(LOCAL_WINDOW_HIGH)
          .op('i32Ne')
          .op('i32And');
        break;
      case 'const':
      case 'param':
      case 'generic':
        f.i32(0);
    }
    this.emit.assign(instruction.destinations[0], 'pred');
  }

  /** Between an address of a space and the generic address. */
  convertAddress(instruction: IrInstruction): void {
    const f = this.emit.f;
    const space = spaceOf(instruction.modifiers);
    if (space === 'param') throw unsupported(instruction, this.emit.fn, 'parameters have no generic address');
    this.emit.use(instruction.sources[0], 'u64');
    const high = space === 'shared' ? SHARED_WINDOW_HIGH : space === 'local' ? LOCAL_WINDOW_HIGH : 0;
    if (high !== 0) {
      f.i64Halves(0, high).op(instruction.modifiers.includes('to') ? 'i64Sub' : 'i64Add');
    }
    this.emit.assign(instruction.destinations[0], 'u64');
  }

  /** Leaves the i32 address in the node's memory; @returns what to add to it. */
  private pushAddress(instruction: IrInstruction, operand: IrOperand | undefined): number {
    if (operand?.kind !== 'address') throw new RangeError(`line ${instruction.line}: an address is missing`);
    const space = spaceOf(instruction.modifiers);
    if (space !== 'generic' && countsDynamically(instruction)) this.count(instruction, space);
    switch (space) {
      case 'shared':
        return this.sharedAddress(instruction, operand);
      case 'local':
        return this.localAddress(instruction, operand);
      case 'param':
        return this.paramAddress(instruction, operand);
      case 'global':
      case 'const':
        this.pushWide(operand);
        this.globalAddress(instruction);
        return 0;
      case 'generic':
        this.genericAddress(instruction, operand);
        return 0;
    }
  }

  private count(instruction: IrInstruction, space: AccessSpace): void {
    const bytes = accessBytes(instruction);
    if (space === 'shared') this.around.countBytes('shared', bytes);
    if (space !== 'global' && space !== 'const') return;
    if (instruction.opcode !== 'st') this.around.countBytes('globalLoad', bytes);
    if (instruction.opcode !== 'ld' && instruction.opcode !== 'ldu')
      this.around.countBytes('globalStore', bytes);
  }

  private sharedAddress(
    instruction: IrInstruction,
    operand: Extract<IrOperand, { kind: 'address' }>,
  ): number {
    const { sharedLayout } = this.around;
    const bytes = accessBytes(instruction);
    const constant = this.constantAddress(operand, sharedLayout.offsets);
    if (
      constant !== undefined &&
      constant >= 0 &&
      constant % bytes === 0 &&
      constant + bytes <= sharedLayout.staticBytes
    ) {
      this.emit.f.i32(0);
      return AREA.shared + constant;
    }
    if (constant !== undefined) this.emit.f.i32(constant);
    else this.pushNarrow(operand);
    this.checkShared(instruction);
    return AREA.shared;
  }

  private localAddress(instruction: IrInstruction, operand: Extract<IrOperand, { kind: 'address' }>): number {
    const constant = this.constantAddress(operand, this.around.localLayout.offsets);
    const bytes = accessBytes(instruction);
    const f = this.emit.f;
    if (
      constant !== undefined &&
      constant >= 0 &&
      constant % bytes === 0 &&
      constant + bytes <= this.around.localLayout.bytes
    ) {
      f.get(this.around.localBase());
      return constant;
    }
    if (constant !== undefined) f.i32(constant);
    else this.pushNarrow(operand);
    this.checkLocal(instruction);
    return 0;
  }

  private paramAddress(instruction: IrInstruction, operand: Extract<IrOperand, { kind: 'address' }>): number {
    const f = this.emit.f;
    const { fn } = this.emit;
    const offsets = new Map(fn.parameters.map((parameter) => [parameter.name, parameter.offset]));
    const constant = this.constantAddress(operand, offsets);
    const bytes = accessBytes(instruction);
    if (constant !== undefined && constant >= 0 && constant + bytes <= fn.parameterBytes) {
      f.i32(0);
      return AREA.params + constant;
    }
    if (constant !== undefined) f.i32(constant);
    else this.pushNarrow(operand);
    this.checkRange(instruction, 'illegalAddress', () => f.i32(limitOf(fn.parameterBytes, bytes)));
    return AREA.params;
  }

  /** Takes an i32 offset; leaves it when the access lies inside the block's shared memory. */
  private checkShared(instruction: IrInstruction): void {
    const f = this.emit.f;
    const log2 = Math.log2(accessBytes(instruction));
    this.checkRange(instruction, 'sharedOutOfBounds', () => f.get(this.around.sharedLimit(log2)));
  }

  private checkLocal(instruction: IrInstruction): void {
    const f = this.emit.f;
    const limit = limitOf(this.around.localLayout.bytes, accessBytes(instruction));
    this.checkRange(instruction, 'localOutOfBounds', () => f.i32(limit));
    f.get(this.around.localBase()).op('i32Add');
  }

  /**
   * Rotating the offset right by log2 of the size turns low bits that are set (a misaligned access) into high ones, so
   * that one unsigned compare checks alignment and bounds.
   */
  private checkRange(instruction: IrInstruction, code: FaultCode, pushLimit: () => void): void {
    const f = this.emit.f;
    const bytes = accessBytes(instruction);
    const at = this.emit.temporary('window', 'i32');
    f.tee(at);
    if (bytes > 1) f.i32(Math.log2(bytes)).op('i32Rotr');
    pushLimit();
    f.op('i32GeU').if();
    // Out of bounds goes before misaligned.
    f.i32(0).i32(faultNumber(code)).i32(faultNumber('misalignedAddress'));
    f.get(at).i32(Math.log2(bytes)).op('i32ShrU');
    pushLimit();
    f.op('i32GeU').op('select').memory('i32Store', RECORD.faultCode);
    f.i32(0).get(at).op('i64ExtendI32U').memory('i64Store', RECORD.faultAddress);
    this.around.leaveWithFault(instruction);
    f.end().get(at);
  }

  /** Takes an i64 address; leaves the i32 address in the node's memory. */
  private globalAddress(instruction: IrInstruction): void {
    const f = this.emit.f;
    const group = this.around.groupOf(instruction);
    const cache = this.around.cacheLocals(group);
    const offset = this.emit.temporary('offset', 'i64');
    f.get(cache.base).op('i64Sub').tee(offset);
    if (group.bytes > 1) f.i64(Math.log2(group.bytes)).op('i64Rotr');
    f.get(cache.limit).op('i64GeU').if();
    f.get(offset)
      .get(cache.base)
      .op('i64Add')
      .i32(group.cacheAt)
      .i32(group.bytes)
      .i32(group.writes ? 1 : 0);
    f.call(this.emit.library.index('locate')).tee(offset).i64Halves(0, NO_OFFSET_HIGH).op('i64Eq').if();
    this.around.leaveWithFault(instruction);
    f.end();
    f.i32(group.cacheAt).memory('i64Load', CACHE.base).set(cache.base);
    f.i32(group.cacheAt).memory('i64Load', CACHE.limit).set(cache.limit);
    f.i32(group.cacheAt).memory('i32Load', CACHE.offset).set(cache.offset);
    f.end();
    f.get(offset).op('i32WrapI64').get(cache.offset).op('i32Add');
    if (spaceOf(instruction.modifiers) === 'const') return;
    this.around.recordAccess(instruction, accessKind(instruction), group.bytes, () =>
      f.get(offset).get(cache.base).op('i64Add'),
    );
  }

  private genericAddress(instruction: IrInstruction, operand: Extract<IrOperand, { kind: 'address' }>): void {
    const f = this.emit.f;
    const wide = this.emit.temporary('generic', 'i64');
    const high = this.emit.temporary('high', 'i32');
    this.pushWide(operand);
    f.tee(wide).i64(32).op('i64ShrU').op('i32WrapI64').tee(high);
    f.i32(SHARED_WINDOW_HIGH).op('i32Eq').if('i32');
    this.count(instruction, 'shared');
    f.get(wide).op('i32WrapI64');
    this.checkShared(instruction);
    f.i32(AREA.shared).op('i32Add').else();
    f.get(high).i32(LOCAL_WINDOW_HIGH).op('i32Eq').if('i32');
    f.get(wide).op('i32WrapI64');
    this.checkLocal(instruction);
    f.else();
    this.count(instruction, 'global');
    f.get(wide);
    this.globalAddress(instruction);
    f.end().end();
  }

  /** The address when no register is in it. */
  private constantAddress(
    operand: Extract<IrOperand, { kind: 'address' }>,
    offsets: ReadonlyMap<string, number>,
  ): number | undefined {
    if (typeof operand.base === 'number') return undefined;
    if (operand.base === undefined) return operand.offset;
    const offset = offsets.get(operand.base);
    return offset === undefined ? undefined : offset + operand.offset;
  }

  private pushNarrow(operand: Extract<IrOperand, { kind: 'address' }>): void {
    const f = this.emit.f;
    if (typeof operand.base === 'number') {
      this.emit.use({ kind: 'register', register: operand.base }, 'u32');
      if (operand.offset !== 0) f.i32(operand.offset).op('i32Add');
    } else {
      this.emit.use({ kind: 'symbol', name: operand.base ?? '', offset: operand.offset }, 'u32');
    }
  }

  private pushWide(operand: Extract<IrOperand, { kind: 'address' }>): void {
    const f = this.emit.f;
    if (typeof operand.base === 'number') {
      this.emit.use({ kind: 'register', register: operand.base }, 'u64');
      if (operand.offset !== 0) f.i64(operand.offset).op('i64Add');
    } else if (operand.base === undefined) f.i64(operand.offset);
    else this.emit.use({ kind: 'symbol', name: operand.base, offset: operand.offset }, 'u64');
  }

  /** The type to move memory bits as, so that a float register is loaded and stored as a float. */
  private registerView(operand: IrOperand | undefined, type: ScalarType): ScalarType {
    const bits = typeBits(type);
    if (bits < 32) return type;
    if (operand?.kind === 'float') return bits === 32 ? 'f32' : 'f64';
    const held = operand?.kind === 'register' ? wasmTypeOf(this.emit.typeOf(operand.register)) : undefined;
    if (bits === 32) return held === 'f32' ? 'f32' : isFloatType(type) ? 'b32' : type;
    return held === 'f64' ? 'f64' : isFloatType(type) ? 'b64' : type;
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
    const high = this.emit.temporary('high', 'i32');
    f.get(high).i32(SHARED_WINDOW_HIGH).op('i32Ne').get(high).i32(LOCAL_WINDOW_HIGH).op('i32Ne').op('i32And');
    f.op('select');
  }

  /** Leaves what an atomic writes. */
  private combine(instruction: IrInstruction, type: ScalarType, old: number): void {
    const f = this.emit.f;
    const width = wasmTypeOf(type);
    const operand = this.emit.temporary('operand', width);
    const [, value, replacement] = instruction.sources;
    const has = (modifier: string): boolean => instruction.modifiers.includes(modifier);
    this.emit.use(value, type, true);
    if (has('exch')) return;
    f.set(operand);
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
      f.get(old).get(operand).op('f64Add');
      this.emit.canonical('f64');
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

function accessKind({ opcode }: IrInstruction): JournalKind {
  return opcode === 'st' ? 'store' : opcode === 'atom' || opcode === 'red' ? 'atomic' : 'load';
}

function limitOf(extent: number, bytes: number): number {
  return extent < bytes ? 0 : Math.floor((extent - bytes) / bytes) + 1;
}

function loadName(type: ScalarType): OpName {
  if (type === 'f32') return 'f32Load';
  if (type === 'f64') return 'f64Load';
  switch (typeBits(type)) {
    case 8:
      return isSignedType(type) ? 'i32Load8S' : 'i32Load8U';
    case 16:
      return isSignedType(type) ? 'i32Load16S' : 'i32Load16U';
    case 64:
      return 'i64Load';
    default:
      return 'i32Load';
  }
}

function storeName(type: ScalarType): OpName {
  if (type === 'f32') return 'f32Store';
  if (type === 'f64') return 'f64Store';
  switch (typeBits(type)) {
    case 8:
      return 'i32Store8';
    case 16:
      return 'i32Store16';
    case 64:
      return 'i64Store';
    default:
      return 'i32Store';
  }
}
